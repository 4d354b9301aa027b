"""From Goose's messages (`crates/goose/src/conversation/message.rs`) to passdown's events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.dialogue import Dialogue, arguments_of, checklist, number, part_of, paths_in, text_in
from passdown.agents.goose.tools import PATHS, action_of, bare, ending
from passdown.io.log import count
from passdown.model.session import AnyEvent, Origin

_KNOWN = frozenset({
    "toolConfirmationRequest", "actionRequired", "redactedThinking", "systemNotification", "contextLengthExceeded",
    "summarizationRequested", "reasoningDetails",
})  # fmt: skip
_SUMMARISED = ("previous message contains a summary", "context was compacted", "conversation was summarized")
_PLACEHOLDER = "unknown"


class Reader:
    """Turns messages into events, in their order.

    `delegated` says that the session is a subagent's, whose first message its agent wrote. `counted` says that the
    tokens are kept apart from the messages.
    """

    def __init__(self, *, delegated: bool = False, counted: bool = False) -> None:
        self.ignored: Counter[str] = Counter()
        self.talk = Dialogue()
        self._delegated = delegated
        self._counted = counted
        self._hidden = ""
        self._compactions = 0

    def untold(self, compactions: int) -> list[AnyEvent]:
        """Return the compactions of which only their tokens tell, out of so many."""
        for _ in range(compactions - self._compactions):
            self.talk.compacted()
        return self.talk.take()

    def add(
        self, role: str, content: Any, metadata: dict[str, Any], length: int, *, at: int | None, offset: int,
        line: int = 0,
    ) -> list[AnyEvent]:  # fmt: skip
        """Return the events of one message."""
        self.talk.place(at, offset, line)
        if not isinstance(content, list):
            self.talk.unknown(role or "message", "bad_json" if content is None else "bad_shape", length)
        elif role == "user":
            self._user(content, metadata, length)
        elif role == "assistant":
            self._assistant(content, metadata, length, offset)
        else:
            self.talk.unknown(role or "message", "unknown_type", length)
        return self.talk.take()

    def _user(self, content: list[Any], metadata: dict[str, Any], length: int) -> None:
        texts, images = [], 0
        for block in content:
            kind = text_in(block, "type")
            if kind == "text":
                texts.append(text_in(block, "text"))
            elif kind == "image":
                images += 1
            elif kind == "toolResponse":
                self._result(block)
            else:
                self._other(kind, block, length)
        if texts or images:
            text = "\n".join(texts)
            unseen = metadata.get("userVisible") is False
            self._hidden = text if unseen else ""
            self.talk.user(text, self._origin(unseen=unseen), images)

    def _origin(self, *, unseen: bool) -> Origin:
        if unseen:
            return "injected"
        delegated, self._delegated = self._delegated, False
        return "subagent" if delegated else "human"

    def _result(self, block: dict[str, Any]) -> None:
        call_id = text_in(block, "id")
        tool, arguments = self.talk.called(call_id)
        end = ending(action_of(tool, arguments), block.get("toolResult"))
        self.talk.result(call_id, end.outcome, end.text, exit_code=end.exit_code)
        if bare(tool) == "todo_write" and end.outcome == "ok":
            text = text_in(arguments, "content", "todo")
            self.talk.plan(checklist(text), text)

    def _assistant(self, content: list[Any], metadata: dict[str, Any], length: int, offset: int) -> None:
        inference, usage = part_of(metadata, "inference"), part_of(metadata, "usage")
        model, response = text_in(inference, "resolvedModel", "requestedModel"), f"message-{offset}"
        if metadata.get("userVisible") is False and self._continues(content):
            return
        self.talk.answers(model)
        for block in content:
            kind = text_in(block, "type")
            if kind in ("text", "thinking", "reasoning"):
                self.talk.said(text_in(block, kind, "text"), model, response, reasoning=kind != "text")
            elif kind in ("toolRequest", "frontendToolRequest"):
                self._call(block, response)
            elif kind == "image":
                self.ignored[kind] += 1
            else:
                self._other(kind, block, length)
        if usage and not self._counted:
            self.spent(usage, model, response)

    def _continues(self, content: list[Any]) -> bool:
        """Take the words with which the program goes on after a compaction; the summary stands right before them."""
        text = " ".join(text_in(block, "text") for block in content).lower()
        if not self._hidden or not any(words in text for words in _SUMMARISED):
            return False
        self._compact(self._hidden)
        self._hidden = ""
        return True

    def _compact(self, summary: str) -> None:
        self._compactions += 1
        self.talk.compacted(summary)

    def spent(self, usage: dict[str, Any], model: str, response: str) -> None:
        """Add the tokens of one response: what went in holds what came from a cache and what was written to one."""
        inputs = {name.replace("_", "").lower(): count(number(value)) for name, value in usage.items()}
        read, write = inputs.get("cachereadtokens", 0), inputs.get("cachewritetokens", 0)
        fresh, output = max(0, inputs.get("inputtokens", 0) - read - write), inputs.get("outputtokens", 0)
        if fresh or read or write or output:
            self.talk.usage(response, model, fresh=fresh, read=read, write=write, output=output)

    def _call(self, block: dict[str, Any], response: str) -> None:
        wrapped = part_of(block, "toolCall")
        value = part_of(wrapped, "value") or wrapped
        tool, arguments = text_in(value, "name") or _PLACEHOLDER, arguments_of(value.get("arguments"))
        action, call_id = action_of(tool, arguments), text_in(block, "id")
        added = self.talk.call(
            call_id, tool, action, arguments, command=text_in(arguments, "command") if action == "run" else "",
            cwd=text_in(arguments, "working_dir"), paths=paths_in(arguments, *PATHS), response=response,
        )  # fmt: skip
        if added and action == "delegate":
            self.talk.delegated(call_id, text_in(arguments, "source"), text_in(arguments, "instructions", "prompt"))

    def _other(self, kind: str, block: Any, length: int) -> None:
        if kind == "conversationCompacted":
            self._compact("")
        elif kind == "error":
            self.talk.stopped(f"error: {text_in(block, 'message', 'kind')}")
        elif kind in _KNOWN:
            self.ignored[kind] += 1
        else:
            self.talk.unknown(kind or "block", "unknown_type", length)
