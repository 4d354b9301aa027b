"""From OpenCode's rows to events: a message's record, then its parts, then what is known once it is complete."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.opencode.answers import Answers
from passdown.agents.opencode.records import BAD, MESSAGE, PART, TODOS, MessageInfo, Part, SessionInfo, whole
from passdown.agents.opencode.row import Row
from passdown.agents.opencode.tools import plan_of
from passdown.io.jsonl import salvage
from passdown.model.session import AnyEvent, Origin, PlanUpdate, Unknown, UserMessage

_SHELL = "The following tool was executed by the user"
"""What OpenCode writes in the user's name before it runs a person's `!command`."""


class Messages:
    """Turns rows into events, in their order. One message is under way at a time."""

    def __init__(self, session: SessionInfo) -> None:
        self.ignored: Counter[str] = Counter()
        self.answers = Answers(session.directory or "", self.ignored)
        self._child = bool(session.parent_id)
        self._revert = session.revert
        self._info: MessageInfo | None = None
        self._parts: list[Part] = []
        self._ordinal = 0
        self._message_base: dict[str, Any] = {}

    def add(self, row: Row) -> list[AnyEvent]:
        """Return the events of one row."""
        self._ordinal += 1
        if row.kind == "message":
            return self.close() + self._open(row)
        if row.kind == "part":
            return self._part(row)
        if row.kind == "todo":
            return self._todo(row)
        return [Unknown(record="rows", reason=row.reason, length=row.length, **self._here())]

    def _here(self, identifier: str = "") -> dict[str, Any]:
        """The fields all events of this row share; a row's place is its ordinal."""
        active = self._message_base.get("active", True) if not identifier else self._is_active(identifier)
        return {"offset": self._ordinal, "line": self._ordinal, "active": active}

    def _is_active(self, identifier: str) -> bool:
        revert = self._revert
        if revert is None or not revert.message_id or identifier < revert.message_id:
            return True
        return identifier == revert.message_id and bool(revert.part_id)

    def _decode(self, row: Row, decoder: Any) -> tuple[Any, AnyEvent | None]:
        """Return a row's record, or None and the event that says why there is none."""
        if row.data is None:
            return None, Unknown(record=row.kind, reason="line_too_long", length=row.length, **self._here())
        try:
            return decoder.decode(row.data), None
        except BAD:
            mended = salvage(row.data)
        reason: Any = "bad_shape" if mended else "bad_json"
        try:
            return decoder.decode(mended[0] if mended else b""), None
        except BAD:
            return None, Unknown(record=row.kind, reason=reason, length=row.length, **self._here())

    def _open(self, row: Row) -> list[AnyEvent]:
        self._message_base = {"active": True}
        info, trouble = self._decode(row, MESSAGE)
        self._info = info if info is not None else MessageInfo(role="?")
        if info is None:
            self._info.id = row.id
            return [trouble] if trouble is not None else []
        info.id = info.id or row.id
        created = whole(info.time.created) if info.time else None
        self._message_base = self._here(info.id or "") | {"at": created}
        events = self.answers.prunes_before(created, self._message_base)
        if info.role == "assistant":
            return events + self.answers.open(info, self._message_base)
        self.answers.leave()
        if info.role != "user" or bytes(info.parts):
            # Before the storage tree had parts, a message carried them itself.
            record = f"message/{info.role}" if info.role != "user" else "message with inline parts"
            events.append(Unknown(record=record[:80], length=row.length, **self._message_base))
        return events

    def _part(self, row: Row) -> list[AnyEvent]:
        part, trouble = self._decode(row, PART)
        if part is None:
            return [trouble] if trouble is not None else []
        part.id = part.id or row.id
        role = self._info.role if self._info is not None else "?"
        if role == "user":
            if len(self._parts) < 10_000:
                self._parts.append(part)
            return []
        base = self._here() | {"at": self._message_base.get("at")}
        revert = self._revert
        if self._info is not None and revert is not None and revert.part_id and self._info.id == revert.message_id:
            base["active"] = (part.id or "") < revert.part_id
        if role != "assistant" and part.type == "text":
            return [Unknown(record="part/text", reason="bad_shape", length=row.length, **base)]
        return self.answers.part(part, base, row.length)

    def _todo(self, row: Row) -> list[AnyEvent]:
        events = self.close()
        self._message_base = {"active": True}
        todos, trouble = self._decode(row, TODOS)
        if todos is None:
            return events + ([trouble] if trouble is not None else [])
        items = plan_of(todos)
        if items != self.answers.plan:
            self.answers.plan = items
            events.append(PlanUpdate(items=items, **self._here()))
        return events

    def close(self) -> list[AnyEvent]:
        """Return what is known now that the message under way is complete."""
        info, self._info = self._info, None
        if info is None:
            return []
        if info.role == "assistant":
            return self.answers.close()
        parts, self._parts = self._parts, []
        return self._user(parts)

    def finish(self) -> list[AnyEvent]:
        """Return the last events of the session."""
        events = self.close()
        return events + self.answers.prunes_before(None, {"offset": self._ordinal, "line": self._ordinal})

    def _user(self, parts: list[Part]) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        own: list[str] = []
        images = 0
        for part in parts:
            if part.type == "text" and part.text:
                if part.synthetic and part.text.startswith(_SHELL):
                    self.answers.shell_follows = True
                elif part.synthetic:
                    events.append(self._said(part.text, "injected"))
                elif part.ignored:
                    self.ignored["text/ignored"] += 1
                else:
                    own.append(part.text)
            elif part.type == "subtask":
                # A command that runs as a subagent: its prompt is the command's template, filled in.
                events.append(self._said(f"/{part.command}" if part.command else part.prompt or "", "command"))
            elif part.type == "compaction":
                self.answers.compaction_asked(auto=bool(part.auto))
            else:
                images += part.type == "file" and (part.mime or "").startswith("image/")
                self.ignored[f"user/{part.type}"] += 1
        if own or images:
            text = "\n".join(own)
            events.insert(0, self._said(text, "subagent" if self._child else "human", images))
        return events

    def _said(self, text: str, origin: Origin, images: int = 0) -> UserMessage:
        return UserMessage(text=text, origin=origin, images=images, **self._message_base)
