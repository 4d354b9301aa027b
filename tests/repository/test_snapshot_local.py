"""What only this clone has: stashes, other worktrees, unpushed commits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from passdown.repository.snapshot import snapshot
from passdown.repository.stashes import is_noted

OWN = ("outputs/handoff/", ".ai/")


def test_kinds_of_stashes(repository: Any) -> None:
    head = repository.git("rev-parse", "HEAD")
    repository.write("README.md", "one\n")
    repository.git("stash", "push", "-q")
    repository.write("README.md", "two\n")
    repository.write("new.py", "x\n")
    repository.git("stash", "push", "-q", "-u", "-m", "half of the parser: 解析器 rewrite")
    repository.git("checkout", "-q", "--detach")
    repository.write("README.md", "three\n")
    repository.git("stash", "push", "-q", "-m", "wip")
    stashes = snapshot(repository.root).stashes
    assert [stash.id for stash in stashes] == [repository.git("rev-parse", f"stash@{{{n}}}") for n in range(3)]
    assert [(stash.noted, stash.untracked) for stash in stashes] == [(False, False), (True, True), (False, False)]
    assert [stash.subject for stash in stashes[:2]] == [
        "On (no branch): wip",
        "On main: half of the parser: 解析器 rewrite",
    ]
    assert stashes[2].subject.startswith("WIP on main: ")
    assert {stash.base for stash in stashes} == {head}
    assert stashes[0].at == int(repository.git("log", "-1", "--format=%ct", "stash@{0}")) * 1000


def test_no_stash_is_no_stash(repository: Any) -> None:
    assert snapshot(repository.root).stashes == ()


def test_a_stash_without_its_reflog(repository: Any) -> None:
    repository.write("README.md", "one\n")
    repository.git("stash", "push", "-q", "-m", "the first half of the work")
    (repository.root / ".git" / "logs" / "refs" / "stash").unlink()
    (stash,) = snapshot(repository.root).stashes
    assert (stash.id, stash.noted) == (repository.git("rev-parse", "refs/stash"), True)


@pytest.mark.parametrize(
    ("subject", "noted"),
    [
        ("On main: a parser that nearly works", True),
        ("On feature/a: half done: lexer only", True),
        ("On main: wip wip wip", False),
        ("On main: temp backup 12345", False),
        ("On main: short", False),
        ("WIP on main: 1234567 a long enough subject", False),
        ("On main", False),
        ("", False),
    ],
)
def test_which_notes_count(subject: str, noted: bool) -> None:
    assert is_noted(subject) is noted


def test_other_worktrees(repository: Any, tmp_path: Path) -> None:
    for name in ("clean", "dirty", "own", "gone"):
        repository.git("worktree", "add", "-q", "-b", f"b/{name}", str(tmp_path / name))
    (tmp_path / "dirty" / "new.txt").write_text("x")
    (tmp_path / "own" / ".ai").mkdir()
    (tmp_path / "own" / ".ai" / "HANDOFF.md").write_text("x")
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "loose"))
    for file in (tmp_path / "gone").iterdir():
        file.unlink()
    (tmp_path / "gone").rmdir()
    head = repository.git("rev-parse", "HEAD")
    trees = {tree.name: tree for tree in snapshot(repository.root, own_paths=OWN).worktrees}
    assert {name: (tree.branch, tree.dirty, tree.prunable) for name, tree in trees.items()} == {
        "clean": ("b/clean", False, False),
        "dirty": ("b/dirty", True, False),
        "own": ("b/own", False, False),
        "gone": ("b/gone", None, True),
        "loose": ("", False, False),
    }
    assert {tree.head for tree in trees.values()} == {head}
    from_inside = snapshot(tmp_path / "clean", own_paths=OWN)
    assert from_inside.branch == "b/clean"
    assert from_inside.common_dir == str(repository.root / ".git")
    assert {tree.name for tree in from_inside.worktrees} == {"project", "dirty", "own", "gone", "loose"}
    assert from_inside.identity == snapshot(repository.root).identity


def test_a_worktree_entry_that_points_elsewhere_is_not_looked_into(
    repository: Any, make_repository: Any, tmp_path: Path
) -> None:
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    victim = make_repository("victim")
    victim.write("secret.txt", "x")
    (repository.root / ".git" / "worktrees" / "side" / "gitdir").write_text(f"{victim.root}/.git\n")
    (tree,) = snapshot(repository.root).worktrees
    assert (tree.path, tree.dirty) == (str(victim.root), None)


def test_ahead_behind_unpushed_and_gone(repository: Any, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    repository.git("clone", "-q", "--bare", ".", str(remote))
    assert snapshot(repository.root).unpushed is None
    repository.git("remote", "add", "origin", str(remote))
    assert (snapshot(repository.root).unpushed, snapshot(repository.root).ahead) == (1, None)
    repository.git("checkout", "-q", "-b", "topic")
    repository.commit("one", a="1")
    repository.git("push", "-q", "-u", "origin", "topic")
    repository.commit("two", a="2")
    repository.git("clone", "-q", "-b", "topic", str(remote), str(tmp_path / "other"))
    other = type(repository)(tmp_path / "other")
    other.commit("theirs", b="1")
    other.git("push", "-q")
    before = snapshot(repository.root)
    assert (before.upstream, before.ahead, before.behind, before.unpushed) == ("origin/topic", 1, 0, 1)
    repository.git("fetch", "-q")
    facts = snapshot(repository.root)
    assert (facts.ahead, facts.behind, facts.unpushed, facts.remotes) == (1, 1, 1, ("origin",))
    repository.commit("packet", **{".ai/HANDOFF.md": "x"})
    own = snapshot(repository.root, own_paths=OWN)
    assert (own.ahead, own.behind, own.unpushed) == (1, 1, 1)
    repository.git("update-ref", "-d", "refs/remotes/origin/topic")
    gone = snapshot(repository.root)
    assert (gone.upstream, gone.ahead, gone.behind) == ("origin/topic", None, None)
    assert [finding.code for finding in gone.findings] == ["branch.upstream_gone"]


def test_a_pushed_packet_is_neither_ahead_nor_behind(repository: Any, tmp_path: Path) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    repository.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repository.commit("packet", **{".ai/HANDOFF.md": "x"})
    repository.git("push", "-q", "-u", "origin", "main")
    facts = snapshot(repository.root, own_paths=OWN)
    assert (facts.ahead, facts.behind, facts.unpushed) == (0, 0, 0)


def test_credentials_in_a_remote_are_not_read(repository: Any) -> None:
    repository.git("remote", "add", "my.fork", "https://user:hunter2@example.com/x.git")
    assert snapshot(repository.root).remotes == ("my.fork",)


def test_large_file_storage_is_noticed(repository: Any) -> None:
    assert not snapshot(repository.root).has_lfs
    repository.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    assert snapshot(repository.root).has_lfs
