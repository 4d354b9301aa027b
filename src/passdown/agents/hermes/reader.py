"""From Hermes' messages, which are chat messages with tool calls, to passdown's events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.dialogue import (
    Dialogue,
    arguments_of,
    decoded,
    moment,
    part_of,
    paths_in,
    plan_in,
    text_in,
    text_of,
)
from passdown.agents.hermes.tools import ACTIONS, PATHS, ending
from passdown.model.session import AnyEvent, Origin

_SUMMARY = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
_END = ("[END OF CONTEXT SUMMARY]", "--- END OF CONTEXT SUMMARY ---")
_PUT_IN = (
    "[IMPORTANT: Background process", "[ASYNC DELEGATION", "[Your active task list was preserved", "[System note:",
    "[Continuing toward your standing goal", "[PRIOR CONTEXT", "[SYSTEM:", "[System:",
    "Review the conversation above and",
)  # fmt: skip
"""How messages begin that the program puts in in the user's name."""


class Reader:
    """Turns messages into events, in their order. `delegated`: the first message is the agent's own."""

    def __init__(self, *, model: str = "", delegated: bool = False) -> None:
        self.ignored: Counter[str] = Counter()
        self.talk = Dialogue()
        self.model = model
        self._delegated = delegated
        self._number = 0

    def add(
        self, row: dict[str, Any], length: int, *, offset: int, line: int = 0, active: bool = True
    ) -> list[AnyEvent]:
        """Return the events of one message."""
        self._number += 1
        self.talk.place(moment(row.get("timestamp")), offset, line, active=active)
        role = text_in(row, "role")
        if role == "user":
            self._user(row)
        elif role == "assistant":
            self._assistant(row)
        elif role == "tool":
            self._result(row)
        elif role in ("system", "session_meta", "developer"):
            self.ignored[role] += 1
            self.model = text_in(row, "model") or self.model
        else:
            self.talk.unknown(role or "message", "unknown_type" if role else "bad_shape", length)
        return self.talk.take()

    def _user(self, row: dict[str, Any]) -> None:
        content = _content(row)
        text = text_of(content)
        start = text.lstrip()
        if start.startswith(_SUMMARY):
            self._summarised(text)
            return
        images = sum(
            text_in(part, "type") in ("image_url", "image", "input_image") for part in content
        ) if isinstance(content, list) else 0  # fmt: skip
        self.talk.user(text, self._origin(row, start), images)

    def _summarised(self, text: str) -> None:
        """Take a summary; what stands behind its end is the person's own message."""
        for end in _END:
            summary, found, rest = text.partition(end)
            if found:
                self.talk.compacted(summary.strip())
                if rest.strip():
                    self.talk.user(rest.strip())
                return
        self.talk.compacted(text)

    def _origin(self, row: dict[str, Any], start: str) -> Origin:
        if start.startswith(_PUT_IN) or text_in(row, "display_kind") == "hidden":
            return "injected"
        delegated, self._delegated = self._delegated, False
        return "subagent" if delegated else "human"

    def _assistant(self, row: dict[str, Any]) -> None:
        model, response = text_in(row, "model") or self.model, f"message-{self._number}"
        text = text_of(_content(row))
        if text.lstrip().startswith(_SUMMARY):
            self._summarised(text)
            return
        self.talk.said(text_in(row, "reasoning", "reasoning_content"), model, response, reasoning=True)
        self.talk.said(text, model, response)
        calls = decoded(row.get("tool_calls"))
        if row.get("tool_calls") and not isinstance(calls, list):
            self.talk.unknown("tool_calls", "bad_json" if calls is None else "bad_shape")
        for call in calls if isinstance(calls, list) else ():
            self._call(call, response)

    def _call(self, call: Any, response: str) -> None:
        function = part_of(call, "function")
        tool, arguments = text_in(function, "name"), arguments_of(function.get("arguments"))
        action, call_id = ACTIONS.get(tool, "other"), text_in(call, "id", "call_id")
        added = self.talk.call(
            call_id, tool, action, arguments, command=text_in(arguments, "command") if action == "run" else "",
            cwd=text_in(arguments, "workdir", "cwd"), paths=paths_in(arguments, *PATHS), response=response,
        )  # fmt: skip
        if added and tool == "delegate_task":
            self.talk.delegated(call_id, "", text_in(arguments, "goal", "context"))

    def _result(self, row: dict[str, Any]) -> None:
        call_id = text_in(row, "tool_call_id")
        tool, _ = self.talk.called(call_id)
        content = text_of(_content(row))
        end = ending(tool or text_in(row, "tool_name", "name"), content)
        self.talk.result(call_id, end.outcome, end.text, exit_code=end.exit_code)
        if tool == "todo" and end.outcome == "ok":
            held = decoded(content)
            if items := plan_in(held.get("todos") if isinstance(held, dict) else None):
                self.talk.plan(items)


def _content(row: dict[str, Any]) -> Any:
    """Return a message's content: a text, or the blocks of one that has images, kept as JSON text in the database."""
    content = row.get("content")
    if isinstance(content, str) and content.startswith(("[{", "\x00json:")):
        blocks = decoded(content.removeprefix("\x00json:"))
        if isinstance(blocks, list) and all(isinstance(block, dict) and "type" in block for block in blocks):
            return blocks
    return content
