"""From the SDK's events to passdown's: one method a kind of event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from passdown.agents.openhands.meter import Meter
from passdown.agents.openhands.records import Event, text_of
from passdown.agents.openhands.tools import action_of, arguments_of, command_of, ending, goes_on, paths_of, plan_of
from passdown.io.log import milliseconds
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    Origin,
    Outcome,
    PlanUpdate,
    SubagentStart,
    ToolCall,
    ToolResult,
    UserMessage,
    WorkspaceChange,
)

IGNORED = frozenset({
    "SystemPromptEvent", "CondensationRequest", "CondensationSummaryEvent", "TokenEvent", "StreamingDeltaEvent",
    "LLMCompletionLogEvent", "ForkEvent", "CriticResultEvent", "ResumeEvent",
})  # fmt: skip
"""Events that hold nothing a session needs."""
_CRITIC = lazy_pattern(r"The task appears incomplete \(iteration \d+(?:/\d+)?, predicted success likelihood: ")
"""How a message begins that the critic's iterations send in the user's name."""
_NO_REASON = ("User rejected the action", "User rejected action", "")


class SdkReader:
    """Turns the events of the SDK into passdown's, in their order."""

    def __init__(self, meter: Meter, cwd: str, model: str) -> None:
        self.ignored: Counter[str] = Counter()
        self._meter = meter
        self._model = model
        self._answered = ""
        self._place_known = bool(cwd)
        self._terminal = ""
        self._running = ""  # the command that the one terminal has not come to the end of
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}
        self._hooked: set[str] = set()

    def add(self, event: Event, place: dict[str, Any]) -> list[AnyEvent] | None:
        """Return the events that one of the SDK's becomes, None for a kind that is not known."""
        self._events = []
        self._base = place | {"at": milliseconds(event.timestamp)}
        method = _METHODS.get(event.kind)
        if method is not None:
            method(self, event)
        elif event.kind in IGNORED:
            self.ignored[event.kind] += 1
        else:
            return None
        return self._events

    def _message(self, event: Event) -> None:
        text = text_of(event.llm_message.content if event.llm_message is not None else None)
        if event.source == "agent":
            self._say(text, event.llm_response_id or "")
            self._spent(event)
            return
        content = event.llm_message.content if event.llm_message is not None else None
        images = sum(block.type == "image" for block in content) if isinstance(content, list) else 0
        typed = event.source == "user" and not _CRITIC.match(text)
        origin: Origin = "human" if typed else self._put_in(text)
        self._events.append(UserMessage(text=text, origin=origin, images=images, **self._base))
        for block in event.extended_content or ():
            if block.text:
                self._events.append(UserMessage(text=block.text, origin=self._put_in(block.text), **self._base))

    def _put_in(self, text: str) -> Origin:
        return "hook" if text.strip() in self._hooked else "injected"

    def _hook(self, event: Event) -> None:
        self.ignored[event.kind] += 1
        if event.additional_context and len(self._hooked) < 1000:
            self._hooked.add(event.additional_context.strip())

    def _say(self, text: str, response: str, *, reasoning: bool = False) -> None:
        if text:
            model = self._meter.model_of(response) or self._model
            self._events.append(
                AssistantMessage(text=text, model=model, response_id=response, reasoning=reasoning, **self._base)
            )

    def _spent(self, event: Event) -> None:
        response = event.llm_response_id or ""
        model = self._meter.model_of(response)
        if model and model != self._answered:
            if self._answered:
                self._events.append(ModelChange(model=model, previous=self._answered, **self._base))
            self._answered = model
        self._events += self._meter.of(response, self._base)

    def _action(self, event: Event) -> None:
        response = event.llm_response_id or ""
        self._say(event.reasoning_content or "", response, reasoning=True)
        self._say(text_of(event.thought), response)
        self._spent(event)
        written = event.tool_call.arguments if event.tool_call is not None else None
        tool = event.tool_name or (event.tool_call.name if event.tool_call is not None else "") or ""
        arguments = arguments_of(event.action, written)
        if tool == "finish" and isinstance(last := arguments.get("message"), str):
            self._say(last, response)
        self._call(event.tool_call_id or str(event.id or ""), tool, arguments, response)

    def _call(self, call_id: str, tool: str, arguments: dict[str, Any], response: str) -> None:
        self._calls[call_id] = (tool, arguments)
        if len(self._calls) > 512:
            del self._calls[next(iter(self._calls))]
        action = action_of(tool, arguments)
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command_of(action, arguments),
                cwd=self._terminal if action == "run" else "", paths=paths_of(action, arguments), arguments=arguments,
                response_id=response, **self._base,
            )
        )  # fmt: skip
        if action == "delegate":
            prompt, name = arguments.get("prompt") or arguments.get("tasks"), arguments.get("subagent_type")
            self._events.append(
                SubagentStart(
                    name=name if isinstance(name, str) else "", prompt=prompt if isinstance(prompt, str) else "",
                    call_id=call_id, **self._base,
                )
            )  # fmt: skip

    def _observed(self, event: Event) -> None:
        observation = event.observation if isinstance(event.observation, dict) else {}
        call_id = event.tool_call_id or ""
        tool, arguments = self._calls.pop(call_id, (event.tool_name or "", {}))
        outcome, code, text = ending(observation)
        if self._running and goes_on(tool, arguments) and outcome != "running":
            # What was put in has been put in; how it ended is said of the command that was running.
            self._end(call_id, "ok", text)
            call_id, self._running = self._running, ""
        elif outcome == "running":
            self._running = self._running or call_id
        self._end(call_id, outcome, text, code=code)
        metadata = observation.get("metadata")
        folder = metadata.get("working_dir") if isinstance(metadata, dict) else None
        if isinstance(folder, str) and folder:
            self._terminal = folder
            if not self._place_known:
                self._place_known = True
                self._events.append(WorkspaceChange(cwd=folder, **self._base))
        if tool == "task_tracker" and (items := plan_of(observation.get("task_list"))) is not None:
            self._events.append(PlanUpdate(items=items, **self._base))

    def _end(self, call_id: str, outcome: Outcome, text: str, *, code: int | None = None, reason: str = "") -> None:
        self._events.append(
            ToolResult(call_id=call_id, outcome=outcome, exit_code=code, text=text, reason=reason, **self._base)
        )

    def _error(self, event: Event) -> None:
        call_id = event.tool_call_id or ""
        self._calls.pop(call_id, None)
        self._end(call_id, "failed", text_of(event.error))

    def _rejected(self, event: Event) -> None:
        call_id, said = event.tool_call_id or "", (event.rejection_reason or "").strip()
        self._calls.pop(call_id, None)
        if event.rejection_source == "hook":
            self._end(call_id, "failed", said)
        else:
            self._end(call_id, "rejected", said, reason="" if said in _NO_REASON else said)

    def _condensed(self, event: Event) -> None:
        summary = event.summary or ""
        self._events.append(Compaction(summary=summary, opaque=not summary, **self._base))

    def _paused(self, event: Event) -> None:
        reason = (event.detail or "") if event.kind == "InterruptEvent" else ""
        self._events.append(Interruption(during_tool=bool(self._calls), reason=reason[:1000], **self._base))

    def _failed(self, event: Event) -> None:
        self._events.append(Interruption(reason=f"error: {event.detail or event.code or ''}"[:1000], **self._base))

    def _updated(self, event: Event) -> None:
        if event.key == "stats":
            self._events += self._meter.totals(event.value, self._base)
        self.ignored[event.kind] += 1

    def _foreign(self, event: Event) -> None:
        """A call of another agent that is driven through its protocol: written when it has ended."""
        call_id = event.tool_call_id or str(event.id or "")
        arguments = event.raw_input if isinstance(event.raw_input, dict) else {}
        if call_id not in self._calls:
            self._call(call_id, event.title or "", arguments, "")
        if event.status in ("completed", "failed"):
            self._calls.pop(call_id, None)
            failed = event.is_error is True or event.status == "failed"
            self._end(call_id, "failed" if failed else "ok", text_of(event.content))


_METHODS: dict[str, Callable[[SdkReader, Event], None]] = {
    "MessageEvent": SdkReader._message,
    "ActionEvent": SdkReader._action,
    "ObservationEvent": SdkReader._observed,
    "AgentErrorEvent": SdkReader._error,
    "UserRejectObservation": SdkReader._rejected,
    "Condensation": SdkReader._condensed,
    "PauseEvent": SdkReader._paused,
    "InterruptEvent": SdkReader._paused,
    "ConversationErrorEvent": SdkReader._failed,
    "ConversationStateUpdateEvent": SdkReader._updated,
    "HookExecutionEvent": SdkReader._hook,
    "ACPToolCallEvent": SdkReader._foreign,
}
KINDS = frozenset(_METHODS) | IGNORED
"""Every kind of event that is known."""
