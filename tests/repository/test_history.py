"""What is known from the newest commits is what git says when it is asked."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from passdown.repository.base import merge_base
from passdown.repository.commits import commit_before, commits_since
from passdown.repository.head import identity_of, read_head
from passdown.repository.history import KEPT, History, read_history
from passdown.repository.own import OwnPaths
from passdown.repository.snapshot import snapshot

OWN = OwnPaths.of((".ai/", "outputs/handoff/", "clean_state.json"))


@pytest.fixture
def tangled(repository: Any) -> Any:
    """A repository with a merge, two roots, an empty commit, and commits of passdown's own paths, alone and mixed."""
    repository.commit("packet", **{"outputs/handoff/s/handoff.json": "{}\n"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("side", **{"side.py": "x\n"})
    repository.git("checkout", "-q", "main")
    repository.commit("both", **{"a.py": "x\n", ".ai/HANDOFF.md": "y\n"})
    repository.git("merge", "-q", "--no-edit", "side")
    repository.git("checkout", "-q", "--orphan", "other")
    repository.commit("another root")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-edit", "--allow-unrelated-histories", "-s", "ours", "other")
    repository.commit("empty")
    repository.commit("own again", **{"clean_state.json": "{}\n"})
    return repository


def tips(repository: Any) -> list[str]:
    return str(repository.git("rev-list", "--all")).split()


def known(root: Path, tip: str) -> History:
    history = read_history(root, tip, OWN)
    assert history.whole
    assert tip in history.steps
    return history


def test_each_commit_is_described_as_git_would(tangled: Any) -> None:
    root = tangled.root
    for tip in tips(tangled):
        history, unknown = known(root, tip), History(tip)
        assert read_head(root, history, "main", OWN) == read_head(root, unknown, "main", OWN)
        assert identity_of(root, history) == identity_of(root, unknown)
        assert set(history.steps) == set(tangled.git("rev-list", tip).split())


def test_the_commits_since_each_base_are_those_that_git_lists(tangled: Any) -> None:
    root, head = tangled.root, tangled.git("rev-parse", "HEAD")
    history = known(root, head)
    touching = history.touching_own(history.steps)
    subjects = tangled.git("log", "--format=%s", "--no-walk", *touching).split("\n")
    assert sorted(subjects) == ["another root", "both", "own again", "packet"]
    for base in ("", *history.steps):
        for limit in (1, 3, 200):
            plain = commits_since(root, base, head, own=OWN, limit=limit)
            assert commits_since(root, base, head, own=OWN, limit=limit, history=history) == plain
        if base:
            assert merge_base(root, head, base) == base  # all that is known is an ancestor


def test_the_commit_before_each_moment(tangled: Any) -> None:
    root, head = tangled.root, tangled.git("rev-parse", "HEAD")
    history = known(root, head)
    moments = sorted({step.at for step in history.steps.values()})
    for at in (moments[0] - 1, *moments, *(earlier + 1 for earlier, _ in pairwise(moments))):
        assert history.before(at, head) == commit_before(root, at * 1000, head)


def test_only_the_newest_are_known(repository: Any) -> None:
    start = repository.git("rev-parse", "HEAD")
    at = int(repository.git("log", "-1", "--format=%ct"))
    ids = [repository.commit(f"commit {number}") for number in range(KEPT)]
    history = read_history(repository.root, ids[-1], OWN)
    assert (len(history.steps), history.whole, history.root()) == (KEPT, False, "")
    assert history.before(at, ids[-1]) is None
    assert commit_before(repository.root, at * 1000, ids[-1], history=history) == start
    assert history.touching_own([ids[-1], start]) is None
    facts = snapshot(repository.root, base_hints=[("packet", start)])
    assert (facts.identity, facts.base, facts.commits_total) == (start, start, KEPT)


def test_settings_of_the_log_do_not_matter(tangled: Any) -> None:
    head = tangled.git("rev-parse", "HEAD")
    before = known(tangled.root, head)
    for name, value in (
        ("log.showRoot", "false"), ("log.diffMerges", "first-parent"), ("log.follow", "true"), ("log.decorate", "full"),
        ("log.abbrevCommit", "true"), ("log.date", "relative"), ("diff.relative", "true"), ("core.quotePath", "true"),
    ):  # fmt: skip
        tangled.git("config", name, value)
    assert known(tangled.root, head) == before
    one = OwnPaths.of(("clean_state.json",))
    assert set(read_history(tangled.root, head, one).steps) == set(before.steps)


def test_nothing_is_known_of_what_git_cannot_read(repository: Any) -> None:
    assert read_history(repository.root, "", OWN) == History()
    assert read_history(repository.root, "0" * 40, OWN) == History("0" * 40)


def test_a_shallow_clone_ends_where_it_was_cut(repository: Any, tmp_path: Path) -> None:
    for number in range(3):
        repository.commit(f"commit {number}", **{"a.py": str(number)})
    repository.git("clone", "-q", "--depth=2", f"file://{repository.root}", str(tmp_path / "shallow"))
    shallow = type(repository)(tmp_path / "shallow")
    head, cut = shallow.git("rev-list", "HEAD").split()
    history = read_history(shallow.root, head, OWN)
    assert [step.parents for step in history.steps.values()] == [(cut,), ()]
    assert snapshot(shallow.root).identity == ""
