"""What a session's log says of its context: how large the last prompt was, and how the agent keeps it small."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from passdown.model.session import AnyEvent, Compaction, SessionStart, Usage


class Gauge(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The main agent's context as last measured.

    `context` is None before the first answer and between a compaction and the next one. `largest` is the largest prompt
    the `model` was sent, `window` the limit the log itself names; `compacted_at` is the smallest context that the agent
    shortened by itself.
    """

    context: int | None = None
    model: str = ""
    largest: int = 0
    window: int | None = None
    compactions: int = 0
    compacted_at: int | None = None
    at: int | None = None
    session_id: str = ""


def read_gauge(events: Iterable[AnyEvent]) -> Gauge:
    """Return the state of the main agent's context at the end of a session's events."""
    context: int | None = None
    window: int | None = None
    compacted_at: int | None = None
    at: int | None = None
    model, largest, compactions = "", 0, 0
    session_id = ""
    for event in events:
        if isinstance(event, Usage):
            if event.agent_id or not event.active or not event.context:
                continue
            if event.model and event.model != model:
                model, largest, window = event.model, 0, None
            context, at, largest = event.context, event.at, max(largest, event.context)
            window = event.window or window
        elif isinstance(event, SessionStart):
            session_id = session_id or event.session_id
        elif isinstance(event, Compaction) and event.active and not event.agent_id:
            if not event.micro:
                compactions += not event.copied
                context = event.tokens_after or None
            if event.trigger == "auto" and event.tokens_before and not event.micro:
                compacted_at = min(compacted_at or event.tokens_before, event.tokens_before)
    return Gauge(
        context=context, model=model, largest=largest, window=window, compactions=compactions, at=at,
        compacted_at=compacted_at, session_id=session_id,
    )  # fmt: skip
