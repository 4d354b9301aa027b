"""What commands ask of git: each of these costs seconds in a large repository. No clock: a busy machine is no defect."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.repository.history import KEPT


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Put a git on the search path that writes down each call; return a function that tells and forgets the words."""
    log = tmp_path / "calls.log"
    folder = tmp_path / "counting"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {shutil.which("git")} "$@"\n')
    (folder / "git").chmod(0o755)

    def tell() -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [_without_settings(line.split(" ")) for line in lines]

    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tell


def _without_settings(words: list[str]) -> str:
    while words[:1] in (["-C"], ["-c"]):
        words = words[2:]
    return " ".join(words)


# Where the history is longer than what is read of it at once, its root is looked for in one walk more.
def _walks(calls: list[str]) -> list[str]:
    return [call for call in calls if call.startswith(("status ", "ls-files ", "log --max-parents"))]


def test_a_cold_start_walks_the_tree_and_the_history_once(
    passdown: Callable[..., Any], repository: Any, calls: Callable[[], list[str]]
) -> None:
    calls()
    assert passdown("take", folder=repository.root).returncode == 4
    made = calls()
    assert len(made) <= 14
    assert sorted(call.split(" ")[0] for call in _walks(made)) == ["ls-files", "status"]


def test_taking_a_packet_walks_the_tree_and_the_history_once(
    passdown: Callable[..., Any], repository: Any, calls: Callable[[], list[str]], claude_session: Callable[..., Any]
) -> None:
    session = claude_session(repository.root)
    session.human("Write the parser")
    session.edits("parser.py")
    os.utime(session.path, (session.clock, session.clock))
    assert passdown("wrap", "--interim", folder=repository.root).returncode == 0
    calls()
    assert passdown("take", folder=repository.root).returncode == 0
    made = calls()
    assert sorted(call.split(" ")[0] for call in _walks(made)) == ["status"]
    session.says("The parser is next")
    os.utime(session.path)
    assert passdown("take", folder=repository.root).returncode == 0
    assert sorted({call.split(" ")[0] for call in _walks(calls())}) == ["ls-files", "status"]


def test_status_walks_the_tree_once(
    passdown: Callable[..., Any], repository: Any, calls: Callable[[], list[str]]
) -> None:
    calls()
    assert passdown("status", folder=repository.root).returncode == 0
    made = calls()
    assert len(made) <= 3
    assert [call.split(" ")[0] for call in _walks(made)] == ["status"]


@pytest.mark.parametrize(("commits", "most"), [(0, 5), (1, 5), (KEPT + 5, 6)])
def test_a_packet_of_a_plain_repository_costs_six_calls_at_most(
    passdown: Callable[..., Any], repository: Any, calls: Callable[[], list[str]], claude_session: Callable[..., Any],
    commits: int, most: int,
) -> None:  # fmt: skip
    for number in range(commits):
        repository.commit(f"commit {number}", **{"more.py": f"{number}\n"})
    session = claude_session(repository.root)
    session.clock = repository.clock + 600
    session.human("Write the parser")
    session.runs("pytest -q", "1 failed in 0.1s", 1)
    session.says("Next: write the parser in parser.py.")
    file = session.path.rename(repository.root.parent / "session.jsonl")
    calls()
    done = passdown("wrap", "--dry-run", "--json", "--session", str(file), folder=repository.root)
    assert done.returncode == 0, done.stderr.decode()
    made = calls()
    assert len(made) <= most, made
    assert len(made) == len(set(made)) >= 4  # the counting git was the one that was asked, each thing once
