"""R47: a hook is bounded in time, never loses work, and says what went wrong, whatever happens around it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from passdown.io.files import lock

A, B, C = (f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in "123")
SECRET = "ghp_" + "Zq8w" * 9


@pytest.fixture
def worked(hooked: Any, repository: Any, claude_session: Any) -> Any:
    """Session A ended and its packet is there; session B worked on and left its record in the spool."""
    repository.write("src/a.py", "")
    repository.commit("Begin")
    for number, name in enumerate((A, B)):
        session = claude_session(repository.root, name)
        session.clock = int(time.time()) - 3600 + 1800 * number
        session.human(f"Make a() add. The token is {SECRET}.")
        session.edits("src/a.py")
        session.runs("pytest -q", f"FAILED tests/test_a.py::test_{number} - AssertionError", 1)
        if not number:
            hooked.hook("end", A, "other", path=str(session.path), GITHUB_TOKEN=SECRET)
            hooked.settle()
    hooked.path = str(session.path)
    return hooked


@pytest.fixture
def slow_git(tmp_path: Path) -> dict[str, str]:
    """An environment in which git never answers."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (place / "git").chmod(0o755)
    return {"PATH": f"{place}:{os.environ['PATH']}"}


def shelf(hooked: Any) -> dict[str, bytes]:
    folder = hooked.root / ".git/passdown/packets"
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def caught_up(hooked: Any) -> None:
    """The next drain does what the one before did not."""
    assert hooked.drain() == 0, hooked.log()
    assert hooked.spooled() == []
    assert "test_1" in hooked.hook("start", C, "startup")
    assert len(hooked.packets()) == 2


def test_a_hanging_git_is_given_up_with_a_message(worked: Any, slow_git: dict[str, str]) -> None:
    before = shelf(worked)
    worked.hook("compacted", B, path=worked.path)
    assert worked.drain("2", **slow_git) == 1
    assert "LateError: gave up after 2 s" in worked.log()[-1]
    assert shelf(worked) == before
    text = worked.hook("start", C, "startup", **slow_git)
    assert "git did not answer: what moved since was not looked at" in text
    assert "test_0" in text
    assert "TimeoutError: git status took too long" in worked.log()[-1]
    assert worked.spooled() != []
    (worked.state / f"sessions/claude_code-{C}").rename(worked.state / "elsewhere")
    caught_up(worked)


def test_a_drain_killed_at_any_moment_is_made_good_by_the_next(worked: Any) -> None:
    worked.hook("compacted", B, path=worked.path)
    line = [sys.executable, str(Path(__file__).with_name("kill_drain.py"))]
    runs = json.dumps({"root": str(worked.root), "home": str(worked.home)})
    done = subprocess.run(line, input=runs.encode(), env=os.environ | worked.env, capture_output=True, check=True)
    steps = json.loads(done.stdout)
    assert len(steps) > 5
    assert [step for step in steps if step["problems"]] == []
    assert all(os.WIFSIGNALED(step["status"]) for step in steps[:-1])
    assert os.WEXITSTATUS(steps[-1]["status"]) == 0


def test_a_full_disk_leaves_the_packet_and_the_spool(worked: Any) -> None:
    before = shelf(worked)
    worked.hook("compacted", B, path=worked.path)
    code = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "from passdown.hooks.drain import main\nsys.exit(main())"
    )
    subprocess.run([sys.executable, "-P", "-E", "-c", code, str(worked.root)], env=worked.env, check=False, timeout=60)
    assert "File too large" in worked.log()[-1]
    assert shelf(worked) == before
    assert worked.spooled() != []
    caught_up(worked)


def test_a_repository_that_is_gone(worked: Any, repository: Any) -> None:
    worked.hook("compacted", B, path=worked.path)
    shutil.rmtree(repository.root)
    worked.root.mkdir()
    assert worked.drain() == 0
    assert worked.spooled() == []
    worked.root.rmdir()
    worked.hook("end", B, path=worked.path)
    worked.settle(3)
    assert len(worked.spooled()) == 1  # its folder may come back: a disk that is not mounted


def test_a_spool_full_of_rubbish(worked: Any) -> None:
    worked.hook("compacted", B, path=worked.path)
    place = worked.state / "spool"
    rubbish = [b"", b"{", b"\xff\xfe", b"[]", b"[" * 50_000, b'{"v": 1}', b'{"v": 2, "cwd": "/"}', b"x" * 100_000,
               b'{"v": 1, "cwd": "relative", "agent": "", "event": "end", "session": "", "path": "", "at": 1}']  # fmt: skip
    for number, data in enumerate(rubbish):
        (place / f"0{number}-1.json").write_bytes(data)
    (place / "07-2.json").symlink_to("/etc/passwd")
    (place / "old.tmp").write_bytes(b"half")
    os.utime(place / "old.tmp", (0, 0))
    assert worked.drain() == 0
    assert f"{len(rubbish) + 2} broken records put aside" in worked.log()[-1]
    assert len(list((place / "broken").iterdir())) == len(rubbish) + 2
    assert worked.spooled() == []
    assert len(worked.packets()) == 2


def test_many_drains_at_once_write_one_packet(worked: Any) -> None:
    worked.hook("compacted", B, path=worked.path)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: worked.drain(), range(4))) == [0] * 4
    assert len(worked.packets()) == 2
    assert worked.spooled() == []


def test_nothing_secret_is_written_anywhere(worked: Any) -> None:
    worked.hook("end", B, path=worked.path, GITHUB_TOKEN=SECRET, ANTHROPIC_API_KEY=SECRET[::-1])
    worked.settle(2)
    worked.hook("start", C, "startup", GITHUB_TOKEN=SECRET)
    for folder in (worked.state, worked.root):
        for path in folder.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                assert SECRET.encode() not in data, path
                assert SECRET[::-1].encode() not in data, path
                assert b"ANTHROPIC_API_KEY" not in data, path


def test_a_command_finds_what_a_killed_session_left(worked: Any, passdown: Any) -> None:
    worked.hook("compacted", B, path=worked.path)
    done = passdown("status", "--json", folder=worked.root)
    assert done.returncode == 0, done.stderr.decode()
    assert worked.spooled() == []
    assert json.loads(done.stdout)["packet"]["packet_id"] == worked.packets()[-1]["packet_id"]
    assert b"test_1" in passdown("take", "--no-receipt", folder=worked.root).stdout


def test_an_agent_that_is_killed_takes_no_drain_with_it(worked: Any) -> None:
    payload = json.dumps({"session_id": B, "cwd": str(worked.root), "transcript_path": worked.path})
    line = f"{sys.executable} -I -S {worked.entry} claude_code end"
    agent = subprocess.Popen(
        ["sh", "-c", f"{line}; sleep 60"], env=worked.env, stdin=subprocess.PIPE, start_new_session=True
    )
    assert agent.stdin is not None
    agent.stdin.write(payload.encode())
    agent.stdin.close()
    for _ in range(300):
        if any("\tend\t" in text for text in worked.log()[2:]):
            break
        time.sleep(0.1)
    os.killpg(agent.pid, signal.SIGKILL)
    agent.wait()
    worked.settle(2)
    assert len(worked.packets()) == 2


def test_a_command_does_not_wait_for_ever_for_a_drain(worked: Any, passdown: Any) -> None:
    worked.hook("compacted", B, path=worked.path)
    with lock(worked.root / ".git/passdown/drain.lock"):
        done = passdown("status", folder=worked.root)
        assert done.returncode == 0
        assert b"is still being read; run this again in a moment" in done.stderr
        assert b"packet    " in done.stdout
        assert worked.spooled() != []
    worked.settle(2)  # the one that was started goes on by itself
    assert worked.spooled() == []
    assert len(worked.packets()) == 2


def test_nothing_of_the_folder_it_runs_in_is_run(worked: Any, repository: Any) -> None:
    trap = f"open({str(worked.home / 'TRAPPED')!r}, 'a').write(__name__)\n"
    for name in ("passdown", "msgspec", "json", "greeting", "ground", "glance", "entry", "select", "sitecustomize"):
        repository.write(f"{name}.py", trap)
        repository.write(f"{name}/__init__.py", trap)
    repository.write("trap.sh", f"#!/bin/sh\ntouch {worked.home / 'TRAPPED'}\n").chmod(0o755)
    (repository.root / "git").symlink_to("trap.sh")
    for setting in ("core.fsmonitor", "core.hooksPath", "diff.external", "core.pager"):
        repository.git("config", setting, "./trap.sh")
    env = {"PYTHONPATH": ".", "PATH": f".:{os.environ['PATH']}"}
    line = [sys.executable, "-I", "-S", str(worked.entry), "claude_code"]
    for event, session in (("end", B), ("start", C)):
        payload = json.dumps({"session_id": session, "cwd": str(worked.root), "transcript_path": worked.path})
        done = subprocess.run(
            [*line, event],
            input=payload.encode(),
            env=worked.env | env,
            cwd=worked.root,
            capture_output=True,
            check=True,
        )
    worked.settle(2)
    assert b"test_1" in done.stdout
    assert not (worked.home / "TRAPPED").exists()
