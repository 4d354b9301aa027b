"""Rows about the session itself: its header, turns, models, tokens and compactions."""

from __future__ import annotations

from passdown.agents.codex import events as ev
from passdown.agents.codex import items as it
from passdown.agents.codex import records as r
from passdown.agents.codex.header import Git, Meta
from passdown.agents.codex.lineage import subagent_of
from passdown.agents.codex.meter import Spent
from passdown.agents.codex.state import Events, State
from passdown.model.session import (
    AnyEvent,
    Compaction,
    Interruption,
    ModelChange,
    SessionStart,
    TakenBackError,
    Title,
    Usage,
)


def meta(state: State, header: Meta) -> Events:
    """The session's header; a later one is a resume, or a parent's."""
    git = header.git or Git()
    place = (git.branch or "", git.commit_hash or "")
    if state.started:
        state.lineage.meet(header)
        state.ignored["session_meta (repeat)"] += 1
        own = header.id == state.lineage.id and not state.lineage.copying
        return state.moved(header.cwd or "", place) if own else ()
    lineage = state.lineage
    lineage.begin(header)
    state.started = True
    state.subagent = subagent_of(header) is not None or lineage.kind == "subagent"
    state.paginated = header.history_mode == "paginated"
    state.cwd, state.git = header.cwd or "", place
    stamp = state.place.stamp()
    if stamp["at"] is None:
        stamp["at"] = state.place.parse(header.timestamp)
    start = SessionStart(
        session_id=lineage.id or state.session_id, agent="codex", agent_version=header.cli_version or "",
        cwd=state.cwd, branch=place[0], commit=place[1], parent_id=lineage.parent, parent_kind=lineage.kind,
        originator=header.originator or "", **stamp,
    )  # fmt: skip
    return [start]


def turn(state: State, context: r.Turn) -> Events:
    """What holds for the turn that begins."""
    return state.moved(context.cwd or "") + _model(state, context.model or "")


def _model(state: State, model: str) -> list[AnyEvent]:
    before = state.model
    if not model or model == before:
        return []
    state.model = model
    return [ModelChange(model=model, previous=before, **state.place.stamp())] if before else []


def turn_started(state: State, event: ev.TurnStarted) -> Events:
    """A turn begins."""
    state.ignored["event_msg/task_started"] += 1
    state.window = event.window or state.window
    state.stopped_tool = False
    state.tools.begin_turn()
    return state.dialogue.settle()


def turn_done(state: State, _: ev.TurnDone) -> Events:
    """A turn ends."""
    state.ignored["event_msg/task_complete"] += 1
    return state.dialogue.settle()


def turn_aborted(state: State, event: ev.TurnAborted) -> Events:
    """A turn was stopped."""
    during = bool(state.tools.open) or state.stopped_tool
    reason = "" if event.reason in (None, "interrupted") else event.reason or ""
    return [*state.dialogue.settle(), Interruption(during_tool=during, reason=reason, **state.place.stamp())]


def rolled_back(state: State, event: ev.RolledBack) -> Events:
    """The last prompts, and what followed each, were taken back."""
    state.ignored["event_msg/thread_rolled_back"] += 1
    events = state.dialogue.settle()
    turns = state.dialogue.turns
    if event.num_turns > 0 and turns:
        if state.sparing:
            raise TakenBackError
        kept = max(0, len(turns) - event.num_turns)
        state.ranges.append((turns[kept], state.place.offset))
        del turns[kept:]
    return events


def tokens(state: State, event: ev.TokenCount) -> Events:
    """The running total of tokens, as it now is."""
    info = event.info
    if info is None:
        state.ignored["event_msg/token_count (no info)"] += 1
        return ()
    state.window = info.window or state.window
    spent = state.meter.count(info)
    if spent is None:
        state.ignored["event_msg/token_count (repeat)"] += 1
        return ()
    changed = _model(state, info.model) if info.model else []
    return [*changed, _usage(state, spent, "")]


def usage_record(state: State, record: r.UsageRecord) -> Events:
    """The tokens of one response."""
    spent = state.meter.record(record)
    if spent is None:
        state.ignored["token_usage_record (repeat)"] += 1
        return ()
    return [_usage(state, spent, record.response_id or "")]


def turn_usage(state: State, event: ev.TurnUsage) -> Events:
    """The tokens of a turn, in event streams of 0.50."""
    spent = state.meter.count(ev.TokenInfo(last=event.usage)) if event.usage else None
    if spent is None:
        state.ignored["event_msg/turn.completed"] += 1
        return ()
    return [_usage(state, spent, "")]


def _usage(state: State, spent: Spent, response_id: str) -> Usage:
    fresh, cache_read, cache_write, output, reasoning, context = spent
    state.context = context
    place = state.place
    return Usage(
        response_id=response_id, model=state.model, input=fresh, cache_read=cache_read, cache_write=cache_write,
        output=output, reasoning=reasoning, context=context, window=state.window,
        at=place.at(), offset=place.offset, line=place.line, active=place.active, copied=place.copied,
    )  # fmt: skip


def compaction(state: State, summary: r.Summary) -> Events:
    """A compaction, with its summary when that can be read."""
    return [*state.dialogue.settle(), *_shortened(state, summary.message or "")]


def opaque_compaction(state: State, _: object) -> Events:
    """A compaction told by an event or an item, without its summary."""
    return _shortened(state, "")


def _shortened(state: State, text: str) -> list[AnyEvent]:
    """A compaction stands in the log up to three times, with nothing of the model's between: the first one counts."""
    if state.compacted:
        state.ignored["context_compacted (repeat)"] += 1
        return []
    state.compacted = True
    return [Compaction(summary=text, opaque=not text, tokens_before=state.context or None, **state.place.stamp())]


def named(state: State, event: ev.Named) -> Events:
    """The session got a name."""
    return [Title(title=event.name, **state.place.stamp())] if event.name else ()


def passed_over(state: State, payload: object) -> Events:
    """A row that is understood and holds nothing a session needs."""
    state.ignored[_PASSED_OVER[type(payload)]] += 1
    return ()


_PASSED_OVER: dict[type, str] = {
    r.World: "world_state",
    it.AdditionalTools: "response_item/additional_tools",
    it.GhostSnapshot: "response_item/ghost_snapshot",
}
