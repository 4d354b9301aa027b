"""A session as chat messages with tools: one row, as OpenAI's interface and training data have it.

`{"session_id", "agent", "model", "messages": [{"role", "content", "tool_calls" | "tool_call_id", …}]}`. The model's
reasoning stands in `reasoning_content`. Nothing is said of who wrote a user's message, of times, tokens and exit codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from passdown.model.exported import Exported
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanUpdate,
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

_LEFT_OUT: dict[type, str] = {
    Usage: "usage", Compaction: "compaction", PlanUpdate: "plan_update", ModelChange: "model_change",
    WorkspaceChange: "workspace_change", SubagentStart: "subagent_start", Interruption: "interruption", Title: "title",
    Unknown: "record_not_understood",
}  # fmt: skip


def write_chat(events: Iterable[AnyEvent]) -> Exported:
    """Write a session as one row of chat messages."""
    writer = _Writer()
    for event in events:
        writer.add(event)
    return writer.finish()


class _Writer:
    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self.start = SessionStart(session_id="", agent="")
        self.model = ""
        self.messages: list[dict[str, Any]] = []
        self._response: str | None = None
        self._called: set[str] = set()

    def add(self, event: AnyEvent) -> None:
        if isinstance(event, SessionStart):
            self.start = event
            self.lost["place"] += bool(event.cwd) + bool(event.branch) + bool(event.commit)
            return
        if isinstance(event, SessionEnd):
            return
        if event.agent_id:
            self.lost["subagent_event"] += 1
        elif not event.active:
            self.lost["rewound_event"] += 1
        elif type(event) in _LEFT_OUT:
            self.lost[_LEFT_OUT[type(event)]] += 1
        else:
            self.lost["time"] += event.at is not None
            self.lost["copied_mark"] += event.copied
            self._message(event)

    def _message(self, event: AnyEvent) -> None:
        match event:
            case UserMessage():
                self._user(event)
            case AssistantMessage():
                self._said(event)
            case ToolCall():
                self._call(event)
            case ToolResult():
                self._result(event)

    def _user(self, event: UserMessage) -> None:
        if event.origin == "queued":
            self.lost["queued_message"] += 1
            return
        self.lost["image"] += event.images
        self.lost["origin"] += event.origin != "human"
        self.messages.append({"role": "user", "content": event.text})
        self._response = None

    def _answer(self, response: str, taken: str) -> dict[str, Any]:
        """Return the assistant's message that a part of an answer belongs to; `taken` must not be in it yet."""
        last = self.messages[-1] if self.messages else {}
        if last.get("role") != "assistant" or response != self._response or taken in last or "tool_calls" in last:
            last = {"role": "assistant"}
            self.messages.append(last)
        self._response = response
        return last

    def _said(self, event: AssistantMessage) -> None:
        self.model = self.model or event.model
        self.lost["model_of_message"] += bool(event.model) and event.model != self.model
        key = "reasoning_content" if event.reasoning else "content"
        last = self.messages[-1] if self.messages else {}
        message = self._answer(event.response_id, "content" if "content" in last else key)
        message[key] = event.text

    def _call(self, event: ToolCall) -> None:
        last = self.messages[-1] if self.messages else {}
        same = last.get("role") == "assistant" and event.response_id == self._response
        if not same:
            last = {"role": "assistant"}
            self.messages.append(last)
        self._response = event.response_id
        arguments = msgspec.json.encode(event.arguments).decode()
        function = {"name": event.tool, "arguments": arguments}
        last.setdefault("tool_calls", []).append({"id": event.call_id, "type": "function", "function": function})
        self._called.add(event.call_id)

    def _result(self, event: ToolResult) -> None:
        self.lost["exit_code"] += event.exit_code is not None
        self.lost["outcome"] += event.outcome not in ("ok", "unknown") and event.exit_code is None
        self.lost["duration"] += event.duration_ms is not None
        self.lost["reason"] += bool(event.reason)
        if event.call_id not in self._called:
            self.lost["result_without_call"] += 1
            return
        self.messages.append({"role": "tool", "tool_call_id": event.call_id, "content": event.text})

    def finish(self) -> Exported:
        for message in self.messages:
            message.setdefault("content", None)
        start = self.start
        row = {
            "session_id": start.session_id, "agent": start.originator or start.agent, "model": self.model,
            "messages": self.messages,
        }  # fmt: skip
        lost = {kind: count for kind, count in sorted(self.lost.items()) if count}
        return Exported(data=msgspec.json.encode(row) + b"\n", lost=lost)
