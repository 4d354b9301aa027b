"""`check --sync-board`: what is proven is set to done, and only that."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from passdown.clean.options import CleanOptions
from passdown.errors import PassdownError
from passdown.handoff.check import Checked, Running, check
from passdown.handoff.gather import Options

BOARD = """[
    {"id": "T-001", "goal": "Limit exports", "acceptance": ["docs"], "status": "in_progress"},
    {"id": "T-002", "goal": "Document it", "acceptance": ["docs"], "status": "todo"},
    {"id": "T-003", "goal": "Measure it", "acceptance": ["docs"], "status": "todo"}
]"""
FEATURES = (
    '{"project": "p", "active": "T-001",\n "features": [{"id": "T-001", "goal": "Limit exports", "passes": false}]}\n'
)


def prove(repository: Any, name: str, head: str, *, passed: bool = True) -> None:
    report = {"task_id": name, "passed": passed, "findings": [], "head_commit": head}
    repository.write(f"outputs/verification/{name}.json", json.dumps(report))


def sync(root: Path, **environ: str) -> Checked:
    options = Options(now=1_795_000_000_000)
    return check(root, options, CleanOptions(environ=environ, now=options.now), running=Running(sync_board=True))


@pytest.fixture
def worked(repository: Any) -> tuple[Any, str]:
    repository.write("task_board.json", BOARD)
    repository.write("feature_list.json", FEATURES)
    repository.write("src/limits.py", "LIMIT = 10\n")
    return repository, repository.commit("Limit exports")


def codes(done: Checked) -> set[str]:
    return {finding.code for part in done.state.checks for finding in part.findings}


def test_what_is_proven_is_set_to_done_in_every_file(worked: tuple[Any, str]) -> None:
    repository, head = worked
    prove(repository, "T-001", head)
    prove(repository, "T-002", "0" * 40)
    prove(repository, "T-003", head, passed=False)
    (repository.root / "task_board.json").chmod(0o640)
    done = sync(repository.root, CLAUDECODE="1")
    assert [(item.id, item.path, item.was) for item in done.synced] == [
        ("T-001", "task_board.json", "in_progress"), ("T-001", "feature_list.json", "todo"),
    ]  # fmt: skip
    assert (repository.root / "task_board.json").read_text() == BOARD.replace("in_progress", "done")
    assert (repository.root / "feature_list.json").read_text() == FEATURES.replace("false", "true")
    assert stat.S_IMODE((repository.root / "task_board.json").stat().st_mode) == 0o640
    assert "board.stale_open" not in codes(done) and "board.split" not in codes(done)
    log = [json.loads(line) for line in (repository.root / ".git/passdown/board_sync.jsonl").read_text().splitlines()]
    assert [(row["id"], row["head"], row["at"]) for row in log] == [("T-001", head, "2026-11-18T11:06:40Z")] * 2
    assert sync(repository.root).synced == (), "twice is once"


@pytest.mark.parametrize("why", ["no report", "another commit", "failed", "loose work", "review"])
def test_what_is_not_proven_stays_open(why: str, worked: tuple[Any, str]) -> None:
    repository, head = worked
    if why != "no report":
        prove(repository, "T-001", "1" * 40 if why == "another commit" else head, passed=why != "failed")
    if why == "loose work":
        repository.write("src/limits.py", "LIMIT = 11\n")
    if why == "review":
        review = {"task_id": "T-001", "total": 3, "verdict": "hard_fail", "dimensions": []}
        repository.write("review_report.json", json.dumps(review))
    assert sync(repository.root).synced == ()
    assert (repository.root / "task_board.json").read_text() == BOARD
    assert (repository.root / "feature_list.json").read_text() == FEATURES


def test_a_check_alone_changes_nothing(worked: tuple[Any, str]) -> None:
    repository, head = worked
    prove(repository, "T-001", head)
    done = check(repository.root, Options(now=1), CleanOptions(now=1))
    (finding,) = [f for part in done.state.checks for f in part.findings if f.code == "board.stale_open"]
    assert finding.fix == "passdown check --sync-board"
    assert (repository.root / "task_board.json").read_text() == BOARD


def test_a_board_behind_a_link_is_written_where_it_lies(worked: tuple[Any, str]) -> None:
    repository, _ = worked
    (repository.root / "planning").mkdir()
    (repository.root / "task_board.json").rename(repository.root / "planning/board.json")
    (repository.root / "task_board.json").symlink_to("planning/board.json")
    prove(repository, "T-001", repository.commit("Move the board"))
    sync(repository.root)
    assert (repository.root / "task_board.json").is_symlink()
    assert (repository.root / "planning/board.json").read_text() == BOARD.replace("in_progress", "done")


def test_a_held_lock_is_said_and_nothing_is_half_done(worked: tuple[Any, str]) -> None:
    from passdown.io.files import lock

    repository, head = worked
    prove(repository, "T-001", head)
    with lock(repository.root / ".git/passdown/lock"), pytest.raises(PassdownError) as refused:
        sync(repository.root)
    assert refused.value.exit_code == 7
    assert (repository.root / "task_board.json").read_text() == BOARD


def test_the_command_says_what_it_set(worked: tuple[Any, str], passdown: Any) -> None:
    repository, head = worked
    prove(repository, "T-001", head)
    done = passdown("-C", str(repository.root), "check", "--sync-board")
    assert done.returncode == 0
    assert b"task_board.json: T-001 was in_progress, is done now" in done.stderr
