"""From the conversation with the model (Anthropic messages) to passdown's events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.cline.screen import Screen, spend
from passdown.agents.cline.tools import ACTIONS, PATHS, SPOKEN, command_of, ending
from passdown.agents.cline.words import announced, answer_in, typed_in, without_details
from passdown.agents.dialogue import (
    Dialogue,
    arguments_of,
    checklist,
    moment,
    number,
    part_of,
    paths_in,
    text_in,
    text_of,
)
from passdown.io.log import count
from passdown.model.session import AnyEvent

_KNOWN = frozenset({"document", "redacted_thinking", "server_tool_use", "web_search_tool_result", "file"})


class Reader:
    """Turns messages into events, in their order.

    `plain` says that a person's words stand there without tags around them, as the newer program keeps them.
    """

    def __init__(self, screen: Screen, *, plain: bool = False) -> None:
        self.ignored: Counter[str] = Counter()
        self.talk = Dialogue()
        self._requests = screen.requests[::-1]
        self._condensed = screen.condensed[::-1]
        self._plain = plain
        self._written: list[str] = []
        self._expected = ""
        self._number = 0
        self._at: int | None = screen.began

    def add(self, message: dict[str, Any], offset: int, length: int) -> list[AnyEvent]:
        """Return the events of one message."""
        self._number += 1
        role, content = text_in(message, "role"), message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": text_of(content)}]
        self._at = moment(message.get("ts")) or self._next_time() or self._at
        self.talk.place(self._at, offset)
        if message.get("isSummary") is True or message.get("isTruncationMarker") is True:
            self._condensed.clear()
            self.talk.compacted(text_of(content) if message.get("isSummary") is True else "")
        elif role == "user":
            self._compact(self._at)
            self._user(blocks, length)
        elif role == "assistant":
            self._assistant(message, blocks, length)
        else:
            self.talk.unknown(role or "message", "unknown_type" if role else "bad_shape", length)
        return self.talk.take()

    def finish(self) -> list[AnyEvent]:
        """Return what only the screen tells: the requests and compactions behind the last message."""
        while self._requests:
            request = self._requests.pop()
            self.talk.place(request.at, 0)
            spend(self.talk, request, f"request-{len(self._requests)}", "")
        self._compact(None)
        return self.talk.take()

    def _next_time(self) -> int | None:
        return self._requests[-1].at if self._requests else None

    def _compact(self, until: int | None) -> None:
        while self._condensed and (until is None or (self._condensed[-1].at or 0) <= until):
            made = self._condensed.pop()
            self.talk.compacted(made.summary, made.before, made.after)

    def _user(self, blocks: list[Any], length: int) -> None:
        images = 0
        for block in blocks:
            kind = text_in(block, "type")
            if kind == "text":
                self._words(text_in(block, "text"))
            elif kind in ("image", "image_url"):
                images += 1
            elif kind == "tool_result":
                self._result(
                    text_in(block, "tool_use_id"), text_of(block.get("content")), block.get("is_error") is True
                )
            elif kind in _KNOWN:
                self.ignored[kind] += 1
            else:
                self.talk.unknown(kind or "block", "unknown_type", length)
        if self._expected:
            self._result(self._expected, "", failed=False)
        if images:
            self.talk.user("", "human" if self._plain else "injected", images)

    def _words(self, text: str) -> None:
        rest = without_details(text)
        result = announced(rest)
        if result is not None and self._written:
            if self._expected:
                self._result(self._expected, "", failed=False)
            self._expected = self._written.pop(0)
            if result.rest:
                self._result(self._expected, result.rest, failed=False)
        elif self._expected and rest:
            self._result(self._expected, rest, failed=False)
        elif typed := typed_in(rest):
            for words in typed:
                self.talk.user(words)
        elif rest:
            self.talk.user(rest, "human" if self._plain else "injected")

    def _result(self, call_id: str, text: str, failed: bool) -> None:
        self._expected = ""
        tool, _ = self.talk.called(call_id)
        end = ending(tool, text, failed=failed)
        self.talk.result(call_id, end.outcome, text, exit_code=end.exit_code, reason=end.reason)
        if end.outcome != "rejected":
            for words in typed_in(text):
                self.talk.user(words)

    def _assistant(self, message: dict[str, Any], blocks: list[Any], length: int) -> None:
        request = self._requests.pop() if self._requests else None
        model = text_in(part_of(message, "modelInfo"), "modelId", "id") or (request.model if request else "")
        response = text_in(message, "id") or f"message-{self._number}"
        self.talk.answers(model)
        self._written = []
        for block in blocks:
            kind = text_in(block, "type")
            if kind == "text":
                self._answer(text_in(block, "text"), model, response)
            elif kind in ("thinking", "reasoning"):
                self.talk.said(text_in(block, "thinking", "text"), model, response, reasoning=True)
            elif kind == "tool_use":
                self._call(text_in(block, "id"), text_in(block, "name"), arguments_of(block.get("input")), response)
            elif kind in _KNOWN:
                self.ignored[kind] += 1
            else:
                self.talk.unknown(kind or "block", "unknown_type", length)
        if metrics := part_of(message, "metrics"):
            self._spent(metrics, message, model, response)
        elif request is not None:
            spend(self.talk, request, response, model)

    def _answer(self, text: str, model: str, response: str) -> None:
        answer = answer_in(text)
        self.talk.said(answer.thinking, model, response, reasoning=True)
        self.talk.said(answer.text, model, response)
        for place, written in enumerate(answer.calls):
            call_id = f"{response}.{place}"
            self._written.append(call_id)
            self._call(call_id, written.tool, written.arguments, response)

    def _call(self, call_id: str, tool: str, arguments: dict[str, Any], response: str) -> None:
        action = ACTIONS.get(tool, "other")
        added = self.talk.call(
            call_id, tool, action, arguments, command=command_of(arguments) if action == "run" else "",
            cwd=text_in(arguments, "cwd"), paths=paths_in(arguments, *PATHS), response=response,
        )  # fmt: skip
        if not added:
            return
        if tool in SPOKEN:
            self.talk.said(text_in(arguments, SPOKEN[tool]), "", response)
        if action == "delegate":
            self.talk.delegated(call_id, text_in(arguments, "mode"), text_in(arguments, "message", "context", "prompt"))
        if items := checklist(text_in(arguments, "todos" if tool == "update_todo_list" else "task_progress")):
            self.talk.plan(items)

    def _spent(self, metrics: dict[str, Any], message: dict[str, Any], model: str, response: str) -> None:
        read, write = count(number(metrics.get("cacheReadTokens"))), count(number(metrics.get("cacheWriteTokens")))
        fresh = count(number(metrics.get("inputTokens")))
        if text_in(part_of(message, "modelInfo"), "provider") != "anthropic":
            fresh = max(0, fresh - read - write)  # only Anthropic tells what no cache had to do with
        self.talk.usage(response, model, fresh=fresh, read=read, write=write, output=metrics.get("outputTokens"))
