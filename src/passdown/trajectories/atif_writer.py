"""A session as an ATIF document (version 1.8), with what ATIF has no field for under `extra.passdown`.

A step is one turn of the model: reasoning, a message, calls, their results, and what it cost. A result stands beside
its call, a subagent's steps in a trajectory of their own. What was taken back or not understood is not written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import structs

from passdown.io.log import safe_id
from passdown.model.exported import Exported
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    SessionEnd,
    SessionStart,
    SubagentStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)
from passdown.trajectories.atif_records import (
    NO_SUMMARY,
    NO_VERSION,
    OWN,
    VERSION,
    CallExtra,
    MetricsExtra,
    ResultExtra,
    RootExtra,
    StepExtra,
)
from passdown.trajectories.table import FORMATS

_LATEST = 253_402_300_800_000
_BY_HARNESS = frozenset({"hook", "injected"})


def write_atif(events: Iterable[AnyEvent]) -> Exported:
    """Write a session as one ATIF document."""
    writer = _Writer()
    for event in events:
        writer.add(event)
    return writer.finish()


class _Writer:
    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self.start = SessionStart(session_id="", agent="")
        self.main = _Steps()
        self.children: dict[str, _Steps] = {}
        self.names: dict[str, str] = {}
        self.called_by: dict[str, str] = {}

    def add(self, event: AnyEvent) -> None:
        if isinstance(event, SessionStart):
            self.start = event
            self.lost["session_id"] += not safe_id(event.session_id)
            self.lost["originator"] += bool(event.originator) and _name(event) != event.originator
            return
        if isinstance(event, SessionEnd):
            return
        if isinstance(event, Unknown):
            self.lost["record_not_understood"] += 1
            return
        if not event.active:
            self.lost["rewound_event"] += 1
            return
        if isinstance(event, SubagentStart) and event.child_id:
            self.names[event.child_id], self.called_by[event.child_id] = event.name, event.call_id
        if isinstance(event, AssistantMessage) and not event.text:
            self.lost["empty_message"] += 1
            return
        if isinstance(event, UserMessage):
            self.lost["image"] += event.images
        main = event.agent_id == self.start.agent_id
        steps = self.main if main else self.children.setdefault(event.agent_id, _Steps())
        steps.add(event)

    def finish(self) -> Exported:
        for child, call_id in self.called_by.items():
            if child in self.children:
                self._refer(child, call_id)
        start = self.start
        root = RootExtra(
            cwd=start.cwd, branch=start.branch, commit=start.commit, parent_id=start.parent_id,
            parent_kind=start.parent_kind, at=start.at, events=self.main.before, agent_id=start.agent_id,
        )  # fmt: skip
        document: dict[str, Any] = {
            "schema_version": VERSION,
            "session_id": start.session_id,
            "agent": {"name": _name(start) or NO_VERSION, "version": start.agent_version or NO_VERSION},
            "steps": self.main.written(),
            "final_metrics": self.main.totals(),
            "extra": {OWN: root},
        }
        if self.children:
            document["subagent_trajectories"] = [self._child(child, steps) for child, steps in self.children.items()]
        data = msgspec.json.encode(document) + b"\n"
        return Exported(data=data, lost={kind: count for kind, count in sorted(self.lost.items()) if count})

    def _child(self, child: str, steps: _Steps) -> dict[str, Any]:
        return {
            "schema_version": VERSION,
            "trajectory_id": child,
            "agent": {"name": self.names.get(child) or "subagent", "version": self.start.agent_version or NO_VERSION},
            "steps": steps.written(),
            "final_metrics": steps.totals(),
            "extra": {OWN: RootExtra(events=steps.before)},
        }

    def _refer(self, child: str, call_id: str) -> None:
        for steps in (self.main, *self.children.values()):
            step = steps.called_in.get(call_id)
            for result in step.results if step is not None else ():
                if result.get("source_call_id") == call_id:
                    result["subagent_trajectory_ref"] = [{"trajectory_id": child}]
                    return


def _name(start: SessionStart) -> str:
    formats = {row.id for row in FORMATS}
    return start.originator if start.agent in formats and start.originator else start.agent


class _Step:
    """A step under way."""

    __slots__ = ("at", "calls", "copied", "extra", "message", "metrics", "model", "reasoning", "results", "source")

    def __init__(self, source: str, event: AnyEvent) -> None:
        self.source, self.at, self.copied = source, event.at, event.copied
        self.message: str | None = None
        self.reasoning: str | None = None
        self.model = ""
        self.calls: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        self.metrics: dict[str, Any] | None = None
        self.extra = StepExtra()

    def when(self, at: int | None) -> int | None:
        """Return a time to keep where it is not the step's own; -1 stands for none."""
        return None if at == self.at else -1 if at is None else at

    def written(self, number: int) -> dict[str, Any]:
        step: dict[str, Any] = {"step_id": number}
        if (stamp := _stamp(self.at)) is not None:
            step["timestamp"] = stamp
        elif self.at is not None:
            self.extra.at = self.at
        step |= {"source": self.source, "message": self.message or ""}
        if self.model:
            step["model_name"] = self.model
        if self.reasoning is not None:
            step["reasoning_content"] = self.reasoning
        if self.calls:
            step["tool_calls"] = self.calls
        if self.results:
            step["observation"] = {"results": self.results}
        if self.metrics is not None:
            step["metrics"] = self.metrics
        if self.copied:
            step["is_copied_context"] = True
        if self.extra != StepExtra():
            step["extra"] = {OWN: self.extra}
        return step


class _Steps:
    """The steps of one agent."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []
        self.before: list[Any] = []
        self.called_in: dict[str, _Step] = {}
        self._open: _Step | None = None
        self._sums: Counter[str] = Counter()

    def add(self, event: AnyEvent) -> None:
        match event:
            case UserMessage() if event.origin != "queued":
                self._user(event)
            case AssistantMessage():
                self._assistant(event)
            case ToolCall():
                self._call(event)
            case ToolResult():
                self._result(event)
            case Usage():
                self._usage(event)
            case Compaction():
                step = self._begin("system", event)
                step.message = event.summary or NO_SUMMARY
                self._open = None
                self._beside(structs.replace(event, summary=""), step)
            case _:
                self._beside(event, self.steps[-1] if self.steps else None)

    def _begin(self, source: str, event: AnyEvent) -> _Step:
        self._open = _Step(source, event)
        self.steps.append(self._open)
        return self._open

    def _beside(self, event: Any, step: _Step | None) -> None:
        plain = structs.replace(event, offset=0, line=0, agent_id="")
        (step.extra.events if step is not None else self.before).append(plain)

    def _user(self, event: UserMessage) -> None:
        step = self._begin("system" if event.origin in _BY_HARNESS else "user", event)
        self._open = None
        step.message = event.text
        step.extra.images = event.images
        step.extra.command = event.command
        if event.origin != "human":
            step.extra.origin = event.origin

    def _agent_step(self, event: Any, *, fits: bool) -> _Step:
        """Return the step that an event of the model's belongs to."""
        step, response = self._open, event.response_id
        if step is not None and fits and step.copied == event.copied and not step.results:
            known = step.extra.response_id
            if response == known or (not isinstance(event, AssistantMessage) and not (response and known)):
                return step
        step = self._begin("agent", event)
        step.extra.response_id = response
        return step

    def _assistant(self, event: AssistantMessage) -> None:
        step = self._open
        fits = step is not None and step.message is None and not step.calls
        if step is not None and step.reasoning is not None:
            fits = fits and not event.reasoning and step.model == event.model
        step = self._agent_step(event, fits=fits)
        step.model = event.model or step.model
        if event.reasoning:
            step.reasoning, step.extra.reasoning_at = event.text, step.when(event.at)
        else:
            step.message, step.extra.message_at = event.text, step.when(event.at)

    def _call(self, event: ToolCall) -> None:
        step = self._open
        known = step is not None and any(call["tool_call_id"] == event.call_id for call in step.calls)
        step = self._agent_step(event, fits=not known)
        kept = CallExtra(
            action=event.action,
            command=event.command,
            cwd=event.cwd,
            paths=event.paths,
            at=step.when(event.at),
            response_id=event.response_id if event.response_id != step.extra.response_id else None,
        )
        step.calls.append({
            "tool_call_id": event.call_id, "function_name": event.tool, "arguments": event.arguments,
            "extra": {OWN: kept},
        })  # fmt: skip
        self.called_in[event.call_id] = step

    def _result(self, event: ToolResult) -> None:
        step = self.called_in.get(event.call_id)
        if step is None or step.copied != event.copied:
            step = self._begin("system", event)
            step.message = ""
            self._open = None
        kept = ResultExtra(
            outcome=event.outcome, exit_code=event.exit_code, duration_ms=event.duration_ms, paths=event.paths,
            reason=event.reason, at=step.when(event.at),
        )  # fmt: skip
        step.results.append({"source_call_id": event.call_id, "content": event.text, "extra": {OWN: kept}})

    def _usage(self, event: Usage) -> None:
        fits = self._open is not None and self._open.metrics is None
        step = self._agent_step(event, fits=fits)
        prompt = event.input + event.cache_read + event.cache_write
        kept = MetricsExtra(
            model=event.model, context=event.context if event.context != prompt else None, window=event.window,
            at=step.when(event.at),
            response_id=event.response_id if event.response_id != step.extra.response_id else None,
        )  # fmt: skip
        extra = {"cache_creation_input_tokens": event.cache_write, "reasoning_tokens": event.reasoning}
        step.metrics = {
            "prompt_tokens": prompt, "completion_tokens": event.output, "cached_tokens": event.cache_read,
            "extra": {name: number for name, number in extra.items() if number} | {OWN: kept},
        }  # fmt: skip
        if not event.copied:
            self._sums.update(prompt=prompt, output=event.output, cached=event.cache_read)

    def written(self) -> list[dict[str, Any]]:
        return [step.written(number) for number, step in enumerate(self.steps, 1)]

    def totals(self) -> dict[str, int]:
        return {
            "total_prompt_tokens": self._sums["prompt"], "total_completion_tokens": self._sums["output"],
            "total_cached_tokens": self._sums["cached"], "total_steps": len(self.steps),
        }  # fmt: skip


def _stamp(at: int | None) -> str | None:
    if at is None or not 0 <= at < _LATEST:
        return None
    moment = datetime.fromtimestamp(at // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at % 1000:03d}Z"
