"""Where things happen: the workspace's root as a run itself names it, and paths relative to it."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable

from passdown.evidence.places import is_absolute, posix_path
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionStart, ToolCall, ToolResult, WorkspaceChange

MAX_PATH = 1024
MAX_KNOWN = 20_000
_CD = lazy_pattern(r"(?:^|[\n;&|(]\s*)cd\s+(?:--\s+)?['\"]?(/[^\s;&|'\"()]+)")
_SHOWN = lazy_pattern(r"\[File: (/[^\n(\]]+?) \(|\(Current directory: (/[^\n)]+)\)")
_SYSTEM = lazy_pattern(r"~|(?:/private)?/tmp/|/(?:dev|etc|usr|var|bin|proc|opt|lib|sys)/")
_PLAIN = lazy_pattern(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*")
"""A relative path that is already in its normal form."""
_HOLDERS = frozenset({"/workspace", "/root", "/home", "/repos"})
_DEPTH = {"workspace": 2, "home": 3, "Users": 3, "root": 2, "data": 2, "repos": 2, "src": 1, "mnt": 3, "projects": 2}
"""How many parts of a path name the work where its first part only holds works of many."""

_INNER = frozenset({"src", "lib", "tests", "test", "docs", "app", "packages", "public"})
"""Folders of a work, never a work by themselves, right under `/workspace`."""


def workspace_root(events: Iterable[AnyEvent]) -> str:
    """Return the absolute folder that a run works in, empty when nothing names it.

    It is what the session says at its start; else the folder that most of its calls name.
    """
    kept = list(events)
    said = next((clean for event in kept if (clean := _told(event))), "")
    if said and said not in _HOLDERS:
        return said
    votes: Counter[str] = Counter()
    for event in kept:
        if isinstance(event, ToolCall):
            _vote(votes, event)
        elif isinstance(event, ToolResult) and "(" in (shown := event.text[:400]):
            for found in _SHOWN.finditer(shown):
                votes[_work(found[1] or found[2])] += 1
    votes.pop("", None)
    if said:
        return _narrowed(said, votes)
    return max(votes, key=lambda folder: (votes[folder], folder)) if votes else ""


def _told(event: AnyEvent) -> str:
    """Return the folder that a session says it is in, empty when it says none that could be a work's."""
    if not isinstance(event, SessionStart | WorkspaceChange) or not event.cwd:
        return ""
    clean = posixpath.normpath(posix_path(event.cwd))
    return clean if is_absolute(clean) and clean not in ("/", "~") else ""


def _narrowed(cwd: str, votes: Counter[str]) -> str:
    """Return the work inside a folder that only holds works (`/workspace`), when the calls name just one."""
    inside = [folder for folder in votes if folder.startswith(f"{cwd}/")]
    return inside[0] if len(inside) == 1 and votes[inside[0]] >= 3 else cwd


def _vote(votes: Counter[str], call: ToolCall) -> None:
    if call.cwd and is_absolute(cwd := posix_path(call.cwd[:MAX_PATH])):
        votes[_work(cwd, folder=True)] += 1
    for path in call.paths[:4]:
        if path and is_absolute(clean := posix_path(path[:MAX_PATH])):
            votes[_work(clean)] += 1
    if "cd " in call.command:
        for found in _CD.finditer(call.command, 0, 4000):
            votes[_work(found[1], folder=True)] += 2


def _work(path: str, *, folder: bool = False) -> str:
    """Return the folder of the work that a path seems to lie in, empty for places that hold none."""
    clean = posixpath.normpath(path[:MAX_PATH])
    if clean == "/" or _SYSTEM.match(f"{clean}/"):
        return ""
    parts = clean.split("/")
    if parts[0]:  # a drive
        return "/".join(parts[:4])
    depth = _DEPTH.get(parts[1], 1)
    found = "/" + "/".join(parts[1 : depth + 1])
    last = found.rpartition("/")[2]
    if parts[1] == "workspace" and last in _INNER:
        return "/workspace"
    if not folder and len(parts) <= depth + 1 and "." in last[1:] and not last.startswith("."):
        return posixpath.dirname(found) if depth > 1 else ""  # a file
    return found


class Places:
    """Turns paths as they are written into workspace-relative ones; those outside stay absolute."""

    __slots__ = ("_fold", "_known", "root")

    def __init__(self, root: str) -> None:
        clean = posixpath.normpath(posix_path(root[:MAX_PATH])) if root else ""
        self.root = "" if clean in (".", "/") else clean
        self._fold = self.root[1:3] == ":/"
        self._known: dict[tuple[str, str], str] = {}

    def resolve(self, path: str, cwd: str) -> str:
        """Return `path`, named in the absolute directory `cwd`: relative to the root (`.` for itself) when inside."""
        key = (path, cwd)
        known = self._known.get(key)
        if known is None:
            known = self._resolve(path[:MAX_PATH], cwd)
            if len(self._known) < MAX_KNOWN:
                self._known[key] = known
        return known

    def _resolve(self, path: str, cwd: str) -> str:
        if not path or path[0] in "$`<" or "://" in path:
            return path
        if cwd == self.root and _PLAIN.fullmatch(path):
            return path
        full = self.absolute(path, cwd)
        if not self.root:
            return full
        folded, root = (full.lower(), self.root.lower()) if self._fold else (full, self.root)
        if folded == root:
            return "."
        return full[len(root) + 1 :] if folded.startswith(f"{root}/") else full

    def absolute(self, path: str, cwd: str) -> str:
        """Return the absolute form of a path; relative it stays where no root is known."""
        clean = posix_path(path)
        if not is_absolute(clean):
            clean = posixpath.join(cwd or self.root, clean)
        return posixpath.normpath(clean)

    def inside(self, path: str) -> bool:
        """Say whether a resolved path lies in the workspace."""
        return bool(path) and path[0] not in "/~$`<" and path[1:3] != ":/" and not path.startswith("../")
