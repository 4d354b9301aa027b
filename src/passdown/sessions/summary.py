"""Fold a session's events into counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanUpdate,
    Session,
    SessionEnd,
    SessionStart,
    SubagentStart,
    Title,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)

FAILURES = frozenset({"failed", "timeout", "interrupted", "rejected"})
"""Outcomes of tool results that count as failures."""


class Fold:
    """Counts under way: `add` every event, then `finish`."""

    # One method a record type, so that an event costs one dictionary look-up.

    def __init__(self) -> None:
        self.session = Session(session_id="", agent="")
        self.count: Counter[str] = Counter()
        self.origins: Counter[str] = Counter()
        self.actions: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.ignored: dict[str, int] = {}
        self.seen: dict[str, dict[str, None]] = {
            name: {} for name in ("agent_versions", "cwds", "branches", "commits", "models")
        }
        self.first: int | None = None
        self.last: int | None = None
        self.last_exit: int | None = None
        self.context = 0
        self.plan_items = 0
        self.title = ""

    def add(self, event: AnyEvent) -> None:
        """Count one event."""
        if isinstance(event, SessionEnd):
            self.count["records"] += event.records
            self.ignored = dict(sorted(event.ignored.items()))
            return
        self.count["events"] += 1
        if isinstance(event, Unknown):
            key = event.record or "?"
            self.unknown[key if event.reason == "unknown_type" else event.reason] += 1
            return
        if event.copied:
            self.count["copied"] += 1
            if not isinstance(event, SessionStart):
                return
        at = event.at
        if at is not None:
            if self.first is None or at < self.first:
                self.first = at
            if self.last is None or at > self.last:
                self.last = at
        if not event.active:
            self.count["rewound"] += 1
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    def _see(self, kind: str, value: str) -> None:
        if value:
            self.seen[kind][value] = None

    def _start(self, event: SessionStart) -> None:
        if not self.session.session_id:
            self.session = structs.replace(
                self.session, session_id=event.session_id, agent=event.agent, parent_id=event.parent_id
            )
        self._see("agent_versions", event.agent_version)
        self._place(event)

    def _place(self, event: SessionStart | WorkspaceChange) -> None:
        self._see("cwds", event.cwd)
        self._see("branches", event.branch)
        self._see("commits", event.commit)

    def _user(self, event: UserMessage) -> None:
        if event.origin == "human" and not event.agent_id:
            self.count["human_messages"] += 1
        else:
            self.origins[event.origin if event.origin != "human" else "subagent"] += 1

    def _assistant(self, event: AssistantMessage) -> None:
        self.count["assistant_messages"] += not event.reasoning
        self._see("models", event.model)

    def _call(self, event: ToolCall) -> None:
        self.count["tool_calls"] += 1
        self.actions[event.action] += 1

    def _result(self, event: ToolResult) -> None:
        self.count["tool_results"] += 1
        self.outcomes[event.outcome] += 1
        self.count["failures"] += event.outcome in FAILURES
        if event.exit_code is not None:
            self.last_exit = event.exit_code

    def _usage(self, event: Usage) -> None:
        self.count["responses"] += 1
        self.count["tokens_input"] += event.input
        self.count["tokens_cache_read"] += event.cache_read
        self.count["tokens_cache_write"] += event.cache_write
        self.count["tokens_output"] += event.output
        self.count["tokens_reasoning"] += event.reasoning
        self._see("models", event.model)
        if not event.agent_id:
            self.context = event.context

    def _compaction(self, event: Compaction) -> None:
        self.count["micro_compactions" if event.micro else "compactions"] += 1

    def _plan(self, event: PlanUpdate) -> None:
        self.plan_items = len(event.items) or self.plan_items

    def _model(self, event: ModelChange) -> None:
        self._see("models", event.model)

    def _subagent(self, _: SubagentStart) -> None:
        self.count["subagents"] += 1

    def _interruption(self, _: Interruption) -> None:
        self.count["interruptions"] += 1

    def _name(self, event: Title) -> None:
        self.title = event.title

    def finish(self) -> Session:
        """Return the counts."""
        return structs.replace(
            self.session,
            title=self.title,
            started_at=self.first,
            ended_at=self.last,
            last_exit=self.last_exit,
            context_tokens=self.context,
            plan_items=self.plan_items,
            other_user_messages=dict(sorted(self.origins.items())),
            tool_calls_by_action=dict(sorted(self.actions.items())),
            outcomes=dict(sorted(self.outcomes.items())),
            unknown=dict(sorted(self.unknown.items())),
            ignored=self.ignored,
            **{kind: tuple(values) for kind, values in self.seen.items()},
            **self.count,
        )


_HANDLERS: dict[type, Callable[[Fold, Any], None]] = {
    SessionStart: Fold._start,
    WorkspaceChange: Fold._place,
    UserMessage: Fold._user,
    AssistantMessage: Fold._assistant,
    ToolCall: Fold._call,
    ToolResult: Fold._result,
    Usage: Fold._usage,
    Compaction: Fold._compaction,
    PlanUpdate: Fold._plan,
    ModelChange: Fold._model,
    SubagentStart: Fold._subagent,
    Interruption: Fold._interruption,
    Title: Fold._name,
}


def summarize(events: Iterable[AnyEvent]) -> Session:
    """Fold a session's events into counts. History copied from another session is left out and counted in `copied`."""
    fold = Fold()
    for event in events:
        fold.add(event)
    return fold.finish()
