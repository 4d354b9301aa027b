"""From the events of before the SDK: an action, and the observation it caused."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.openhands.records import Event, text_of
from passdown.agents.openhands.tools import action_of, command_of, ending, goes_on, paths_of, plan_of
from passdown.io.log import count, milliseconds
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanUpdate,
    SubagentStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    WorkspaceChange,
)

_CALLS = frozenset({
    "run", "run_ipython", "edit", "write", "read", "browse", "browse_interactive", "delegate", "task_tracking",
    "call_tool_mcp", "mcp", "kill_process", "push", "send_pr",
})  # fmt: skip
_SPOKEN = frozenset({"message", "think", "finish", "reject"})
_IGNORED = frozenset({
    "system", "recall", "change_agent_state", "null", "agent_state_changed", "think", "loop_recovery", "condensation",
    "condensation_request", "start", "initialize", "pause", "resume", "stop", "add_task", "modify_task", "success",
    "delegate", "message", "finish", "chat",
})  # fmt: skip
_RESULTS = frozenset({
    "run", "run_ipython", "edit", "write", "read", "browse", "delegate", "task_tracking", "mcp", "error",
    "user_rejected", "download",
})  # fmt: skip


class V0Reader:
    """Turns older events into passdown's, in their order."""

    def __init__(self, cwd: str) -> None:
        self.ignored: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._pending: dict[str, tuple[str, str, bool]] = {}
        self._running = ""
        self._counted: set[str] = set()
        self._model = ""
        self._place_known = bool(cwd)
        self._terminal = ""

    def add(self, event: Event, place: dict[str, Any]) -> list[AnyEvent] | None:
        """Return the events that an older one becomes, None for a kind that is not known."""
        self._events = []
        self._base = place | {"at": milliseconds(event.timestamp)}
        action, observation = event.action, event.observation
        arguments = event.args if isinstance(event.args, dict) else {}
        if isinstance(action, str) and (action in _CALLS or action in _SPOKEN or action == "condensation"):
            self._acted(event, action, arguments)
        elif isinstance(observation, str) and observation in _RESULTS:
            self._observed(event, observation)
        else:
            kind = action if isinstance(action, str) else observation
            if not isinstance(kind, str) or kind not in _IGNORED:
                return None
            self.ignored[kind] += 1
        return self._events

    def _acted(self, event: Event, action: str, arguments: dict[str, Any]) -> None:
        if action == "condensation":
            summary = text_of(arguments.get("summary"))
            self._events.append(Compaction(summary=summary, opaque=not summary, **self._base))
            return
        if event.source == "user":
            if action == "message":
                images = arguments.get("image_urls") or arguments.get("images_urls")
                number = len(images) if isinstance(images, list) else 0
                text = text_of(arguments.get("content"))
                self._events.append(UserMessage(text=text, images=number, **self._base))
            elif action == "run":
                self._events.append(UserMessage(text=str(arguments.get("command") or ""), origin="shell", **self._base))
                self._call(event, action, arguments, "")
            return
        response = self._spent(event)
        thought = arguments.get("thought")
        said = arguments.get("content") if action == "message" else None
        if action == "finish":
            said = arguments.get("final_thought") or event.message
        for spoken, reasoning in ((thought, action == "think"), (said, False)):
            if isinstance(spoken, str) and spoken:
                self._events.append(
                    AssistantMessage(
                        text=spoken, model=self._model, response_id=response, reasoning=reasoning, **self._base
                    )
                )
        if action in _CALLS:
            self._call(event, action, arguments, response)

    def _spent(self, event: Event) -> str:
        """Count the answer behind an action, once however many actions it holds, and return its id."""
        metadata = event.tool_call_metadata
        answer = metadata.model_response if metadata is not None else None
        answer = answer if isinstance(answer, dict) else {}
        response, model, usage = answer.get("id"), answer.get("model"), answer.get("usage")
        if isinstance(model, str) and model and model != self._model:
            if self._model:
                self._events.append(ModelChange(model=model, previous=self._model, **self._base))
            self._model = model
        response = response if isinstance(response, str) else ""
        if response and response not in self._counted and isinstance(usage, dict):
            self._counted.add(response)
            details = usage.get("prompt_tokens_details")
            prompt, answered = _number(usage, "prompt_tokens"), _number(usage, "completion_tokens")
            read = _number(details, "cached_tokens") or _number(usage, "cache_read_input_tokens")
            written = _number(usage, "cache_creation_input_tokens")
            self._events.append(
                Usage(
                    response_id=response, model=self._model, input=max(0, prompt - read - written), cache_read=read,
                    cache_write=written, output=answered, context=prompt,
                    reasoning=_number(usage.get("completion_tokens_details"), "reasoning_tokens"), **self._base,
                )
            )  # fmt: skip
        return response

    def _call(self, event: Event, action: str, arguments: dict[str, Any], response: str) -> None:
        metadata = event.tool_call_metadata
        call_id = (metadata.tool_call_id if metadata is not None else None) or f"event-{event.id}"
        tool = (metadata.function_name if metadata is not None else None) or action
        self._pending[str(event.id)] = (call_id, action, goes_on(action, arguments))
        if len(self._pending) > 512:
            del self._pending[next(iter(self._pending))]
        given = {key: value for key, value in arguments.items() if key != "thought" and value not in (None, "")}
        kind = action_of(action, given)
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=kind, command=command_of(kind, given),
                cwd=self._terminal if kind == "run" else "", paths=paths_of(kind, given), arguments=given,
                response_id=response, **self._base,
            )
        )  # fmt: skip
        if action == "delegate":
            self._events.append(
                SubagentStart(
                    name=str(given.get("agent") or "")[:200], prompt=str(given.get("inputs") or ""), call_id=call_id,
                    **self._base,
                )
            )  # fmt: skip

    def _observed(self, event: Event, observation: str) -> None:
        call_id, action, more = self._pending.pop(str(event.cause), ("", "", False))
        extras = event.extras if isinstance(event.extras, dict) else {}
        text = text_of(event.content)
        if not call_id:
            if observation == "error":
                self._events.append(Interruption(reason=f"error: {text}"[:1000], **self._base))
            else:
                self.ignored[observation] += 1
            return
        outcome, code, shown = ending({"content": event.content, "metadata": extras.get("metadata")} | _code(extras))
        reason = ""
        if observation == "user_rejected":
            outcome, reason = "rejected", text.strip()
        elif observation == "error" or (action in ("edit", "read", "write") and text.startswith("ERROR:")):
            outcome = "failed"
        if more and self._running and outcome != "running":
            self._events.append(ToolResult(call_id=call_id, outcome="ok", text=shown, **self._base))
            call_id, self._running = self._running, ""
        elif outcome == "running":
            self._running = self._running or call_id
        self._events.append(
            ToolResult(call_id=call_id, outcome=outcome, exit_code=code, text=shown, reason=reason, **self._base)
        )
        metadata = extras.get("metadata")
        folder = metadata.get("working_dir") if isinstance(metadata, dict) else None
        if isinstance(folder, str) and folder:
            self._terminal = folder
            if not self._place_known:
                self._place_known = True
                self._events.append(WorkspaceChange(cwd=folder, **self._base))
        if observation == "task_tracking" and (items := plan_of(extras.get("task_list"))) is not None:
            self._events.append(PlanUpdate(items=items, **self._base))


def _code(extras: dict[str, Any]) -> dict[str, Any]:
    return {"exit_code": extras["exit_code"]} if isinstance(extras.get("exit_code"), int) else {}


def _number(record: Any, name: str) -> int:
    value = record.get(name) if isinstance(record, dict) else None
    return count(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
