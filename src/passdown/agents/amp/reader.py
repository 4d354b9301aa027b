"""From Amp's messages to passdown's events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.amp.tools import ACTIONS, PATHS, ending
from passdown.agents.dialogue import (
    Dialogue,
    arguments_of,
    moment,
    number,
    part_of,
    paths_in,
    plan_in,
    text_in,
    text_of,
)
from passdown.io.log import count, whole
from passdown.model.session import AnyEvent

_KNOWN = frozenset({"redacted_thinking", "manual_bash_invocation_result", "server_tool_use", "image_url"})


class Reader:
    """Turns messages into events, in their order. `ledger` holds the tokens by message, where they are kept apart."""

    def __init__(self, ledger: dict[int, dict[str, Any]]) -> None:
        self.ignored: Counter[str] = Counter()
        self.talk = Dialogue()
        self.at: int | None = None
        self._ledger = ledger

    def add(self, message: dict[str, Any], offset: int, length: int) -> list[AnyEvent]:
        """Return the events of one message."""
        usage = part_of(message, "usage")
        self.at = moment(part_of(message, "meta").get("sentAt")) or moment(message.get("timestamp")) or self.at
        self.at = moment(usage.get("timestamp")) or self.at
        self.talk.place(self.at, offset, agent_id=text_in(message, "parentToolUseId"))
        role = text_in(message, "role")
        if role == "user":
            self._user(message, length)
        elif role == "assistant":
            self._assistant(message, usage, length, offset)
        elif role == "info":
            self._info(message)
        else:
            self.talk.unknown(role or "message", "unknown_type" if role else "bad_shape", length)
        return self.talk.take()

    def _user(self, message: dict[str, Any], length: int) -> None:
        texts, images = [], 0
        for block in _blocks(message):
            kind = text_in(block, "type")
            if kind == "text":
                texts.append(text_in(block, "text"))
            elif kind == "image":
                images += 1
            elif kind == "tool_result":
                self._result(block)
            elif kind in _KNOWN:
                self.ignored[kind] += 1
            else:
                self.talk.unknown(kind or "block", "unknown_type", length)
        if texts or images:
            nested = bool(text_in(message, "parentToolUseId"))
            self.talk.user("\n".join(texts), "subagent" if nested else "human", images)
        if message.get("interrupted") is True:
            self.talk.stopped(during_tool=self.talk.waiting)

    def _result(self, block: dict[str, Any]) -> None:
        call_id = text_in(block, "toolUseID", "tool_use_id", "toolUseId")
        tool, arguments = self.talk.called(call_id)
        run = block.get("run")
        end = ending(tool, run if run is not None else {"status": "done", "result": block.get("content")})
        self.talk.result(call_id, end.outcome, end.text, exit_code=end.exit_code, reason=end.reason)
        if tool == "todo_write" and end.outcome == "ok" and (items := plan_in(arguments.get("todos"))):
            self.talk.plan(items)

    def _assistant(self, message: dict[str, Any], usage: dict[str, Any], length: int, offset: int) -> None:
        model, response = text_in(usage, "model"), f"message-{message.get('messageId', offset)}"[:80]
        self.talk.answers(model)
        for block in _blocks(message):
            kind = text_in(block, "type")
            if kind in ("text", "thinking"):
                self.talk.said(text_in(block, kind), model, response, reasoning=kind == "thinking")
            elif kind == "tool_use":
                self._call(block, response)
            elif kind in _KNOWN:
                self.ignored[kind] += 1
            else:
                self.talk.unknown(kind or "block", "unknown_type", length)
        self._spent(message, usage, model, response)
        state = part_of(message, "state")
        if text_in(state, "type") == "cancelled":
            self.talk.stopped(during_tool=self.talk.waiting)
        elif text_in(state, "type") == "error":
            self.talk.stopped(f"error: {text_in(state, 'message') or text_in(state.get('error'), 'message')}")

    def _call(self, block: dict[str, Any], response: str) -> None:
        tool, arguments = text_in(block, "name"), arguments_of(block.get("input"))
        action = ACTIONS.get(tool, "other")
        call_id = text_in(block, "id")
        added = self.talk.call(
            call_id, tool, action, arguments, command=text_in(arguments, "cmd", "command") if action == "run" else "",
            cwd=text_in(arguments, "cwd", "workdir"), paths=paths_in(arguments, *PATHS), response=response,
        )  # fmt: skip
        if added and tool == "Task":
            self.talk.delegated(call_id, text_in(arguments, "description"), text_in(arguments, "prompt"), call_id)

    def _spent(self, message: dict[str, Any], usage: dict[str, Any], model: str, response: str) -> None:
        named = message.get("messageId")
        entry = self._ledger.get(named) if isinstance(named, int) else None
        tokens = part_of(entry, "tokens")
        if not usage and entry is None:
            return
        read, write = usage.get("cacheReadInputTokens"), usage.get("cacheCreationInputTokens")
        fresh = tokens.get("input", usage.get("inputTokens"))
        output = tokens.get("output", usage.get("outputTokens"))
        if not any(count(number(value)) for value in (fresh, read, write, output)):
            return
        self.talk.usage(
            response, model or text_in(entry, "model"), fresh=fresh, read=read, write=write, output=output,
            window=whole(number(usage.get("maxInputTokens"))),
        )  # fmt: skip

    def _info(self, message: dict[str, Any]) -> None:
        for block in _blocks(message):
            kind = text_in(block, "type")
            if kind == "summary":
                self.talk.compacted(text_in(part_of(block, "summary"), "summary") or text_in(block, "summary"))
            elif kind == "text":
                self.talk.user(text_in(block, "text"), "injected")
            else:
                self.ignored[f"info.{kind}"[:80]] += 1


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [{"type": "text", "text": text_of(content)}] if content else []
