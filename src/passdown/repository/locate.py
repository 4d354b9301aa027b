"""Where a repository's working tree, git folder and shared git folder are."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from passdown.errors import GitError
from passdown.io.git import ask_git
from passdown.repository.plain import plain_root
from passdown.repository.questions import LAYOUT

_NO_REPOSITORY = ("not a git repository (or any", "must be run in a work tree")
_LINE_FEED = "a folder's name holds a line feed"
_EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


class Layout(Struct, frozen=True):
    """A repository's folders, all absolute. In a bare repository `root` is the git folder itself.

    `git_dir` is this worktree's own, `common_dir` is shared by all worktrees. `empty_tree` is the id of a tree
    without files in this repository's hash.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    bare: bool
    shallow: bool
    empty_tree: str


def locate(folder: Path) -> Path | None:
    """Return the root of the working tree that `folder` lies in; None for a plain folder or a bare repository.

    Raises `GitError` when there is a repository that git refuses to read (owned by somebody else, broken).
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises where a parent folder is closed to us
        return None
    if plain := plain_root(folder):
        return Path(plain)
    code, output, message = ask_git(folder, *LAYOUT)
    if code == 0:
        parts = output.removesuffix(b"\n").split(b"\n")
        if len(parts) != 6:
            raise _refusal(folder, _LINE_FEED)
        root = Path(os.fsdecode(parts[5]))
        _check_own_tree(root)
        return root
    if any(part in message for part in _NO_REPOSITORY):
        return None
    raise _refusal(folder, message)


def read_layout(root: Path) -> Layout:
    """Return the folders of the repository at `root`. Raises `GitError` when there is none or git refuses it."""
    if plain := plain_root(root):
        top, git_dir = Path(plain), Path(plain, ".git")
        return Layout(top, git_dir, git_dir, bare=False, shallow=False, empty_tree=_EMPTY_TREE["sha1"])
    code, output, message = ask_git(root, *LAYOUT)
    parts = output.removesuffix(b"\n").split(b"\n")
    bare = parts[0] == b"true"
    if len(parts) != (5 if bare else 6) or (code != 0 and not bare):
        raise _refusal(root, message or _LINE_FEED)
    git_dir = Path(os.fsdecode(parts[3]))
    common_dir = Path(os.path.realpath(root / os.fsdecode(parts[4])))
    top = git_dir if bare else Path(os.fsdecode(parts[5]))
    if not bare:
        _check_own_tree(top)
    return Layout(top, git_dir, common_dir, bare, parts[1] == b"true", _EMPTY_TREE[parts[2].decode()])


def _check_own_tree(root: Path) -> None:
    # core.worktree in a repository's own configuration can point at somebody's home folder.
    if not os.path.lexists(root / ".git"):
        raise GitError(
            "the repository's core.worktree points to a folder without .git; not reading it",
            where=str(root),
            next_step="Unset core.worktree, or work in a clone.",
        )


def _refusal(folder: Path, message: str) -> GitError:
    owned = re.search(r"dubious ownership in repository at '(.*)'", message)
    if owned:
        return GitError(
            "git refuses the repository because somebody else owns it",
            where=owned[1],
            next_step=f"If you trust it: git config --global --add safe.directory '{owned[1]}'",
        )
    return GitError(
        f"git cannot read the repository: {message}", where=str(folder), next_step="Try `git status` there."
    )
