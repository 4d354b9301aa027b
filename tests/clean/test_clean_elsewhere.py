"""Work that lies in stashes, other worktrees and submodules: the code, the severity, and the command that mends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def source(repo: Any, path: str = "src/a.py", text: str = "A = 1\n") -> None:
    """A committed source file."""
    repo.write(path, text)
    repo.commit(f"add {path}")


# --- stashes -----------------------------------------------------------------------------------------------------


def stashed(repo: Any, *words: str, text: str = "A = 2\n") -> None:
    """Stash a change."""
    repo.write("src/a.py", text)
    repo.git("stash", "push", "-q", *words)


@pytest.mark.situation("stash.no_note", "block", base="HEAD")
def stash_without_note(repo: Any) -> None:
    source(repo)
    stashed(repo)


@pytest.mark.situation("stash.no_note", "block", base="HEAD")
def stash_with_vague_note(repo: Any) -> None:
    source(repo)
    stashed(repo, "-m", "wip wip wip wip")


@pytest.mark.situation("stash.no_note", "block", base="HEAD")
def stash_below_another(repo: Any) -> None:
    source(repo)
    stashed(repo)
    stashed(repo, "-m", "the other idea for the export limit", text="A = 3\n")


@pytest.mark.situation("stash.legacy", "warn", base="HEAD")
def stash_of_before(repo: Any) -> None:
    source(repo)
    stashed(repo)
    repo.write("src/b.py", "B = 1\n")
    repo.commit("later")


@pytest.mark.situation("stash.foreign_base", "warn", base="HEAD")
def stash_of_another_branch(repo: Any) -> None:
    source(repo)
    repo.git("switch", "-qc", "other")
    source(repo, "src/b.py")
    stashed(repo, "-m", "the other idea for the export limit")
    repo.git("switch", "-q", "main")


@pytest.mark.situation("stash.local_only", "block", base="HEAD", portable=True)
def stash_portable(repo: Any) -> None:
    source(repo)
    stashed(repo, "-m", "the other idea for the export limit")


# --- other worktrees and submodules ------------------------------------------------------------------------------


def worktree(repo: Any) -> Path:
    """A second worktree with a branch of its own."""
    source(repo)
    folder = repo.root.parent / "second"
    repo.git("worktree", "add", "-q", "-b", "second", str(folder))
    return folder


@pytest.mark.situation("worktree.dirty", "block", base="HEAD~1")
def dirty_worktree_of_this_session(repo: Any) -> None:
    folder = worktree(repo)
    (folder / "src/a.py").write_text("A = 9\n")


@pytest.mark.situation("worktree.dirty", "warn", base="HEAD")
def dirty_worktree_of_before(repo: Any) -> None:
    folder = worktree(repo)
    source(repo, "src/later.py")
    (folder / "src/a.py").write_text("A = 9\n")


@pytest.mark.situation("worktree.dirty", "block", base="HEAD", portable=True)
def dirty_worktree_portable(repo: Any) -> None:
    dirty_worktree_of_before(repo)


@pytest.mark.situation("worktree.stale", "warn")
def worktree_gone(repo: Any) -> None:
    folder = worktree(repo)
    folder.rename(folder.with_name("moved"))


@pytest.mark.situation("worktree.stale", "warn")
def locked_worktree_gone(repo: Any) -> None:
    folder = worktree(repo)
    repo.git("worktree", "lock", str(folder))
    folder.rename(folder.with_name("moved"))


@pytest.mark.situation("stash.other_worktree", "warn", kind="choice", by=r"git stash drop .*")
def stash_of_another_worktree(repo: Any) -> None:
    folder = worktree(repo)
    (folder / "src/a.py").write_text("A = 9\n")
    repo.git("-C", str(folder), "stash", "push", "-q")


def submodule(repo: Any, path: str = "lib") -> Path:
    """A repository with a submodule whose remote is beside it."""
    library = repo.root.parent / "library"
    subprocess.run(["git", "init", "-q", "-b", "main", str(library)], check=True)
    (library / "l.c").write_text("int l;\n")
    repo.git("-C", str(library), "add", "-A")
    repo.git("-C", str(library), "commit", "-q", "-m", "library")
    repo.git("-C", str(library), "config", "receive.denyCurrentBranch", "updateInstead")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), path)
    repo.commit("add library")
    return repo.root / path


@pytest.mark.situation("tree.submodule_moved", "block", where="lib")
def submodule_moved(repo: Any) -> None:
    folder = submodule(repo)
    (folder / "l.c").write_text("int m;\n")
    repo.git("-C", str(folder), "commit", "-qam", "more")


@pytest.mark.situation("tree.submodule_dirty", "block", where="lib")
def submodule_dirty(repo: Any) -> None:
    (submodule(repo) / "l.c").write_text("int m;\n")


@pytest.mark.situation("tree.submodule_dirty", "block", where="my [lib] *")
def submodule_of_an_odd_name(repo: Any) -> None:
    (submodule(repo, "my [lib] *") / "l.c").write_text("int m;\n")


@pytest.mark.situation("tree.submodule_dirty", "block", where="lib")
def submodule_untracked_source(repo: Any) -> None:
    (submodule(repo) / "new.c").write_text("int m;\n")


@pytest.mark.situation("tree.submodule_dirty", "warn", where="lib")
def submodule_untracked_other(repo: Any) -> None:
    (submodule(repo) / "notes.txt").write_text("as they came\n")


@pytest.mark.situation("tree.submodule_dirty", "block", where="lib")
def submodule_in_the_middle_of_a_merge(repo: Any) -> None:
    folder = submodule(repo)
    for branch, text in (("other", "int o;\n"), ("main", "int m;\n")):
        repo.git("-C", str(folder), "switch", "-q", *(["-c"] if branch == "other" else []), branch)
        (folder / "l.c").write_text(text)
        repo.git("-C", str(folder), "commit", "-qam", branch)
    repo.commit("move library")
    repo.git("-C", str(folder), "merge", "other", check=False)


@pytest.mark.situation("tree.submodule_unpushed", "warn", where="lib")
def submodule_unpushed_detached(repo: Any) -> None:
    folder = submodule(repo)
    repo.git("-C", str(folder), "switch", "-q", "--detach")
    (folder / "l.c").write_text("int m;\n")
    repo.git("-C", str(folder), "commit", "-qam", "more")


@pytest.mark.situation("tree.submodule_unpushed", "warn", where="lib")
def submodule_unpushed(repo: Any) -> None:
    submodule_moved(repo)
    repo.commit("move library")


@pytest.mark.situation("tree.submodule_unpushed", "block", where="lib", portable=True)
def submodule_unpushed_portable(repo: Any) -> None:
    submodule_unpushed(repo)


def test_situation(situation: Any, settle: Any) -> None:
    settle(situation)


def test_stashes_are_mended_one_after_another(repository: Any, judge: Any, printed: Any, mend: Any) -> None:
    source(repository)
    for number in range(3):
        stashed(repository, "-m", f"idea number {number} for the export limit", text=f"A = {number + 5}\n")
    commands = printed(judge(repository.root, base="HEAD", portable=True), "stash.local_only")
    assert len(commands) == 3
    for command in commands:
        mend(repository.root, command)
    assert repository.git("stash", "list") == ""
    texts = {repository.git("show", f"{name}:src/a.py") for name in repository.git("branch", "--format=%(refname:short)", "--list", "stash-*").split()}  # fmt: skip
    assert texts == {"A = 5", "A = 6", "A = 7"}


def test_a_stash_that_the_packet_does_not_name_is_named_by_a_note(
    repository: Any, judge: Any, printed: Any, mend: Any
) -> None:  # fmt: skip
    source(repository)
    for number in range(13):
        stashed(repository, "-m", f"idea number {number} for the export limit", text=f"A = {number + 5}\n")
    state = judge(repository.root, base="HEAD")
    assert state.blocking == ("stash.unlisted",)
    for command in printed(state, "stash.unlisted"):
        mend(repository.root, command.replace("passdown ", f"{sys.executable} -m passdown ", 1))
    assert "stash.unlisted" not in judge(repository.root, base="HEAD").blocking


def test_untracked_files_of_a_stash_are_told(repository: Any, findings: Any) -> None:
    source(repository)
    repository.write("new.py", "A = 1\n")
    stashed(repository, "-u")
    assert ["untracked files included" in f.detail for f in findings(repository.root) if f.code == "stash.no_note"] == [
        True
    ]
