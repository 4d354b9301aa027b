"""Reviews that people bring: their comments are in a message, and it calls them so."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.points.run import Found, Run
from passdown.data.records import Mark
from passdown.data.reviews.brought import brings
from passdown.model.session import UserMessage


def marks(run: Run) -> Iterator[Found]:
    """Yield where a person seems to have just brought the comments of a review."""
    begun = False
    for at, signals in enumerate(run.signals):
        said = (event for event in signals.step.events if isinstance(event, UserMessage))
        if begun and any(event.origin in ("human", "queued") and brings(event.text) for event in said):
            yield Found(at + 1, Mark(detector="review_brought", kind="review", steps=(at,)))
        begun = begun or bool(signals.done)  # before that is no place to cut, and first messages are long
