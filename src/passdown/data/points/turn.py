"""Turns: a person speaks when work was begun. Whatever they say is what comes next, a review as well."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.points.run import Found, Run
from passdown.data.records import Mark
from passdown.data.requests import is_request


def marks(run: Run) -> Iterator[Found]:
    """Yield where a message of a person came in."""
    begun = False
    for at, signals in enumerate(run.signals):
        if begun and any(map(is_request, signals.step.events)):
            yield Found(at + 1, Mark(detector="user_turn", kind="turn", steps=(at,)))
        begun = begun or bool(signals.done)
