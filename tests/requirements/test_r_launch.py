"""R29, the half at run time: an agent is not started inside another one. R31: one main agent has a topic in hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.nested import MARKERS, agent_around
from passdown.agents.table import TABLE
from passdown.io.ancestry import Program

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of other programs")


@pytest.fixture
def wrapped(passdown: Any, repository: Any, claude_session: Any) -> Any:
    """A repository with the packet of a session that ended an hour ago."""
    repository.git("switch", "-q", "-c", "feat/limit")
    repository.write("src/limits.py", "LIMIT = 11\n")
    session = claude_session(repository.root)
    session.branch = "feat/limit"
    session.human("Refuse the eleventh call.")
    os.utime(session.path, (time.time() - 3600, time.time() - 3600))
    assert passdown("wrap", "--interim", folder=repository.root).returncode == 0
    return repository


def receipts(repository: Any) -> list[dict[str, Any]]:
    """The takeovers that are recorded."""
    return [json.loads(path.read_bytes()) for path in (repository.root / ".git/passdown").glob("receipts/*.json")]


# R29


@pytest.mark.parametrize(("name", "agent"), MARKERS)
def test_each_variable_of_an_agent_refuses(name: str, agent: str) -> None:
    found = agent_around({"PATH": "/bin", name: "1"})
    assert found is not None
    assert (found.agent, found.how) == (agent, f"the variable {name} is set")
    assert agent_around({"PATH": "/bin", name: ""}) is None


def test_every_agent_is_known_by_a_variable_or_its_program() -> None:
    assert {row.id for row in TABLE if row.takeover and not row.markers} == {"openhands"}


def test_nothing_is_started_inside_an_agent(wrapped: Any, passdown: Any, stand_ins: Any) -> None:
    stand_ins.add("codex")
    refused = passdown(
        "launch", "codex", "--topic", "feat-limit", folder=wrapped.root, PATH=stand_ins.path, CLAUDECODE="1"
    )
    said = refused.stderr.decode()
    assert (refused.returncode, refused.stdout) == (8, b"")
    assert "inside Claude Code (the variable CLAUDECODE is set)" in said
    assert f"passdown -C {wrapped.root} launch codex --topic feat-limit" in said
    assert "passdown prompt take" in said
    # A human's word is none without a terminal.
    again = passdown("launch", "codex", "--allow-nested", folder=wrapped.root, PATH=stand_ins.path, CLAUDECODE="1")
    assert again.returncode == 8
    assert b"a human's word" in again.stderr
    assert not stand_ins.was_started()
    assert receipts(wrapped) == []
    # Taking over and wrapping up in there is what agents do.
    assert passdown("take", folder=wrapped.root, CLAUDECODE="1").returncode == 0
    assert passdown("wrap", "--interim", folder=wrapped.root, CLAUDECODE="1").returncode == 0


@linux
def test_a_person_in_a_terminal_may_all_the_same(wrapped: Any, stand_ins: Any, isolated_home: Path) -> None:
    stand_ins.add("pi")
    line = [sys.executable, "-m", "passdown", "launch", "pi", "--allow-nested"]
    env = {"PATH": stand_ins.path, "HOME": str(isolated_home), "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "a" * 8,
           "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    code = f"import os, pty; os.chdir({str(wrapped.root)!r}); raise SystemExit(os.waitstatus_to_exitcode(pty.spawn({line!r})))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, input=b"", capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout
    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID"} & set(stand_ins.variables())
    assert [(one["by"], one["started_by"], one["taker"]) for one in receipts(wrapped)] == [("pi", "claude_code", "")]


def native(folder: Path, name: str) -> Path:
    """A program of machine code with that name: a copy of the shell."""
    folder.mkdir(parents=True, exist_ok=True)
    shell = Path(os.path.realpath(shutil.which("sh") or "/bin/sh"))
    return Path(shutil.copy(shell, folder / name))


def launched_by(words: list[str], repository: Any, stand_ins: Any, home: Path) -> subprocess.CompletedProcess[bytes]:
    """Have a program launch Codex, with nothing of an agent in the environment; `…` stands for the command line."""
    line = f"{sys.executable} -m passdown -C {repository.root} launch codex; exit $?"
    env = {"PATH": stand_ins.path, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    words = [word.replace("…", line) for word in words]
    return subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)


@linux
def test_an_agents_program_refuses(wrapped: Any, stand_ins: Any, isolated_home: Path, tmp_path: Path) -> None:
    stand_ins.add("codex")
    for place in (native(tmp_path / "opt", "claude"), native(tmp_path / "share/claude/versions", "2.1.332")):
        done = launched_by([str(place), "-c", "…"], wrapped, stand_ins, isolated_home)
        assert done.returncode == 8, done.stderr
        assert b"inside Claude Code (it was started from the program claude (process " in done.stderr
    assert not stand_ins.was_started()


@linux
def test_what_is_only_named_like_an_agent_is_none(
    wrapped: Any, stand_ins: Any, isolated_home: Path, tmp_path: Path
) -> None:
    stand_ins.add("codex")
    script = tmp_path / "claude" / "claude"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\n…\n".replace("…", f"{sys.executable} -m passdown -C {wrapped.root} launch codex; exit $?")
    )
    script.chmod(0o755)
    test_file = tmp_path / "test_claude.py"
    test_file.write_text("import subprocess, sys\nraise SystemExit(subprocess.call(sys.argv[2:]))\n")
    shutil.copy(test_file, tmp_path / "codex")
    inside = native(wrapped.root / "target/debug", "claude")
    words = [sys.executable, "-m", "passdown", "-C", str(wrapped.root), "launch", "codex"]
    for line in (
        [str(script)],
        [sys.executable, str(test_file), "claude", *words],
        [sys.executable, str(tmp_path / "codex"), "opencode", *words],
        [str(inside), "-c", "…"],
        ["sh", "-c", "…", "claude"],
    ):
        done = launched_by(line, wrapped, stand_ins, isolated_home)
        assert done.returncode == 0, (line, done.stderr)
        assert stand_ins.was_started()
        (stand_ins.folder / "words").unlink()


@pytest.mark.parametrize(
    ("program", "agent"),
    [
        (Program(9, "/usr/bin/node", ("pi", "", "")), "pi"),
        (Program(9, "/usr/bin/node", ("node", "/x/node_modules/@openai/codex/bin/codex.js")), "codex"),
        (Program(9, "/usr/bin/node", ("node", "--expose-gc", "lib/node_modules/@qwen-code/qwen-code/cli.js"), "/usr"), "qwen"),
        (Program(9, "/x/node_modules/@anthropic-ai/claude-code/bin/claude.exe", ("claude",)), "claude_code"),
        (Program(9, "/x/node_modules/@github/copilot/copilot", ()), "copilot"),
        (Program(9, "/usr/bin/node", ("node", "/home/me/claude/pi.js")), ""),
        (Program(9, "/usr/bin/node", ("node", "server.js", "codex")), ""),
        (Program(9, "/usr/bin/vim", ("vim", "claude")), ""),
        (Program(9, "/usr/bin/python3.12", ("python3", "-m", "pytest", "tests/claude")), ""),
        (Program(9, "/usr/bin/bash", ("claude",)), ""),
        (Program(9, "", ()), ""),
    ],
)  # fmt: skip
def test_which_programs_are_agents(program: Program, agent: str) -> None:
    found = agent_around({}, [program])
    assert (found.agent if found else "") == agent


def test_a_console_script_is_known_by_its_environment(tmp_path: Path) -> None:
    (tmp_path / "python").touch()
    program = Program(9, "/usr/bin/python3.12", ("python", str(tmp_path / "openhands"), "--headless"))
    assert (agent_around({}, [program]) or ("",))[0] == "openhands"
    (tmp_path / "python").unlink()
    assert agent_around({}, [program]) is None


# R31


def until_started(stand_ins: Any) -> None:
    """Wait until a stand-in is at work."""
    for _ in range(200):
        if (stand_ins.folder / "stdin").exists():
            return
        time.sleep(0.05)
    raise AssertionError("it was not started")


@linux
def test_a_second_agent_is_refused_while_the_first_is_at_it(
    wrapped: Any, passdown: Any, stand_ins: Any, isolated_home: Path
) -> None:
    stand_ins.add("codex", "exec sleep 60")
    stand_ins.add("pi")
    line = [sys.executable, "-m", "passdown", "launch", "codex"]
    env = {"PATH": stand_ins.path, "HOME": str(isolated_home), "GIT_CONFIG_GLOBAL": os.devnull}
    with subprocess.Popen(line, cwd=wrapped.root, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as first:
        try:
            until_started(stand_ins)
            for agent in ("pi", "codex"):  # another one of the same kind is another one
                second = passdown("launch", agent, folder=wrapped.root, PATH=stand_ins.path)
                assert second.returncode == 7, second.stderr
                assert b"codex took it" in second.stderr
                assert b" s ago" in second.stderr
            shown = json.loads(
                passdown("launch", "pi", "--dry-run", "--json", folder=wrapped.root, PATH=stand_ins.path).stdout
            )
            assert (shown["exit_code"], [finding["code"] for finding in shown["findings"]]) == (0, ["lease.held"])
            assert passdown("take", folder=wrapped.root, CLAUDECODE="1").returncode == 7
        finally:
            first.terminate()
    assert passdown("launch", "pi", folder=wrapped.root, PATH=stand_ins.path).returncode == 0
    assert sorted(one["by"] for one in receipts(wrapped)) == ["codex", "pi"]


@linux
def test_the_agent_that_was_launched_may_take_what_it_was_given(wrapped: Any, passdown: Any, stand_ins: Any) -> None:
    stand_ins.add("codex", f'CODEX_CI=1 {sys.executable} -m passdown take >"$here/taken" 2>&1; exit $?')
    done = passdown("launch", "codex", folder=wrapped.root, PATH=stand_ins.path)
    assert done.returncode == 0, (stand_ins.folder / "taken").read_text()
    assert "[passdown] Handoff for feat/limit" in (stand_ins.folder / "taken").read_text()


def test_a_human_says_that_it_is_over(wrapped: Any, passdown: Any, stand_ins: Any) -> None:
    stand_ins.add("pi")
    assert passdown("take", folder=wrapped.root, CODEX_THREAD_ID="01a22855-7004").returncode == 0
    assert passdown("launch", "pi", folder=wrapped.root, PATH=stand_ins.path).returncode == 7
    assert not stand_ins.was_started()
    assert passdown("take", "--steal", folder=wrapped.root).returncode == 0
    assert passdown("launch", "pi", folder=wrapped.root, PATH=stand_ins.path).returncode == 0
