"""The folders of a repository as most are: told from its own files, so that git need not be asked where it lies.

Whatever is not plain to see is left to git: a linked worktree, a bare or shallow clone, another hash, a tree set
elsewhere, a repository that somebody else owns.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded
from passdown.model.pattern import lazy_pattern

_CONFIG_LIMIT = 64 << 10
_HEAD = lazy_pattern(rb"(?:ref: refs/heads/[A-Za-z0-9_][A-Za-z0-9_./-]*|[0-9a-f]{40})\n")
_LINE = lazy_pattern(rb"[ \t]*(?:\[[A-Za-z0-9.-]+(?: \"[^\"\\\0]*\")?\]|[A-Za-z][A-Za-z0-9-]* = [^\\\"#;\0]*|)[ \t]*")
_SAID_ONCE = ((b"bare", b"\tbare = false\n"), (b"repositoryformatversion", b"\trepositoryformatversion = 0\n"))
_TOLD_BY_GIT = (b"worktree", b"extensions")
_ODD = ("commondir", "shallow", "head")
"""Names in the git folder that say that it is no plain one; `head` is there where case does not count."""


def plain_root(folder: Path) -> str:
    """Return the real path of `folder` when it is the root of a plain repository with the folder `.git`, else ''.

    What git would answer: the root is that, the git folder `.git` in it, shared by no other tree's, in SHA-1, complete.
    """
    root = os.path.realpath(folder)
    git_dir = f"{root}/.git"
    if not _is_own_folder(root) or not _is_own_folder(git_dir) or "\n" in root:
        return ""
    if any(os.path.lexists(f"{git_dir}/{name}") for name in _ODD):
        return ""
    if not all(os.access(f"{git_dir}/{name}", os.X_OK) for name in ("objects", "refs")):
        return ""
    try:
        head = read_bounded(Path(git_dir, "HEAD"), 1024)
        config = read_bounded(Path(git_dir, "config"), _CONFIG_LIMIT)
    except (OSError, UnsafeError, FormatError):
        return ""
    return root if _HEAD.fullmatch(head) and _is_plain(config) else ""


def _is_own_folder(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _is_plain(config: bytes) -> bool:
    """Say whether git reads these settings without complaint and takes the tree to be around its folder."""
    lowered = config.lower()
    if any(lowered.count(word) != 1 or line not in lowered for word, line in _SAID_ONCE):
        return False
    return not any(word in lowered for word in _TOLD_BY_GIT) and all(map(_LINE.fullmatch, config.split(b"\n")))
