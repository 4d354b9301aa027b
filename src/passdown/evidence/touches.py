"""Files the agents' tools touched, repository-relative whatever directory, worktree or system wrote the path."""

from __future__ import annotations

from msgspec import Struct

from passdown.evidence.places import Places
from passdown.model.evidence import FileTouch, InterruptedEdit, Source
from passdown.model.session import Action, ToolCall, ToolResult

MAX_TOUCHES = 2000
MAX_PENDING = 512
CHANGES: frozenset[Action] = frozenset({"edit", "write", "delete"})


class _Edit(Struct, frozen=True, gc=False):
    number: int
    action: Action
    paths: tuple[str, ...]
    cwd: str
    at: int | None
    source: Source
    tool: str
    active: bool


class Edited(Struct, frozen=True, gc=False):
    """An edit that ended: the repository-relative paths, and whether it changed them."""

    paths: tuple[str, ...]
    action: Action
    changed: bool
    at: int | None
    active: bool


class Touches:
    """Collects edits of all sessions, and whether the last one was cut short."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._pending: dict[str, _Edit] = {}
        self._touched: dict[str, FileTouch] = {}
        self._succeeded: set[str] = set()
        self._number = 0
        self._last: _Edit | None = None
        self._cut_short = False
        self.outside = 0
        self.omitted = 0

    def call(self, event: ToolCall, cwd: str, source: Source) -> None:
        """Take note of an edit that begins."""
        self._number += 1
        where = self._places.absolute(event.cwd, cwd) if event.cwd else cwd
        edit = _Edit(self._number, event.action, event.paths[:500], where, event.at, source, event.tool, event.active)
        self._pending[event.call_id] = edit
        if event.active:
            self._last, self._cut_short = edit, True
        if len(self._pending) > MAX_PENDING:
            self._settle(self._pending.pop(next(iter(self._pending))), None)

    def result(self, event: ToolResult) -> Edited | None:
        """Return the edit that a result ends; None when it belongs to none."""
        edit = self._pending.pop(event.call_id, None)
        if edit is None:
            return None
        if self._last is not None and edit.number == self._last.number:
            self._cut_short = event.outcome in {"interrupted", "unknown", "running"}
        return self._settle(edit, event)

    def _settle(self, edit: _Edit, event: ToolResult | None) -> Edited:
        outcome = event.outcome if event is not None else "unknown"
        at = event.at if event is not None and event.at is not None else edit.at
        written = (*edit.paths, *(event.paths[:500] if event is not None else ()))
        paths = dict.fromkeys([self._relative(path, edit.cwd) for path in written if path])
        inside = tuple([path for path in paths if path])
        self.outside += len(paths) - len(inside)
        if edit.active and outcome != "rejected":
            for path in inside:
                self._touch(path, edit, at, failed=outcome == "failed" or outcome == "timeout")
        changed = outcome in {"ok", "unknown", "interrupted", "running"}
        return Edited(inside, edit.action, changed, at, edit.active)

    def _relative(self, path: str, cwd: str) -> str:
        return self._places.relative(path, cwd) or ""

    def _touch(self, path: str, edit: _Edit, at: int | None, *, failed: bool) -> None:
        known = self._touched.get(path)
        if known is None and len(self._touched) >= MAX_TOUCHES:
            self.omitted += 1
            return
        if not failed:
            self._succeeded.add(path)
        self._touched[path] = FileTouch(
            path=path,
            action=known.action if known is not None and failed else edit.action,
            times=known.times + 1 if known is not None else 1,
            failed=path not in self._succeeded,
            last_at=at if at is not None else known.last_at if known is not None else None,
            source=edit.source,
        )

    def end_session(self) -> list[Edited]:
        """Return, at the end of a session's log, the edits without a result: their files were touched all the same."""
        rest = [self._settle(edit, None) for edit in self._pending.values()]
        self._pending = {}
        return rest

    def finish(self) -> tuple[FileTouch, ...]:
        """Return the files in the order in which they were first touched."""
        return tuple(self._touched.values())

    def interrupted_edit(self) -> InterruptedEdit | None:
        """Return the last edit when it was cut short: its file may be half changed."""
        if self._last is None or not self._cut_short:
            return None
        for path in self._last.paths:
            if inside := self._relative(path, self._last.cwd):
                return InterruptedEdit(path=inside, tool=self._last.tool, source=self._last.source)
        return None
