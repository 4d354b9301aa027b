"""A recorded run without the hash of its code: only a commit that changes what tests may depend on makes it stale."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.draft import Draft, draft
from passdown.repository.commits import changed_at


@pytest.fixture
def lesson(repository: Any) -> Any:
    """A lesson's workbench on a branch: code, then a green run that says nothing of the code it ran on."""
    repository.git("checkout", "-q", "-b", "feat/limit")
    repository.commit("code", **{"src/limit.py": "LIMIT = 1\n"})
    repository.clock += 600
    row = {"command": ["pytest", "-q"], "exit_code": 0, "stdout_tail": "4 passed in 0.1s", "stderr_tail": "",
           "duration_ms": 900, "started_at": float(repository.clock), "agent_note": "", "truncations": {}}  # fmt: skip
    repository.write("feedback_record.jsonl", json.dumps(row) + "\n")
    repository.clock += 600
    return repository


def stale(drafted: Draft) -> list[str]:
    return [
        finding.detail for check in drafted.state.checks for finding in check.findings if finding.code == "tests.stale"
    ]


@pytest.fixture
def git_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which every call of git is written down."""
    log, folder = tmp_path / "calls.log", tmp_path / "counting"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {shutil.which("git")} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


NOTES = {
    "agent_state.json": '{"schema_version": 1, "active_task_id": null, "touched_files": [], "next_action": ""}\n',
    "verification_report.json": '{"task_id": "T-1", "passed": true, "findings": []}\n', "docs/limits.md": "Limits.\n",
    "decisions.jsonl": '{"choice": "One limit", "why": "simple"}\n',
}  # fmt: skip


def test_a_commit_of_notes_leaves_the_run_as_it_is(lesson: Any) -> None:
    lesson.commit("notes", **NOTES)
    lesson.commit("nothing")
    drafted = draft(lesson.root)
    assert drafted.packet.tests.state == "green"
    assert stale(drafted) == []


def test_uncommitted_notes_leave_the_run_as_it_is(lesson: Any) -> None:
    for path, text in NOTES.items():
        lesson.write(path, text)
    assert draft(lesson.root).packet.tests.state == "green"


@pytest.mark.parametrize("after", [0, 2])
def test_a_commit_of_code_makes_it_stale(lesson: Any, after: int) -> None:
    lesson.commit("more code", **{"src/limit.py": "LIMIT = 2\n", "notes.md": "two\n"})
    for number in range(after):
        lesson.commit("notes", **{"notes.md": f"{number}\n"})
    drafted = draft(lesson.root)
    assert (drafted.packet.tests.state, drafted.packet.tests.last_outcome) == ("stale", "green")
    assert stale(drafted) == ["since the last recorded test run (green), the code changed"]


def test_older_code_that_a_merge_brings_makes_it_stale(lesson: Any) -> None:
    lesson.commit("notes", **NOTES)
    later, lesson.clock = lesson.clock, lesson.clock - 3600
    lesson.git("checkout", "-q", "-b", "other", "main")
    lesson.commit("older code", **{"src/other.py": "x\n"})
    lesson.git("checkout", "-q", "feat/limit")
    lesson.clock = later
    lesson.git("merge", "-q", "--no-edit", "other")
    assert draft(lesson.root).packet.tests.state == "stale"


def test_git_is_asked_only_where_a_commit_came_after_the_run(lesson: Any, passdown: Any, git_log: Path) -> None:
    def asked() -> int:
        git_log.unlink(missing_ok=True)
        assert passdown("wrap", "--interim", "--dry-run", folder=lesson.root).returncode == 0
        return git_log.read_text().count("--diff-merges=first-parent")

    assert asked() == 0
    lesson.commit("notes", **NOTES)
    assert asked() == 1


def test_what_the_newest_commits_do_not_tell_is_bounded_by_the_last_of_them(repository: Any) -> None:
    counts: Callable[[str], bool] = lambda path: path.endswith(".py")  # noqa: E731
    start = int(repository.git("log", "-1", "--format=%ct"))
    assert changed_at(repository.root, "HEAD", counts) in (0, start * 1000)
    repository.commit("code", **{"a.py": "x\n"})
    at = int(repository.git("log", "-1", "--format=%ct")) * 1000
    ids = [repository.commit(f"notes {number}", **{"a.md": f"{number}\n"}) for number in range(25)]
    assert changed_at(repository.root, ids[18], counts) == at
    oldest = int(repository.git("log", "-1", "--format=%ct", ids[5])) * 1000
    assert changed_at(repository.root, "HEAD", counts) == oldest > at
    assert changed_at(repository.root, "0" * 40, counts) is None


def test_a_name_that_looks_like_a_commit_is_a_name(repository: Any) -> None:
    repository.commit("odd", **{"\x019999999999\n.py": "x\n"})
    at = int(repository.git("log", "-1", "--format=%ct")) * 1000
    assert changed_at(repository.root, "HEAD", lambda path: "9999" in path) == at
