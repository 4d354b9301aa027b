"""From Gemini's messages to events. A message is written again when its calls have ended: only what is new counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.gemini.records import Call, Row, Tokens
from passdown.agents.genai.parts import FunctionResponse, Parts, listed, text_of
from passdown.agents.genai.prompts import SUMMARY, pieces_of
from passdown.agents.genai.tools import ACTIONS, arguments_of, ending, paths_of, said, todos_of
from passdown.io.log import count, milliseconds
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    Origin,
    PlanUpdate,
    SubagentStart,
    Title,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)

_OVER = frozenset({"success", "error", "cancelled", "canceled"})
"""The states of a call that are its last."""


class Reader:
    """Turns messages into events, and remembers of which message and call what has been told."""

    def __init__(self, *, subagent: bool = False) -> None:
        self.ignored: Counter[str] = Counter()
        self._subagent = subagent
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._counted: set[str] = set()
        self._tools: dict[str, str] = {}
        self._ended: set[str] = set()
        self._model = ""
        self._stopped_tool = False
        self._title = ""

    def message(self, row: Row, place: dict[str, Any], *, snapshot: bool = False) -> list[AnyEvent]:
        """Return the events of a message. `snapshot` says that it stands in a history put in place of another."""
        self._events = []
        self._base = place | {"at": milliseconds(row.timestamp)}
        identity = row.id or f"at-{place['offset']}"
        new = identity not in self._seen
        self._seen.add(identity)
        if row.type == "user":
            self._user(row, new=new, snapshot=snapshot)
        elif row.type == "gemini":
            self._answer(row, identity, new=new)
        elif row.type in ("info", "warning", "error"):
            if new:
                self._notice(row.type, text_of(row.content))
        else:
            kind = (row.type or "")[:80]
            reason: Any = "unknown_type" if kind else "bad_shape"
            self._events.append(Unknown(record=kind, reason=reason, **self._base))
        return self._events

    def replaced(self, identities: list[str], first: Row | None, place: dict[str, Any]) -> list[AnyEvent]:
        """Return the compaction that a new history is, if it leaves out what was there before."""
        if not self._seen or self._seen <= set(identities):
            return []
        text = text_of(first.content) if first is not None else ""
        summary = text if text.lstrip().startswith(SUMMARY) else ""
        self._seen &= set(identities)
        at = milliseconds(first.timestamp) if first is not None and summary else None
        return [Compaction(summary=summary, opaque=not summary, **place | {"at": at})]

    def titled(self, summary: str | None, place: dict[str, Any]) -> list[AnyEvent]:
        """Return the session's new title, if there is one."""
        if not summary or summary == self._title:
            return []
        self._title = summary
        return [Title(title=summary.strip(), **place)]

    def _user(self, row: Row, *, new: bool, snapshot: bool) -> None:
        parts = listed(row.content)
        for part in parts:
            if part.function_response is not None:
                self._responded(part.function_response)
        if not new:
            return
        images = sum(part.attached for part in parts)
        pieces = pieces_of(parts, text_of(row.display))
        for text, origin in pieces:
            # What a person types is written as a message of its own, never first in a history that replaces another.
            put_in: Origin = "injected" if snapshot else "subagent" if self._subagent else "human"
            who = put_in if origin == "human" else origin
            self._events.append(UserMessage(text=text, origin=who, images=images, **self._base))
            images = 0
        if images and not any(part.function_response for part in parts):
            self._events.append(UserMessage(text="", images=images, **self._base))

    def _answer(self, row: Row, identity: str, *, new: bool) -> None:
        model = row.model or ""
        if new:
            if model and model != self._model and self._base.get("active", True):
                if self._model:
                    self._events.append(ModelChange(model=model, previous=self._model, **self._base))
                self._model = model
            self._say(row, model, identity)
            self._stopped_tool = False
        if row.tokens is not None and identity not in self._counted:
            self._counted.add(identity)
            self._spent(row.tokens, model, identity)
        for part in listed(row.content):
            if (call := part.function_call) is not None:
                self._called(Call(id=call.id, name=call.name, args=call.args), identity)
        for recorded in row.calls or ():
            self._called(recorded, identity)
            self._result(recorded)

    def _say(self, row: Row, model: str, response: str) -> None:
        for thought in row.thoughts or ():
            text = "\n".join(text for text in (thought.subject, thought.description) if text)
            if text:
                self._events.append(
                    AssistantMessage(text=text, model=model, response_id=response, reasoning=True, **self._base)
                )
        if text := text_of(row.content):
            self._events.append(AssistantMessage(text=text, model=model, response_id=response, **self._base))

    def _spent(self, tokens: Tokens, model: str, response: str) -> None:
        prompt, read, thoughts = count(tokens.input), count(tokens.cached), count(tokens.thoughts)
        prompt += count(tokens.tool)
        self._events.append(
            Usage(
                response_id=response, model=model, input=max(0, prompt - read), cache_read=read,
                output=count(tokens.output) + thoughts, reasoning=thoughts, context=prompt, **self._base,
            )
        )  # fmt: skip

    def _called(self, call: Call, response: str) -> None:
        call_id = call.id or f"{response}:{call.name}"
        if call_id in self._tools:
            return
        tool = call.name or ""
        self._tools[call_id] = tool
        arguments = arguments_of(call.args)
        action = "delegate" if call.agent_id else ACTIONS.get(tool, "other")
        command = arguments.get("command") if action == "run" else None
        folder = (arguments.get("dir_path") or arguments.get("directory")) if action == "run" else None
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command if isinstance(command, str) else "",
                cwd=folder if isinstance(folder, str) else "", paths=() if command else paths_of(arguments),
                arguments=arguments, response_id=response, **self._base,
            )
        )  # fmt: skip
        if action == "delegate":
            prompt = arguments.get("prompt") or arguments.get("objective") or arguments.get("query")
            named = arguments.get("agent_name") or arguments.get("subagent_type") or tool
            self._events.append(
                SubagentStart(
                    child_id=call.agent_id or "", name=str(named)[:200],
                    prompt=prompt if isinstance(prompt, str) else "", call_id=call_id, **self._base,
                )
            )  # fmt: skip

    def _result(self, call: Call) -> None:
        if (call.status or "success") not in _OVER:
            return
        text, error = _told(call.result)
        self._finish(call.id or f"{self._base['offset']}:{call.name}", call.name or "", call.status or "", text, error)
        if call.name in ("write_todos", "todo_write") and call.status == "success":
            items = todos_of(arguments_of(call.args))
            if items is not None:
                self._events.append(PlanUpdate(items=items, **self._base))

    def _responded(self, response: FunctionResponse) -> None:
        text, error = said(response.response)
        call_id = response.id or f"{self._base['offset']}:{response.name}"
        self._finish(call_id, response.name or self._tools.get(call_id, ""), "", text, error)

    def _finish(self, call_id: str, tool: str, status: str, text: str, error: bool) -> None:
        if call_id in self._ended:
            return
        self._ended.add(call_id)
        outcome, code, reason = ending(tool, status, text, error=error)
        self._stopped_tool = outcome in ("interrupted", "rejected")
        self._events.append(
            ToolResult(call_id=call_id, outcome=outcome, exit_code=code, text=text, reason=reason, **self._base)
        )

    def _notice(self, kind: str, text: str) -> None:
        if text.startswith("Request cancelled"):
            self._events.append(Interruption(during_tool=self._stopped_tool, **self._base))
        elif kind == "error":
            self._events.append(Interruption(reason=f"error: {text}"[:1000], **self._base))
        else:
            self.ignored[kind] += 1


def _told(result: Parts) -> tuple[str, bool]:
    texts, error = [], False
    for part in listed(result):
        if part.function_response is not None:
            text, failed = said(part.function_response.response)
            error = error or failed
            texts.append(text)
        elif part.text:
            texts.append(part.text)
    return "\n".join(text for text in texts if text), error
