"""What only this clone has: commits that no branch, or no remote, leads to. Nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded
from passdown.io.git import try_git
from passdown.model.path import decode_path, encode_path
from passdown.repository.branches import read_branches

BRANCHES = 100
"""Most branches that are counted one by one."""

_LFS = b"version https://git-lfs"
_POINTER = 1024


class Ahead(NamedTuple):
    """A branch with commits that no remote has, and how many."""

    name: str
    commits: int


def branches_ahead(root: Path) -> tuple[Ahead, ...]:
    """List the local branches with commits that no remote-tracking ref leads to, by name."""
    if not _count(root, "--branches"):
        return ()
    tips = [(branch.name, branch.tip) for branch in read_branches(root)[:BRANCHES]]
    found = (Ahead(name, _count(root, tip)) for name, tip in tips)
    return tuple(ahead for ahead in found if ahead.commits)


def unpublished(root: Path, commit: str) -> int:
    """Count the commits below `commit` that no remote-tracking ref leads to."""
    return _count(root, commit) if commit else 0


def held_by(root: Path, commits: Iterable[str], refs: Literal["branches", "remotes"]) -> frozenset[str]:
    """Return those of the commits that some local branch (or tag), or some remote-tracking ref, leads to."""
    asked = list(dict.fromkeys(commits))
    if not asked:
        return frozenset()
    others = ("--branches", "--tags") if refs == "branches" else ("--remotes",)
    code, output, _ = try_git(root, "rev-list", *asked, "--not", *others)
    return frozenset(asked) - frozenset(output.decode().split()) if code == 0 else frozenset()


def unfetched_lfs(root: Path) -> tuple[int, tuple[str, ...]]:
    """Return how many tracked files Git LFS keeps elsewhere, and those that are only pointers here, in path order."""
    code, names, _ = try_git(root, "ls-files", "-z")
    if code != 0 or not names:
        return 0, ()
    code, output, _ = try_git(root, "check-attr", "-z", "--stdin", "filter", stdin=names)
    fields = output.split(b"\0") if code == 0 else []
    kept = [path for path, value in zip(fields[::3], fields[2::3], strict=False) if value == b"lfs"]
    return len(kept), tuple(decode_path(path) for path in kept if _is_pointer(root, path))


def is_unpublished_submodule(root: Path, path: str, commit: str) -> bool:
    """Say whether a submodule's commit is on none of its remotes, as its checkout here tells."""
    folder = root / os.fsdecode(encode_path(path))
    if not commit or folder.is_symlink() or not os.path.lexists(folder / ".git"):
        return False
    code, output, _ = try_git(folder, "rev-list", "-n", "1", commit, "--not", "--remotes")
    return code == 0 and bool(output.strip())


def _is_pointer(root: Path, path: bytes) -> bool:
    try:
        return read_bounded(root / os.fsdecode(path), _POINTER).startswith(_LFS)
    except (OSError, FormatError, UnsafeError):  # larger than any pointer, or no file
        return False


def _count(root: Path, start: str) -> int:
    code, output, _ = try_git(root, "rev-list", "--count", start, "--not", "--remotes")
    return int(output) if code == 0 and output.strip().isdigit() else 0
