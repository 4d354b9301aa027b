"""Paths as agents write them, made repository-relative: absolute, relative to a cwd, in a worktree, Windows, msys."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from passdown.model.pattern import lazy_pattern

MAX_PATH = 4096
MAX_FOLDERS = 256
OUTSIDE = "(outside)/"
"""What stands before the last part of a folder that lies outside of the repository."""

_DRIVE = lazy_pattern(r"^([A-Za-z]):[/\\]")
_MSYS = lazy_pattern(r"^/([A-Za-z])/(?=[^/])")
_WSL = lazy_pattern(r"^/mnt/([A-Za-z])/")


def posix_path(path: str) -> str:
    """Return a path with forward slashes: `C:\\x`, `\\\\?\\C:\\x`, `/c/x` and `/mnt/c/x` all become `c:/x`."""
    path = path.removeprefix("file://")
    if path.startswith(("\\\\?\\", "//?/")):
        path = path[4:]
    if _DRIVE.match(path) or ("\\" in path and "/" not in path):
        path = path.replace("\\", "/")
    if match := _DRIVE.match(path):
        return f"{match[1].lower()}:/{path[3:]}"
    if match := _WSL.match(path) or _MSYS.match(path):
        return f"{match[1].lower()}:/{path[match.end() :]}"
    return path


def is_absolute(path: str) -> bool:
    """Say whether a path in posix form does not depend on a cwd."""
    return path.startswith(("/", "~")) or path[1:3] == ":/"


def _folded(path: str) -> str:
    return path.lower() if path[1:3] == ":/" else path


@lru_cache(maxsize=256)
def _absolute(path: str, cwd: str) -> str:
    path = posix_path(path)
    if not is_absolute(path):
        path = posixpath.join(posix_path(cwd), path)
    return posixpath.normpath(path) if path else ""


class Places:
    """The absolute roots that all mean this repository: its own, its worktrees', and the roots of its sessions.

    `identities` are those of commands by their text and folder, forgotten when a root is added.
    A session of another device lies under another root: the part of its cwd up to the folder called like the
    repository, else the cwd itself.
    """

    def __init__(self, root: str, worktrees: Iterable[str] = ()) -> None:
        self._name = posix_path(root).rstrip("/").rpartition("/")[2]
        self._roots: list[str] = []
        self._beginnings: list[tuple[str, int]] = []
        self._folders: dict[str, str] = {}
        self.identities: dict[tuple[str, str], Any] = {}
        for path in (root, *worktrees):
            self._add(path)

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots known so far, the longest first."""
        return tuple(self._roots)

    def _add(self, path: str) -> None:
        clean = posixpath.normpath(posix_path(path)) if path else ""
        if clean and clean not in {"/", "."} and clean not in self._roots and len(self._roots) < 64:
            self._roots.append(clean)
            self._roots.sort(key=len, reverse=True)
            self._beginnings = [(f"{_folded(root)}/", len(root) + 1) for root in self._roots]
            self._folders.clear()
            self.identities.clear()

    def learn(self, cwd: str) -> None:
        """Take note of a session's working directory: a root of its own unless it lies inside a known one."""
        clean = posixpath.normpath(posix_path(cwd)) if cwd else ""
        if not clean or not is_absolute(clean) or self._inside(clean) is not None:
            return
        pieces = clean.split("/")
        if self._name in pieces[1:]:
            clean = "/".join(pieces[: len(pieces) - pieces[::-1].index(self._name)])
        self._add(clean)

    def _inside(self, path: str) -> str | None:
        folded = f"{_folded(path)}/"
        for beginning, length in self._beginnings:
            if folded.startswith(beginning):
                return path[length:]
        return None

    def absolute(self, path: str, cwd: str) -> str:
        """Return a path joined to the directory it is relative to, without `..` and `.`."""
        return _absolute(path[:MAX_PATH], cwd[:MAX_PATH])

    def relative(self, path: str, cwd: str = "") -> str | None:
        """Return the repository-relative form, empty for the root itself, None for a path outside the repository."""
        if not path or "\x00" in path or "\n" in path:
            return None
        full = self.absolute(path, cwd)
        if not is_absolute(full):
            inside: str | None = full
        else:
            inside = self._inside(full)
        if inside is None or inside == ".." or inside.startswith("../"):
            return None
        return "" if inside == "." else inside

    def folder(self, cwd: str) -> str:
        """Return a working directory for display and identity: relative, or its last part when it lies outside."""
        if not cwd:
            return ""
        known = self._folders.get(cwd)
        if known is None:
            inside = self.relative(cwd)
            known = f"{OUTSIDE}{posix_path(cwd).rstrip('/').rpartition('/')[2]}" if inside is None else inside
            if len(self._folders) < MAX_FOLDERS and len(cwd) <= MAX_PATH:
                self._folders[cwd] = known
        return known
