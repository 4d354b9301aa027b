"""`passdown sessions` as a user meets it: processes of its own, what is printed, and what is said beside it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def store(isolated_home: Path, repository: Any) -> Callable[..., Path]:
    """A function that writes a Claude Code session of a few messages."""

    def save(number: int, *said: str, cwd: Path | None = None, branch: str = "main") -> Path:
        stem = f"{number:08x}-0000-4000-8000-000000000000"
        path = isolated_home / ".claude/projects/p" / f"{stem}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        base = {"sessionId": stem, "cwd": str(cwd or repository.root), "gitBranch": branch, "version": "2.1.0",
                "timestamp": "2025-10-09T08:53:20.000Z", "isSidechain": False}  # fmt: skip
        rows = [
            base | {"type": "user", "uuid": f"u{count}", "parentUuid": None, "permissionMode": "default", "message": {"role": "user", "content": text}}
            for count, text in enumerate(said)
        ]  # fmt: skip
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return path

    return save


def numbers(done: subprocess.CompletedProcess[bytes]) -> list[int]:
    assert done.returncode == 0, done.stderr.decode()
    return sorted(int(row["session_id"][:8], 16) for row in json.loads(done.stdout)["sessions"])


def test_filters(store: Callable[..., Path], repository: Any, passdown: Call, tmp_path: Path) -> None:
    other = tmp_path / "team" / "payments"
    other.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    (repository.root / "src").mkdir()
    store(1, "mend the bucket")
    store(2, "mend the lantern", cwd=repository.root / "src", branch="side")
    store(3, "the bucket again", cwd=other)
    store(4, "gone", cwd=tmp_path / "gone" / "else")

    def listed(*words: str) -> list[int]:
        return numbers(passdown("sessions", "--json", *words, folder=repository.root))

    assert listed() == [1, 2]
    assert listed("--all") == [1, 2, 3, 4]
    assert listed("--branch", "side") == [2]
    assert listed("--repository", str(other)) == [3]
    assert listed("--repository", "payments") == [3]
    assert listed("--repository", "Team/Payments") == [3]
    assert listed("--repository", "pay") == []
    assert listed("--text", "bucket") == [1]
    assert listed("--all", "--text", "bucket") == [1, 3]
    assert listed("--agent", "codex") == []
    assert listed("--since", "1h") == [1, 2]
    assert listed("--since", "2999-01-01") == []
    assert numbers(passdown("-C", str(other), "sessions", "--json")) == [3]
    assert numbers(passdown("sessions", "--all", "--json", "search", "bucket", folder=repository.root)) == [1, 3]
    assert numbers(
        passdown("sessions", "--all", "search", "--json", "bucket", "--limit", "1", folder=repository.root)
    ) == [3]
    found = passdown("sessions", "search", "--json", "bucket", folder=repository.root)
    assert numbers(found) == [1]
    hit = json.loads(found.stdout)["sessions"][0]["hits"][0]
    assert (hit["kind"], hit["line"], hit["text"]) == ("human", 1, "mend the bucket")
    assert passdown("sessions", "search", "-C", folder=repository.root).returncode == 2


def test_worktrees_count_and_a_renamed_repository_keeps_its_own(
    store: Callable[..., Path], repository: Any, passdown: Call, tmp_path: Path
) -> None:
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "tree")
    store(1, "here")
    store(2, "in the worktree", cwd=tmp_path / "tree")
    assert numbers(passdown("sessions", "--json", folder=repository.root)) == [1, 2]
    assert numbers(passdown("sessions", "--json", folder=tmp_path / "tree")) == [1, 2]
    repository.git("worktree", "remove", str(tmp_path / "tree"))
    moved = tmp_path / "elsewhere" / repository.root.name
    moved.parent.mkdir()
    shutil.move(repository.root, moved)
    assert numbers(passdown("sessions", "--json", folder=moved)) == [1]


def test_errors_say_what_to_do(passdown: Call, repository: Any, tmp_path: Path) -> None:
    for words, code, says in (
        (("--since", "soon"), 2, b"is no time"),
        (("--agent", "nobody"), 2, b"no agent called"),
        (("search", "***"), 2, b"no word to look for"),
        (("export", "abcd", "--to", "nothing"), 2, b"no format called"),
        (("show", "nope"), 2, b"no session is called"),
    ):
        done = passdown("sessions", *words, folder=repository.root)
        assert (done.returncode, says in done.stderr) == (code, True), done.stderr
    outside = tmp_path / "outside"
    outside.mkdir()
    assert passdown("sessions", folder=outside).returncode == 4
    assert passdown("sessions", "--all", folder=outside).returncode == 0


def test_what_is_printed_is_harmless_and_holds_no_secret(
    store: Callable[..., Path], repository: Any, passdown: Call, tmp_path: Path
) -> None:
    token = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
    store(1, f"\x1b[31mneedle\x1b[0m {token}\u202eevil", branch="a\x1b]0;b")
    for words in (("sessions",), ("sessions", "search", "needle"), ("sessions", "export", "00000001")):
        done = passdown(*words, folder=repository.root)
        assert done.returncode == 0, done.stderr
        assert b"needle" in done.stdout
        assert token.encode() not in done.stdout
        assert b"\x1b" not in done.stdout
        assert words[-1] == "00000001" or b"\xe2\x80\xae" not in done.stdout
    done = passdown("sessions", "export", "00000001", "-o", str(tmp_path / "out.json"), folder=repository.root)
    assert (done.returncode, done.stdout) == (0, b"")
    assert json.loads((tmp_path / "out.json").read_bytes())["session"]["human_messages"] == 1
    assert (tmp_path / "out.json").stat().st_mode & 0o077 == 0


def test_a_list_loads_no_reader(store: Callable[..., Path], repository: Any, passdown: Call) -> None:
    store(1, "mend the bucket")
    code = "import sys, runpy; sys.argv = ['passdown', 'sessions', 'search', 'bucket']\n"
    code += "try:\n    runpy.run_module('passdown', run_name='__main__')\nexcept SystemExit:\n    pass\n"
    code += "sys.stderr.write('MODULES ' + ' '.join(sys.modules))"
    passdown("sessions", folder=repository.root)
    done = subprocess.run([sys.executable, "-c", code], cwd=repository.root, capture_output=True, text=True, check=True)
    assert "mend the bucket" in done.stdout
    loaded = set(done.stderr.partition("MODULES ")[2].split())
    assert {
        "msgspec",
        "subprocess",
        "rich",
        "hashlib",
        "multiprocessing",
        "json",
        "passdown.sessions.read",
    } & loaded == set()


def test_an_index_being_filled_by_another_is_not_waited_for(
    store: Callable[..., Path], repository: Any, passdown: Call, isolated_home: Path
) -> None:
    from passdown.io.files import lock

    store(1, "mend the bucket")
    assert numbers(passdown("sessions", "--json", folder=repository.root)) == [1]
    store(2, "new")
    with lock(isolated_home / ".local/share/passdown/index.lock"):
        done = passdown("sessions", "--json", folder=repository.root)
    assert numbers(done) == [1]
    assert b"another passdown" in done.stderr
    assert numbers(passdown("sessions", "--json", folder=repository.root)) == [1, 2]
