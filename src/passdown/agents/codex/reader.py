"""From the lines of a rollout to events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from passdown.agents.codex import actions, course, messages
from passdown.agents.codex import events as ev
from passdown.agents.codex import items as it
from passdown.agents.codex import records as r
from passdown.agents.codex.header import Meta
from passdown.agents.codex.loose import loose_row
from passdown.agents.codex.sparing import MARK, Sparing
from passdown.agents.codex.state import Events, State
from passdown.io.jsonl import Line, pull_apart
from passdown.model.session import AnyEvent, SessionEnd, SessionStart, Unknown, Unread

_EARLY = 1000


class Reader:
    """Reads one rollout. `dropped` are the byte ranges that the session took back, known from an earlier pass.

    Where nobody reads the text of a result (`unread`), it may be missing, and tokens may be told together at the end;
    then `TakenBackError` is raised where the session takes something back.
    """

    def __init__(
        self,
        session_id: str,
        path: Path | None = None,
        dropped: list[tuple[int, int]] | None = None,
        unread: Unread | None = None,
    ) -> None:
        self.state = State(session_id, path, dropped or [])
        self.state.sparing = unread is not None
        self._sparing = Sparing(self.state, unread) if unread else None
        self.records = 0
        self._early: list[AnyEvent] = []
        self._begun = False

    def read(self, lines: Iterable[Line]) -> Iterator[AnyEvent]:
        """Yield the events of the lines, first a `SessionStart`, last a `SessionEnd`."""
        state, dialogue, decode, handlers = self.state, self.state.dialogue, r.ROWS.decode, _HANDLERS
        lineage, place, events = state.lineage, state.place, _NOTHING
        dropped, spared_rows = state.dropped, self._sparing.rows if self._sparing else {}
        for line in lines:
            data, place.offset, place.line = line.data, line.offset, line.number
            place.length, place.complete = line.length, line.complete
            if not data and data is not None:
                continue
            self.records += 1
            if spared_rows and data and (spare := spared_rows.get(data[MARK])) and state.started and not lineage.kind:
                spared = spare(line)
                if spared:
                    yield from dialogue.hold(spared) if dialogue.waiting else spared
                if spared is not None:
                    continue
            try:
                row = decode(data)  # type: ignore[arg-type]  # None, a line over the cap, is a TypeError
            except (msgspec.MsgspecError, RecursionError, TypeError):
                events = self._odd(line)
            else:
                place.when = row.timestamp
                payload = row.payload
                if lineage.kind:
                    self._leave_parent(payload)
                if dropped:
                    place.active = not any(start <= place.offset < end for start, end in dropped)
                events = handlers[type(payload)](state, payload)
            if not self._begun and (events or dialogue.waiting):
                first, events = self._begin(events)
                yield from first
            if events:
                yield from dialogue.hold(events) if dialogue.waiting else events
        yield from self._finish()

    # --- what is not a row -------------------------------------------------------------------------------------------

    def _odd(self, line: Line) -> Events:
        data = line.data
        if data is None:
            return [self._unknown(line, "line_too_long")]
        if data.isspace():
            self.records -= 1
            return _NOTHING
        try:
            return self._loose(data, line)
        except (msgspec.DecodeError, RecursionError):
            return self._salvaged(data, line)

    def _salvaged(self, data: bytes, line: Line) -> Events:
        documents, left = pull_apart(data)
        events: list[AnyEvent] = []
        for document in documents:
            try:
                events += self._loose(document, line)
            except (msgspec.DecodeError, RecursionError):
                events.append(self._unknown(line, "bad_json"))
        if left:
            events.append(self._unknown(line, "bad_json" if line.complete else "torn_line"))
        return events

    def _loose(self, data: bytes, line: Line) -> Events:
        """Take a line that is JSON but fits no typed row at once. Raises `msgspec.DecodeError` when it is none."""
        found = loose_row(data)
        if isinstance(found, str):
            if not found.startswith("?"):
                self.state.ignored[found] += 1
                return _NOTHING
            return [self._unknown(line, "bad_shape" if found.startswith("?!") else "unknown_type", found.lstrip("?!"))]
        self.state.place.when = found.timestamp
        if self.state.lineage.kind:
            self._leave_parent(found.payload)
        return _HANDLERS[type(found.payload)](self.state, found.payload)

    def _unknown(
        self,
        line: Line,
        reason: Literal["unknown_type", "bad_json", "torn_line", "line_too_long", "bad_shape"],
        record: str = "",
    ) -> Unknown:
        copied = self.state.lineage.copying
        return Unknown(
            offset=line.offset, line=line.number, record=record[:100], reason=reason, length=line.length, copied=copied
        )

    # --- the ends ----------------------------------------------------------------------------------------------------

    def _leave_parent(self, payload: Any) -> None:
        state, lineage = self.state, self.state.lineage
        starts = isinstance(payload, ev.TurnStarted | r.Turn)
        if (starts and lineage.turn(payload.turn_id)) or (lineage.copying and lineage.row(state.place.at())):
            state.model, state.stopped_tool = "", False
            state.tools.begin_turn()
        state.place.copied = lineage.copying

    def _begin(self, events: Events) -> tuple[Events, Events]:
        """Return the session's start with the damage before its header, and the events that come after it.

        Both are empty while there is only damage.
        """
        if events and all(isinstance(event, Unknown) for event in events) and len(self._early) < _EARLY:
            self._early += events
            return _NOTHING, _NOTHING
        self._begun = self.state.started = True
        early, self._early = self._early, []
        own = next((event for event in events if isinstance(event, SessionStart)), None)
        if own is not None:  # on a torn line it may stand behind others
            return [own, *early], [event for event in events if event is not own]
        at = next((event.at for event in events if event.at is not None), None)
        return [SessionStart(session_id=self.state.session_id, agent="codex", at=at), *early], events

    def _finish(self) -> Events:
        state = self.state
        size = state.place.offset + state.place.length + state.place.complete
        left = self._sparing.finish() if self._sparing else _NOTHING
        events = [*state.dialogue.settle(), *state.tools.flush(), *left]
        ignored = dict(sorted(state.ignored.items()))
        end = SessionEnd(offset=size, records=self.records, bytes=size, ignored=ignored)
        return [*(() if self._begun else self._begin(_NOTHING)[0]), *events, end]


_NOTHING: Events = ()

_ITEMS: dict[str, Callable[[State, ev.Item], Events]] = {
    "UserMessage": messages.item_user,
    "AgentMessage": messages.item_agent,
    "Plan": actions.item_plan,
    "CommandExecution": actions.item_tool,
    "FileChange": actions.item_tool,
    "McpToolCall": actions.item_tool,
    "DynamicToolCall": actions.item_tool,
    "WebSearch": actions.item_tool,
    "Extension": actions.item_tool,
    "ImageView": actions.item_tool,
    "CollabAgentToolCall": actions.item_spawn,
    "SubAgentActivity": actions.item_spawn,
    "ContextCompaction": course.opaque_compaction,
}


def _item(state: State, event: ev.ItemCompleted) -> Events:
    kind = event.item.type
    if handler := _ITEMS.get(kind):
        return handler(state, event.item)
    if kind in r.IGNORED_ITEMS:
        state.ignored[f"item_completed/{kind}"] += 1
        return _NOTHING
    return [Unknown(record=f"item_completed/{kind}"[:100], length=state.place.length, **state.place.stamp())]


_HANDLERS: dict[type, Callable[[State, Any], Events]] = {
    Meta: course.meta,
    r.Turn: course.turn,
    r.Summary: course.compaction,
    r.UsageRecord: course.usage_record,
    r.World: course.passed_over,
    it.Message: messages.message,
    it.Reasoning: messages.reasoning,
    it.AgentLetter: messages.letter,
    it.FunctionCall: actions.function_call,
    it.CustomCall: actions.custom_call,
    it.FunctionOutput: actions.output,
    it.CustomOutput: actions.output,
    it.ShellCall: actions.shell_call,
    it.WebSearch: actions.web_search,
    it.ImageCall: actions.image_call,
    it.ToolSearch: actions.tool_search,
    it.ToolSearchOutput: actions.tool_search_output,
    it.OpaqueCompaction: course.opaque_compaction,
    it.ContextCompaction: course.opaque_compaction,
    it.AdditionalTools: course.passed_over,
    it.GhostSnapshot: course.passed_over,
    ev.UserSaid: messages.user_said,
    ev.AgentSaid: messages.agent_said,
    ev.ReviewStarted: messages.review,
    ev.TokenCount: course.tokens,
    ev.TurnStarted: course.turn_started,
    ev.TurnStartedNew: course.turn_started,
    ev.TurnDone: course.turn_done,
    ev.TurnDoneNew: course.turn_done,
    ev.TurnAborted: course.turn_aborted,
    ev.TurnUsage: course.turn_usage,
    ev.RolledBack: course.rolled_back,
    ev.Compacted: course.opaque_compaction,
    ev.Named: course.named,
    ev.ExecEnd: actions.exec_end,
    ev.PatchEnd: actions.patch_end,
    ev.McpEnd: actions.mcp_end,
    ev.SpawnEnd: actions.spawned,
    ev.AgentActivity: actions.activity,
    ev.ItemCompleted: _item,
}
