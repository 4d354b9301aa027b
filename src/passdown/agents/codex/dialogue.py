"""Messages that Codex writes twice, told apart from those it writes once.

A prompt stands in the log as a user-role item and as an event; what the program itself puts in stands there as an item
only. So an item waits, with everything after it, until its event confirms it or the model goes on without one. The
oldest files have no events: there an item that carries no known label is a person's prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from passdown.agents.codex.prompts import request_of
from passdown.model.session import AnyEvent, AssistantMessage, UserMessage

_PATIENCE = 256


class Dialogue:
    """Events held back until the messages among them are understood.

    `turns` are the byte offsets of the prompts so far; `items` is True once answers were seen to have items; `echo` is
    the text of an event whose item may still come.
    """

    def __init__(self) -> None:
        self.held: list[AnyEvent] = []
        self.waiting = False
        self.turns: list[int] = []
        self._candidates: list[tuple[int, str]] = []
        self._spoken: int | None = None
        self.echo: str | None = None
        self._events = False
        self.items = False

    def user_item(self, event: UserMessage) -> bool:
        """Take a user-role item that carries no label. Returns False when it repeats the event before it."""
        if self.echo is not None and _same(self.echo, event.text):
            self.echo = None
            return False
        self._candidates.append((len(self.held), event.text))
        self.held.append(event)
        self.waiting = True
        return True

    def user_event(self, event: UserMessage) -> list[AnyEvent]:
        """Take the event of a prompt; returns what may now be passed on."""
        self._events = True
        match = next((index for index, text in reversed(self._candidates) if _same(event.text, text)), None)
        if match is None:
            self.echo = event.text
            released = self.settle()
            self.turns.append(event.offset)
            return [*released, structs.replace(event, text=request_of(event.text))]
        item = self.held[match]
        self.held[match] = structs.replace(
            event, text=request_of(event.text), at=item.at, offset=item.offset, line=item.line
        )
        self._candidates = [(index, text) for index, text in self._candidates if index != match]
        self.turns.append(item.offset)
        return self.settle()

    def agent_event(self, event: AssistantMessage) -> list[AnyEvent]:
        """Take the event of an answer, which only counts where answers have no items."""
        self._resolve()
        self._spoken, self.waiting = len(self.held), True
        self.held.append(event)
        return self.settle() if len(self.held) > _PATIENCE else []

    def agent_item(self) -> list[AnyEvent]:
        """Take note that answers have items; returns what may now be passed on."""
        self.items, self.echo = True, None
        if not self.waiting:
            return []
        self._resolve()
        if self._spoken is not None:
            del self.held[self._spoken]
            self._spoken = None
        return self.settle()

    def hold(self, events: Sequence[AnyEvent]) -> list[AnyEvent]:
        """Hold events back behind the message that waits; returns them all when it has waited too long."""
        self.held += events
        return self.settle() if len(self.held) > _PATIENCE else []

    def settle(self) -> list[AnyEvent]:
        """Stop waiting: the model went on, or the turn ended. Returns everything held."""
        if not self.waiting:
            return []
        self._resolve()
        released, self.held = self.held, []
        self._spoken, self.waiting = None, False
        return released

    def _resolve(self) -> None:
        """Decide who wrote what waited in vain: the program where prompts have events, else a person."""
        for index, _ in self._candidates:
            event = self.held[index]
            if not isinstance(event, UserMessage):
                continue
            if self._events:
                self.held[index] = structs.replace(event, origin="injected")
            else:
                self.held[index] = structs.replace(event, text=request_of(event.text))
                self.turns.append(event.offset)
        self._candidates = []


def _same(one: str, other: str) -> bool:
    return one == other or one.strip() == other.strip()
