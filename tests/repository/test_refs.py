"""Branches and the few refs that matter come out of one list."""

from __future__ import annotations

from typing import Any

from passdown.repository.branches import read_branches
from passdown.repository.refs import KEPT, find_integration, list_refs, read_refs


def test_branches_and_refs_are_told_apart(repository: Any) -> None:
    head = repository.git("rev-parse", "HEAD")
    repository.git("branch", "topic/修复")
    repository.git("branch", "--track", "follower", "main")
    for name in ("refs/remotes/origin/main", "refs/remotes/origin/other", "refs/tags/v1", "refs/stash"):
        repository.git("update-ref", name, head)
    repository.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    found = [(branch.name, branch.tip, branch.upstream, branch.current) for branch in read_branches(repository.root)]
    assert found == [
        ("follower", head, True, False), ("main", head, False, True), ("topic/修复", head, False, False),
    ]  # fmt: skip
    refs = read_refs(repository.root, "")
    assert {"refs/heads/main", "refs/stash", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"} <= set(refs.ids)
    assert not {"refs/tags/v1", "refs/remotes/origin/other"} & set(refs.ids)
    assert refs.targets == {"refs/remotes/origin/HEAD": "refs/remotes/origin/main"}
    assert "refs/remotes/origin/other" in read_refs(repository.root, "other").ids


def test_so_many_branches_hide_no_other_ref(repository: Any) -> None:
    head = repository.git("rev-parse", "HEAD")
    rows = "".join(f"{head} refs/heads/a{number:04}\n" for number in range(KEPT + 100))
    packed = f"# pack-refs with: peeled fully-peeled sorted \n{rows}{head} refs/heads/main\n{head} refs/stash\n"
    (repository.root / ".git" / "packed-refs").write_text(packed)
    (repository.root / ".git" / "refs" / "heads" / "main").unlink()
    assert len(list_refs(repository.root, "")) < KEPT + 100
    assert [branch.name for branch in read_branches(repository.root)] == [f"a{number:04}" for number in range(KEPT)]
    refs = read_refs(repository.root, "")
    assert set(refs.ids) == {"refs/heads/main", "refs/stash"}
    integration = find_integration(refs, "")
    assert integration is not None
    assert (integration.name, integration.at) == ("main", {"refs/heads/main": head})
