"""Prompts typed while the agent was busy: `queue-operation` rows, and the attachments that deliver them.

`dequeue` delivers a prompt as a turn of its own (a user row follows), `remove` in the middle of a turn: newer versions
log an attachment for it, older ones nothing at all, so the prompt stands in the queue's rows alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.claude_code.origins import classify, is_command
from passdown.model.session import Origin, UserMessage

MOST = 256
"""Prompts kept waiting at once."""


class Queued(NamedTuple):
    """A prompt in the queue, and where it was put there."""

    text: str
    origin: Origin
    where: dict[str, Any]

    def message(self, origin: Origin | None = None) -> UserMessage:
        """Return it as an event."""
        return UserMessage(text=self.text, origin=origin or self.origin, **self.where)


class PromptQueue:
    """The queue as the rows tell it."""

    def __init__(self) -> None:
        self.waiting: list[Queued] = []
        self.leaving: list[Queued] = []
        self.settled: list[str] = []

    def operate(self, operation: object, text: str, where: dict[str, Any]) -> list[UserMessage]:
        """Apply a row; return prompts that were taken back into the input box."""
        if operation == "enqueue" and text and len(self.waiting) < MOST:
            origin, clean = classify(text)
            self.waiting.append(Queued(clean, "command" if is_command(clean) else origin, where))
        elif operation == "dequeue":
            self._take(text)
        elif operation == "remove":
            self._remove(text)
        elif operation == "popAll":
            taken, self.waiting = self.waiting, []
            return [item.message("queued") for item in taken if item.origin == "human"]
        return []

    def _remove(self, text: str) -> None:
        clean = classify(text)[1] if text else ""
        if clean and clean in self.settled:
            self.settled.remove(clean)
        elif (item := self._take(clean, people_first=True)) is not None:
            self.leaving.append(item)

    def _take(self, text: str, *, people_first: bool = False) -> Queued | None:
        """Take the named item, else the first: of a person's prompts when `people_first`, which overtake notices."""
        for number, item in enumerate(self.waiting):
            if text and item.text == text:
                return self.waiting.pop(number)
        if not self.waiting:
            return None
        human = [number for number, item in enumerate(self.waiting) if item.origin == "human"]
        return self.waiting.pop(human[0] if human and people_first else 0)

    def delivered(self, text: str) -> None:
        """Note that a row of its own delivers this prompt, so that it is not told twice."""
        for items in (self.leaving, self.waiting):
            for number, item in enumerate(items):
                if item.text == text:
                    items.pop(number)
                    if items is self.waiting and len(self.settled) < MOST:
                        self.settled.append(text)
                    return

    def flush(self) -> list[UserMessage]:
        """Return the prompts that were delivered with no other trace of them."""
        gone, self.leaving = self.leaving, []
        return [item.message() for item in gone]

    def close(self) -> list[UserMessage]:
        """Return what the session's end found still waiting: typed by a person, never delivered."""
        return self.flush() + [item.message("queued") for item in self.waiting if item.origin == "human"]
