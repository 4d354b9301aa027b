"""A board that says what is not so: each situation in a real repository, and how it is put right."""

from __future__ import annotations

import json
from typing import Any

import pytest

TASKS = [
    {"id": "T-1", "goal": "limit the export", "status": "in_progress", "acceptance": ["pytest -q tests/test_a.py"]},
    {"id": "T-2", "goal": "document it", "status": "todo"},
]
OFFERED = r"passdown check (?:--base \w+ )?--mend [0-9a-f]{8}"


def board(repo: Any, *changes: tuple[str, str], tasks: Any = None) -> None:
    """Write the board; `changes` are (id, status)."""
    rows = [dict(task) for task in (tasks or TASKS)]
    for name, status in changes:
        next(row for row in rows if row["id"] == name)["status"] = status
    repo.write("task_board.json", json.dumps(rows, indent=1))


def state(repo: Any, **fields: Any) -> None:
    """Write the state of T-1."""
    repo.write("agent_state.json", json.dumps({"active_task_id": "T-1", "touched_files": []} | fields))


def begin(repo: Any) -> str:
    """Commit the board, the state and some code; return the commit."""
    board(repo)
    state(repo)
    repo.write("src/a.py", "A = 1\n")
    repo.write("tests/test_a.py", "def test_a():\n    assert True\n")
    this: str = repo.commit("begin")
    return this


def report(repo: Any, name: str, *, passed: bool) -> None:
    """Write a verification report on HEAD."""
    head = repo.git("rev-parse", "HEAD")
    record = {"task_id": name, "passed": passed, "findings": [], "head_commit": head}
    repo.write(f"outputs/verification/{name}.json", json.dumps(record))


# --- files that cannot be read as they are -----------------------------------------------------------------------


@pytest.mark.situation("board.invalid", "block", kind="edit", by=board, where="task_board.json")
def no_json(repo: Any) -> None:
    begin(repo)
    repo.write("task_board.json", "{ this is no JSON")


@pytest.mark.situation("board.invalid", "block", kind="edit", by=board, where="task_board.json")
def the_same_id_twice(repo: Any) -> None:
    begin(repo)
    board(repo, tasks=[*TASKS, TASKS[0]])


@pytest.mark.situation("board.invalid", "block", kind="edit", by=board, where="task_board.json")
def unknown_status(repo: Any) -> None:
    begin(repo)
    board(repo, ("T-2", "sort of"))


@pytest.mark.situation("board.multiple_active", "block", kind="choice", by=OFFERED, where="task_board.json")
def several_active(repo: Any) -> None:
    begin(repo)
    board(repo, ("T-2", "in_progress"))


# --- files that disagree -----------------------------------------------------------------------------------------


def name_the_same(repo: Any) -> None:
    repo.write("scope_contract.json", json.dumps({"task_id": "T-1", "goal": "g", "allowed_files": ["src/a.py"]}))


@pytest.mark.situation("board.active_mismatch", "block", kind="choice", by=name_the_same, where="agent_state.json")
def contract_and_state_disagree(repo: Any) -> None:
    begin(repo)
    repo.write("scope_contract.json", json.dumps({"task_id": "T-2", "goal": "g", "allowed_files": ["src/a.py"]}))


@pytest.mark.situation("board.active_mismatch", "block", kind="choice", by=state, where="task_board.json")
def active_task_is_not_on_the_board(repo: Any) -> None:
    begin(repo)
    state(repo, active_task_id="T-9")


@pytest.mark.situation("board.split", "block", kind="choice", by=OFFERED, where="task_board.json")
def board_and_features_disagree(repo: Any) -> None:
    begin(repo)
    features = {"features": [{"id": "T-2", "goal": "document it", "status": "in_progress"}], "active": "T-1"}
    repo.write("feature_list.json", json.dumps(features))


# --- the evidence says otherwise ---------------------------------------------------------------------------------


@pytest.mark.situation("board.false_done", "block", where="task_board.json")
def done_without_proof(repo: Any) -> None:
    begin(repo)
    board(repo, ("T-1", "done"))


@pytest.mark.situation("board.false_done", "block", where="task_board.json")
def done_though_it_failed(repo: Any) -> None:
    begin(repo)
    report(repo, "T-1", passed=False)
    board(repo, ("T-1", "done"))


@pytest.mark.situation("board.false_done", "block", where="task_board.json")
def done_while_another_is_in_progress(repo: Any) -> None:
    begin(repo)
    board(repo, ("T-2", "done"))


@pytest.mark.situation("board.false_done", "warn", kind="choice", by=OFFERED, where="task_board.json", base="HEAD~1")
def done_and_verified_before_more_work(repo: Any) -> None:
    begin(repo)
    report(repo, "T-1", passed=True)
    board(repo, ("T-1", "done"))
    repo.write("src/a.py", "A = 2\n")
    repo.commit("more")


@pytest.mark.situation("board.false_done", "block", where="feature_list.json")
def feature_passes_without_proof(repo: Any) -> None:
    rows = [{"category": "core", "description": "users can export", "steps": ["open", "click"], "passes": False}]
    repo.write("feature_list.json", json.dumps(rows))
    repo.commit("begin")
    repo.write("feature_list.json", json.dumps([rows[0] | {"passes": True}]))


@pytest.mark.situation("board.stale_open", "block", where="task_board.json")
def verified_and_still_open(repo: Any) -> None:
    begin(repo)
    report(repo, "T-1", passed=True)


@pytest.mark.situation("board.idle_active", "warn", where="task_board.json")
def nothing_was_done_for_it(repo: Any) -> None:
    begin(repo)


@pytest.mark.situation("board.started_unmarked", "warn", where="task_board.json", base="HEAD~1")
def a_commit_names_it(repo: Any) -> None:
    board(repo, ("T-1", "todo"))
    repo.commit("begin")
    repo.write("docs/limit.md", "x\n")
    repo.commit("Begin to document\n\nThe first page only.\n\nTask: T-2")


@pytest.mark.situation(
    "board.started_unmarked", "warn", kind="choice", by=OFFERED, where="task_board.json",
    base="HEAD~1",
)  # fmt: skip
def a_commit_names_it_while_another_is_in_progress(repo: Any) -> None:
    begin(repo)
    repo.write("docs/limit.md", "x\n")
    repo.commit("T-2: begin to document")


@pytest.mark.situation("board.started_unmarked", "warn", where="task_board.json")
def a_path_of_its_contract_changed(repo: Any) -> None:
    board(repo, ("T-1", "todo"))
    repo.write("scope_contract.json", json.dumps({"task_id": "T-2", "goal": "g", "allowed_files": ["docs/limit.md"]}))
    repo.commit("begin")
    repo.write("docs/limit.md", "x\n")


# --- what blocks, and what is next -------------------------------------------------------------------------------


def ask(repo: Any, mend: Any) -> None:
    mend(repo.root, 'passdown note question "T-2 waits for the word of legal: may it be public?"')


@pytest.mark.situation("board.blocked_unnamed", "warn", kind="choice", by=ask, where="task_board.json")
def blocked_by_nothing_named(repo: Any) -> None:
    begin(repo)
    board(repo, ("T-2", "blocked"))


@pytest.mark.situation("board.blocker_done", "warn", kind="choice", by=OFFERED, where="task_board.json")
def blocked_by_what_is_done(repo: Any) -> None:
    board(repo, ("T-2", "blocked"), ("T-1", "done"))
    state(repo, blockers=["T-2 waits for T-1"])
    repo.commit("begin")


def note_a_step(repo: Any, mend: Any) -> None:
    mend(repo.root, 'passdown note next "Limit the export in src/a.py (T-1)"')


@pytest.mark.situation("board.next_is_done", "block", kind="choice", by=note_a_step, where="task_board.json")
def next_step_is_done(repo: Any) -> None:
    board(repo, ("T-2", "done"))
    state(repo, next_action="Finish T-2 in docs/limit.md")
    repo.commit("begin")


# --- what may not be changed -------------------------------------------------------------------------------------

FEATURES = [
    {"category": "core", "description": "users can export", "steps": ["open", "click"], "passes": False},
    {"category": "core", "description": "users can import", "steps": ["open", "click"], "passes": False},
]


def features(repo: Any, rows: Any = None) -> None:
    repo.write("feature_list.json", json.dumps(rows or FEATURES))


@pytest.mark.situation("board.edited_criteria", "block", kind="edit", by=features, where="feature_list.json")
def feature_taken_off(repo: Any) -> None:
    features(repo)
    repo.commit("begin")
    features(repo, FEATURES[:1])


@pytest.mark.situation("board.edited_criteria", "block", kind="edit", by=features, where="feature_list.json")
def feature_rewritten(repo: Any) -> None:
    features(repo)
    repo.commit("begin")
    features(repo, [FEATURES[0] | {"steps": ["open"]}, FEATURES[1]])


@pytest.mark.situation("board.absent", "warn", kind="choice", by=board)
def no_board(repo: Any) -> None:
    state(repo)
    repo.commit("begin")


def test_situation(situation: Any, settle: Any) -> None:
    settle(situation)


# --- what is fine ------------------------------------------------------------------------------------------------

AFTERWARDS = [
    "Open a pull request for T-2", "Push T-2 and open the PR", "Merge T-2 into main", "Release T-2 to the first tenants",
    "After T-2, measure the export in src/a.py", "T-2 is done; go on with T-1 in src/a.py", "Review T-2 with the human",
]  # fmt: skip


def test_what_comes_after_a_task_that_is_done_is_no_false_next_step(repository: Any, judge: Any) -> None:
    board(repository, ("T-2", "done"))
    for text in AFTERWARDS:
        state(repository, next_action=text)
        assert "board.next_is_done" not in judge(repository.root).blocking, text
    for text in ("Finish T-2 in docs/limit.md", "Write the tests of T-2"):
        state(repository, next_action=text)
        assert "board.next_is_done" in judge(repository.root).blocking, text


def test_nothing_but_the_status_changes(repository: Any, judge: Any, mend: Any) -> None:
    begin(repository)
    text = (repository.root / "task_board.json").read_text()
    board(repository, ("T-1", "done"))
    [finding] = [f for part in judge(repository.root).checks for f in part.findings if f.code == "board.false_done"]
    mend(repository.root, finding.fix)
    assert (repository.root / "task_board.json").read_text() == text
    mend(repository.root, finding.fix)
    assert (repository.root / "task_board.json").read_text() == text
