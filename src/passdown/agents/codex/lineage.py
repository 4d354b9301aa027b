"""History that a fork or a subagent copied from its parent.

A child's file begins with its own `session_meta`; then come the parent's rows, with the parent's `session_meta` among
them and with new timestamps, and only then the child's own turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from passdown.agents.codex.header import Meta
from passdown.agents.codex.store import lines_of, walk
from passdown.errors import UnsafeError
from passdown.model.pattern import lazy_pattern

_TURN = lazy_pattern(rb'"turn_id"\s*:\s*"([^"\\]{1,64})"')
_ID = lazy_pattern(r"[A-Za-z0-9_-]{8,64}")
_PAUSE = 1500
"""Copied rows are written at one go: a pause of this many milliseconds ends them where turns have no ids."""

ParentKind = Literal["", "fork", "subagent", "continuation"]


def parent_of(meta: Meta) -> tuple[str, ParentKind]:
    """Return the id of the session this one comes from, and how."""
    spawn = subagent_of(meta)
    if spawn is not None:
        thread = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
        parent = thread.get("parent_thread_id") if isinstance(thread, dict) else None
        return (parent if isinstance(parent, str) else "") or meta.parent_thread_id or "", "subagent"
    if meta.forked_from_id:
        return meta.forked_from_id, "fork"
    return (meta.parent_thread_id, "subagent") if meta.parent_thread_id else ("", "")


def subagent_of(meta: Meta) -> Any:
    """Return what `source.subagent` holds, None when this is nobody's subagent."""
    return meta.source.get("subagent") if isinstance(meta.source, dict) else None


class Lineage:
    """Tells copied rows from the session's own."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.id = ""
        self.parent = ""
        self.kind: ParentKind = ""
        self.copying = False
        self._owned = False
        self._turns_known = False
        self._parent_turns: set[str] | None = None
        self._last: int | None = None

    def begin(self, meta: Meta) -> None:
        """Take the session's own header."""
        self.id = meta.id or meta.session_id or ""
        self.parent, self.kind = parent_of(meta)

    def meet(self, meta: Meta) -> None:
        """Take a further header: a parent's one, in a child that has no turn of its own yet, begins copied history."""
        if self.kind and not self._owned and meta.id and meta.id != self.id:
            self.copying = True

    def turn(self, turn_id: str | None) -> bool:
        """Take a turn's beginning. Returns True when copied history ends with it."""
        if not turn_id or self._owned:
            return False
        own = self._is_own(turn_id)
        if own is None:
            return False
        self._turns_known = True
        self._owned = own
        if own and self.copying:
            self.copying = False
            return True
        return False

    def row(self, at: int | None) -> bool:
        """Take a row's time. Returns True when a pause says that copied history has ended."""
        before, self._last = self._last, at
        if self._turns_known or before is None or at is None or at - before < _PAUSE:
            return False
        self.copying, self._owned = False, True
        return True

    def _is_own(self, turn_id: str) -> bool | None:
        if not self.kind:
            return True
        born, began = _made(self.id), _made(turn_id)
        if born and began:
            return began >= born
        if self._parent_turns is None:
            self._parent_turns = _turns(self.path, self.parent)
        if self._parent_turns:
            return turn_id not in self._parent_turns
        return None if self.copying else True


def _made(identifier: str) -> str:
    """Return the 48 bits of time in a version 7 UUID, as hexadecimal digits that sort."""
    return identifier[:8] + identifier[9:13] if len(identifier) == 36 and identifier[14] == "7" else ""


def _turns(path: Path | None, parent: str) -> set[str]:
    found: set[str] = set()
    file = _parent_file(path, parent) if path is not None and _ID.fullmatch(parent) else None
    if file is None:
        return found
    try:
        for line in lines_of(file):
            data = line.data or b""
            if b'"task_started"' in data or b'"turn_context"' in data:
                found.update(turn.decode() for turn in _TURN.findall(data[:4096]))
    except (OSError, UnsafeError, UnicodeDecodeError):
        pass
    return found


def _parent_file(path: Path, parent: str) -> Path | None:
    root = next((folder.parent for folder in path.parents if folder.name in ("sessions", "archived_sessions")), None)
    folders = [root / "sessions", root / "archived_sessions"] if root else [path.parent]
    endings = (f"{parent}.jsonl", f"{parent}.jsonl.zst")
    return next((file for folder in folders for file in walk(folder) if file.name.endswith(endings)), None)
