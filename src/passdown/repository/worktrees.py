"""The other worktrees of this repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from passdown.errors import GitError, UnsafeError
from passdown.io.files import read_bounded
from passdown.io.git import run_git, try_git
from passdown.model.evidence import Worktree
from passdown.model.path import decode_path
from passdown.repository.locate import Layout
from passdown.repository.own import OwnPaths

KEPT = 100
"""Most worktrees that are listed."""

_LOOKED_INTO = 8
_TIMEOUT = 5.0


def read_worktrees(layout: Layout, own: OwnPaths) -> tuple[Worktree, ...]:
    """List the other worktrees, sorted by path. Costs a call only where there are any.

    `dirty` is None for one that is gone, that is not really this repository's, or beyond the eighth.
    """
    linked = layout.common_dir / "worktrees"
    if not linked.is_dir() or not any(linked.iterdir()):
        return ()
    found = [block for block in _blocks(layout.root) if b"bare" not in block]
    others = sorted((block for block in found if Path(os.fsdecode(block[b"worktree"])) != layout.root), key=_path)
    asked = 0
    listed = []
    for block in others[:KEPT]:
        path = Path(os.fsdecode(_path(block)))
        prunable = b"prunable" in block or not path.is_dir()
        looked = not prunable and asked < _LOOKED_INTO
        asked += looked
        listed.append(
            Worktree(
                path=str(path),
                name=decode_path(os.fsencode(path.name)),
                branch=decode_path(block.get(b"branch", b"")).removeprefix("refs/heads/"),
                head=block.get(b"HEAD", b"").decode(),
                dirty=_is_dirty(layout, path, own) if looked else None,
                prunable=prunable,
            )
        )
    return tuple(listed)


def is_locked(common_dir: Path, worktree: str) -> bool:
    """Say whether a worktree was locked, so that git keeps its entry even when its folder is gone."""
    link = os.fsencode(worktree) + b"/.git"
    for folder in sorted((common_dir / "worktrees").iterdir())[:KEPT]:
        try:
            if read_bounded(folder / "gitdir", 1 << 16).rstrip(b"\n") == link:
                return os.path.lexists(folder / "locked")
        except (OSError, UnsafeError):
            continue
    return False


def _blocks(root: Path) -> Iterator[dict[bytes, bytes]]:
    code, output, _ = try_git(root, "worktree", "list", "--porcelain", "-z")
    separator = b"\0"
    if code != 0:  # git before 2.36
        output, separator = run_git(root, "worktree", "list", "--porcelain"), b"\n"
    for block in output.split(separator * 2):
        fields = dict(_pair(line) for line in block.split(separator) if line)
        if b"worktree" in fields:
            yield fields


def _pair(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b" ")
    return name, value


def _path(block: dict[bytes, bytes]) -> bytes:
    return block[b"worktree"]


def _is_dirty(layout: Layout, path: Path, own: OwnPaths) -> bool | None:
    if not _belongs(layout, path):
        return None
    try:
        code, output, _ = try_git(
            path, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none",
            timeout=_TIMEOUT,
        )  # fmt: skip
    except GitError:
        return None
    if code != 0:
        return None
    return any(not own.holds(record[3:]) for record in output.split(b"\0") if record)


def _belongs(layout: Layout, path: Path) -> bool:
    # The list is only a file in the git folder: it may name any folder on this machine.
    link = path / ".git"
    if link.is_dir():
        return Path(os.path.realpath(link)) == layout.common_dir
    try:
        target = read_bounded(link, 1 << 16).decode("utf-8", "surrogateescape").strip()
    except (OSError, UnsafeError):
        return False
    folder = path / target.removeprefix("gitdir: ")
    return Path(os.path.realpath(folder)).parent == layout.common_dir / "worktrees"
