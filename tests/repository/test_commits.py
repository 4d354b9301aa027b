"""Commits since a base, their trees, and the last good one."""

from __future__ import annotations

from typing import Any

from passdown.repository.commits import commit_before, commit_trees, commits_since, last_good
from passdown.repository.tracked import tracked_paths


def test_commits_since(repository: Any) -> None:
    base = repository.git("rev-parse", "HEAD")
    ids = [repository.commit(f"commit {number}") for number in range(5)]
    commits, total = commits_since(repository.root, base, limit=3)
    assert ([commit.id for commit in commits], total) == (ids[:1:-1], 5)
    everything, total = commits_since(repository.root, "")
    assert (len(everything), total) == (6, 6)
    assert commits_since(repository.root, "HEAD") == ((), 0)


def test_trees(repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit("second", a="1")
    blob = repository.git("rev-parse", "HEAD:a")
    assert commit_trees(repository.root, [first, second, "0" * 40, blob, "HEAD", "--all", "x\ny", first]) == {
        first: repository.git("rev-parse", f"{first}^{{tree}}"),
        second: repository.git("rev-parse", f"{second}^{{tree}}"),
    }
    assert commit_trees(repository.root, []) == {}


def test_the_last_good_commit_is_the_newest_in_this_history(repository: Any, make_repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit("second")
    repository.git("checkout", "-q", "-b", "side")
    elsewhere = repository.commit("elsewhere")
    repository.git("checkout", "-q", "main")
    repository.commit("third")
    assert last_good(repository.root, [first, second]) == last_good(repository.root, [second, first]) == second
    assert last_good(repository.root, [elsewhere, first, "0" * 40]) == first
    assert last_good(repository.root, [elsewhere]) == ""
    assert last_good(repository.root, []) == ""
    assert last_good(make_repository("other", empty=True).root, [first]) == ""


def test_the_commit_before_a_moment(repository: Any) -> None:
    first = repository.git("rev-parse", "HEAD")
    at = int(repository.git("log", "-1", "--format=%ct")) * 1000
    repository.commit("second")
    assert commit_before(repository.root, at) == first
    assert commit_before(repository.root, at - 1000) == ""
    assert commit_before(repository.root, at, head="refs/heads/none") == ""


def test_tracked_paths(repository: Any) -> None:
    repository.write("src/é.py", "x\n")
    repository.commit("more")
    repository.write("untracked", "x\n")
    assert tracked_paths(repository.root) == {"README.md", "src/é.py"}
