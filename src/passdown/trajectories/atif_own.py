"""Steps that passdown wrote itself, back into the events they were made of."""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import structs

from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Origin,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from passdown.trajectories.atif_records import (
    NO_SUMMARY,
    CallExtra,
    MetricsExtra,
    ResultExtra,
    Step,
    StepExtra,
    own_in,
)
from passdown.trajectories.conversation import moment_of, record_in, text_of
from passdown.trajectories.tools import arguments_of


class OwnSteps:
    """Turns the steps of one agent back into events."""

    def __init__(self, agent_id: str = "") -> None:
        self.ignored: Counter[str] = Counter()
        self._agent_id = agent_id
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._at: int | None = None
        self._response = ""

    def add(self, step: Step, place: dict[str, Any]) -> list[AnyEvent] | None:
        """Return the events of a step, None when it is of no source that is known."""
        if step.source not in ("user", "system", "agent"):
            return None
        kept = own_in(step.extra, StepExtra) or StepExtra()
        self._events, self._response = [], kept.response_id
        self._at = kept.at if kept.at is not None else moment_of(step.timestamp)
        self._base = place | {"agent_id": self._agent_id, "copied": step.is_copied_context is True}
        if step.source == "agent":
            self._said(step, kept)
        elif step.source == "user" or kept.origin is not None:
            origin: Origin = kept.origin or "human"
            message = UserMessage(
                text=text_of(step.message),
                origin=origin,
                command=kept.command,
                images=max(0, kept.images),
                at=self._at,
                **self._base,
            )
            self._events.append(message)
        self._calls(step)
        self._spent(step)
        self._results(step)
        for event in kept.events:
            if isinstance(event, Compaction) and step.source == "system" and kept.origin is None:
                text = text_of(step.message)
                event = structs.replace(event, summary="" if text == NO_SUMMARY else text)
            self._events.append(
                structs.replace(event, offset=place["offset"], line=place["line"], agent_id=self._agent_id)
            )
        return self._events

    def rest(self) -> list[AnyEvent]:
        """Return what is left at the end: nothing."""
        return []

    def _when(self, at: int | None) -> dict[str, Any]:
        moment = self._at if at is None else None if at == -1 else at
        return self._base | {"at": moment}

    def _said(self, step: Step, kept: StepExtra) -> None:
        model = step.model_name if isinstance(step.model_name, str) else ""
        reasoning = step.reasoning_content if isinstance(step.reasoning_content, str) else ""
        for text, thought, at in (
            (reasoning, True, kept.reasoning_at),
            (text_of(step.message), False, kept.message_at),
        ):
            if text:
                said = AssistantMessage(
                    text=text, model=model, response_id=kept.response_id, reasoning=thought, **self._when(at)
                )
                self._events.append(said)

    def _calls(self, step: Step) -> None:
        for call in step.tool_calls if isinstance(step.tool_calls, list) else ():
            if not isinstance(call, dict):
                continue
            kept = own_in(call.get("extra"), CallExtra) or CallExtra()
            response = self._response if kept.response_id is None else kept.response_id
            told = ToolCall(
                call_id=str(call.get("tool_call_id") or ""), tool=str(call.get("function_name") or ""),
                action=kept.action, command=kept.command, cwd=kept.cwd, paths=kept.paths,
                arguments=arguments_of(call.get("arguments")), response_id=response, **self._when(kept.at),
            )  # fmt: skip
            self._events.append(told)

    def _spent(self, step: Step) -> None:
        metrics = step.metrics
        if not isinstance(metrics, dict):
            return
        kept = own_in(metrics.get("extra"), MetricsExtra) or MetricsExtra()
        extra = record_in(metrics, "extra")
        prompt, read = _number(metrics, "prompt_tokens"), _number(metrics, "cached_tokens")
        written = _number(extra, "cache_creation_input_tokens")
        told = Usage(
            response_id=self._response if kept.response_id is None else kept.response_id, model=kept.model,
            input=max(0, prompt - read - written), cache_read=read, cache_write=written,
            output=_number(metrics, "completion_tokens"), reasoning=_number(extra, "reasoning_tokens"),
            context=prompt if kept.context is None else kept.context, window=kept.window, **self._when(kept.at),
        )  # fmt: skip
        self._events.append(told)

    def _results(self, step: Step) -> None:
        results = step.observation.get("results") if isinstance(step.observation, dict) else None
        for result in results if isinstance(results, list) else ():
            if not isinstance(result, dict):
                continue
            kept = own_in(result.get("extra"), ResultExtra) or ResultExtra()
            told = ToolResult(
                call_id=str(result.get("source_call_id") or ""), outcome=kept.outcome, exit_code=kept.exit_code,
                text=text_of(result.get("content")), duration_ms=kept.duration_ms, paths=kept.paths, reason=kept.reason,
                **self._when(kept.at),
            )  # fmt: skip
            self._events.append(told)


def _number(record: Any, name: str) -> int:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
