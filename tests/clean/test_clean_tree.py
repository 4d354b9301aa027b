"""Dirty trees, each built in a real repository: the code, the severity, and the command that really mends it."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest


def source(repo: Any, path: str = "src/a.py", text: str = "A = 1\n") -> None:
    """A committed source file."""
    repo.write(path, text)
    repo.commit(f"add {path}")


@pytest.mark.situation("tree.uncommitted", "block", where="src/a.py")
def unstaged(repo: Any) -> None:
    source(repo)
    repo.write("src/a.py", "A = 2\n")


@pytest.mark.situation("tree.uncommitted", "block", where="src/a.py")
def staged(repo: Any) -> None:
    source(repo)
    repo.write("src/a.py", "A = 2\n")
    repo.git("add", "-A")


@pytest.mark.situation("tree.uncommitted", "block", where="src/a.py")
def deleted(repo: Any) -> None:
    source(repo)
    (repo.root / "src/a.py").unlink()


@pytest.mark.situation("tree.uncommitted", "block", where="src/a b*.py")
def odd_name(repo: Any) -> None:
    source(repo, "src/a b*.py")
    source(repo, "src/a bc.py")
    repo.write("src/a b*.py", "A = 2\n")


@pytest.mark.situation("tree.uncommitted", "block", where="src/a  b.py")
def name_with_two_spaces(repo: Any) -> None:
    source(repo, "src/a  b.py")
    repo.write("src/a  b.py", "A = 2\n")


@pytest.mark.situation("tree.uncommitted", "block")
def name_with_bytes_that_are_no_text(repo: Any) -> None:
    name = os.fsdecode(b"src/\xff\x1b[31m '%s\\n'\n$x.py")
    source(repo, name)
    repo.write(name, "A = 2\n")


@pytest.mark.situation("tree.uncommitted", "block")
def long_names(repo: Any) -> None:
    for number in range(9):
        source(repo, f"src/{'a-folder-with-a-long-name/' * 3}{number}.py")
        repo.write(f"src/{'a-folder-with-a-long-name/' * 3}{number}.py", "A = 2\n")


@pytest.mark.situation("tree.uncommitted", "block")
def many(repo: Any) -> None:
    for number in range(30):
        repo.write(f"src/m{number}.py", "A = 1\n")
    repo.commit("many")
    for number in range(30):
        repo.write(f"src/m{number}.py", "A = 2\n")


@pytest.mark.situation("tree.untracked", "block", where="src/new.py")
def untracked_source(repo: Any) -> None:
    repo.write("src/new.py", "A = 1\n")


@pytest.mark.situation("tree.untracked", "block", where="settings.toml")
def untracked_configuration(repo: Any) -> None:
    repo.write("settings.toml", "a = 1\n")


@pytest.mark.situation("tree.untracked", "warn", where="picture.png")
def untracked_other(repo: Any) -> None:
    repo.write("picture.png", b"\x89PNG\0\0")


@pytest.mark.situation("tree.intent_to_add", "block", where="src/new.py")
def intent_to_add(repo: Any) -> None:
    repo.write("src/new.py", "A = 1\n")
    repo.git("add", "-N", "src/new.py")


@pytest.mark.situation("tree.trivial_change", "warn", where="src/a.py")
def mode_only(repo: Any) -> None:
    source(repo)
    os.chmod(repo.root / "src/a.py", 0o755)


@pytest.mark.situation("tree.trivial_change", "warn", where="src/a.py")
def line_ends_only(repo: Any) -> None:
    source(repo)
    repo.write("src/a.py", b"A = 1\r\n")


@pytest.mark.situation("tree.workbench_dirty", "warn", where="task_board.json")
def board_only(repo: Any) -> None:
    repo.write("task_board.json", '[{"id": "T-1", "goal": "g", "status": "todo"}]')
    repo.commit("board")
    repo.write("task_board.json", '[{"id": "T-1", "goal": "g", "status": "in_progress"}]')


@pytest.mark.situation("tree.no_commit", "block", where="src/a.py")
def no_commit(repo: Any) -> None:
    repo.git("update-ref", "-d", "HEAD")
    repo.git("rm", "-rq", "--cached", ".")
    repo.write("src/a.py", "A = 1\n")


def conflict(repo: Any) -> None:
    """Two branches that change the same line."""
    source(repo)
    repo.git("switch", "-qc", "other")
    repo.write("src/a.py", "A = 3\n")
    repo.commit("three")
    repo.git("switch", "-q", "main")
    repo.write("src/a.py", "A = 2\n")
    repo.commit("two")


@pytest.mark.situation("tree.operation_in_progress", "block", kind="choice", by="git .*")
def merge_in_progress(repo: Any) -> None:
    conflict(repo)
    repo.git("merge", "other", check=False)


@pytest.mark.situation("tree.operation_in_progress", "block", kind="choice", by="git .*")
def rebase_in_progress(repo: Any) -> None:
    conflict(repo)
    repo.git("rebase", "other", check=False)


@pytest.mark.situation("tree.operation_in_progress", "block", kind="choice", by="git .*")
def cherry_pick_in_progress(repo: Any) -> None:
    conflict(repo)
    repo.git("cherry-pick", "other", check=False)


@pytest.mark.situation("tree.operation_in_progress", "block", kind="choice", by="git .*")
def revert_in_progress(repo: Any) -> None:
    source(repo)
    repo.write("src/a.py", "A = 2\n")
    middle = repo.commit("two")
    repo.write("src/a.py", "A = 3\n")
    repo.commit("three")
    repo.git("revert", "--no-edit", middle, check=False)


@pytest.mark.situation("tree.operation_in_progress", "warn")
def bisect_in_progress(repo: Any) -> None:
    source(repo)
    repo.git("bisect", "start")


def choose_a_side(repo: Any) -> None:
    repo.write("src/a.py", "A = 2\n")
    repo.commit("choose")


@pytest.mark.situation(
    "tree.operation_in_progress", "block", kind="choice", by=choose_a_side, where="src/a.py", base="HEAD~1"
)
def conflict_marks(repo: Any) -> None:
    source(repo)
    repo.write("src/a.py", "<<<<<<< HEAD\nA = 1\n=======\nA = 2\n>>>>>>> other\n")
    repo.commit("oops")


@pytest.mark.situation("tree.hidden_change", "block", where="src/a.py")
def assume_unchanged(repo: Any) -> None:
    source(repo)
    repo.git("update-index", "--assume-unchanged", "src/a.py")
    repo.write("src/a.py", "A = 2\n")


@pytest.mark.situation("tree.hidden_change", "block", where="src/a.py")
def skip_worktree(repo: Any) -> None:
    source(repo)
    repo.git("update-index", "--skip-worktree", "src/a.py")
    repo.write("src/a.py", "A = 2\n")


@pytest.mark.situation("tree.stale_lock", "warn")
def stale_lock(repo: Any) -> None:
    lock = repo.write(".git/index.lock", "")
    os.utime(lock, (1_760_000_000, 1_760_000_000))


@pytest.mark.situation("tree.nested_repo", "warn", where="inner/")
def nested_repository(repo: Any) -> None:
    (repo.root / "inner").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=repo.root / "inner", check=True)
    repo.write("inner/x.py", "A = 1\n")


@pytest.mark.situation("prereq.ignored", "warn", where="agent_state.json")
def ignored_artifact(repo: Any) -> None:
    repo.write(".gitignore", "agent_state.json\n")
    repo.commit("ignore")
    repo.write("agent_state.json", '{"active_task_id": "T-1", "next_action": "make it so in src/a.py"}')


@pytest.mark.situation("prereq.ignored", "block", where="agent_state.json", portable=True)
def ignored_artifact_portable(repo: Any) -> None:
    ignored_artifact(repo)


def test_situation(situation: Any, settle: Any) -> None:
    settle(situation)


def test_a_clean_repository_is_clean(repository: Any, judge: Any) -> None:
    source(repository)
    state = judge(repository.root)
    assert state.clean
    assert [check.id for check in state.checks] == ["branch", "tree", "leftovers", "board", "tests"]


def test_a_sparse_checkout_hides_nothing(repository: Any, findings: Any) -> None:
    source(repository)
    source(repository, "other/b.py")
    repository.git("sparse-checkout", "set", "src")
    assert "tree.hidden_change" not in {f.code for f in findings(repository.root)}


def test_the_index_is_not_touched(repository: Any, judge: Any) -> None:
    source(repository)
    repository.write("src/a.py", "A = 2\n")
    repository.write("src/b.py", "A = 2\n")
    before = (repository.root / ".git/index").read_bytes()
    judge(repository.root)
    assert (repository.root / ".git/index").read_bytes() == before
