"""Secrets are taken out of a trajectory before any of it is written down: every later step works on what is left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from passdown.data.records import Trajectory
from passdown.data.scrubber import Scrubber
from passdown.data.trajectory import with_events
from passdown.io.log import BAD
from passdown.model.session import AnyEvent, PlanUpdate, ToolCall
from passdown.sessions.export import redacted_events

_TEXTS = ("text", "command", "summary", "prompt", "title", "reason", "name")
"""Fields of events that hold what somebody wrote or a program printed: no ids, models or folders."""


def mask_secrets(trajectory: Trajectory) -> Trajectory:
    """Return the trajectory with `[redacted:<kind>]` for each secret, and their number by kind in `masked`.

    The same secret has the same mark wherever it stands, so that edits still fit the files that they are made in. The
    result depends on the trajectory alone; one without secrets comes back as it is.
    """
    scrubber = Scrubber({})
    scrubber.learn(text for step in trajectory.steps for event in step.events for text in _texts(event))
    events = [tuple(_masked(event, scrubber) for event in step.events) for step in trajectory.steps]
    outcome = replace(trajectory.outcome, patch=scrubber.text(trajectory.outcome.patch))
    task = scrubber.text(trajectory.task_text)
    tools, extras = _document(trajectory.tools, scrubber), _document(trajectory.extras, scrubber)
    if not scrubber.counts:
        return trajectory
    beside = replace(trajectory, outcome=outcome, task_text=task, tools=tools, extras=extras)
    return replace(with_events(beside, events), masked=dict(sorted(scrubber.counts.items())))


def _texts(event: AnyEvent) -> Iterator[str]:
    for name in _TEXTS:
        if text := getattr(event, name, ""):
            yield text
    if isinstance(event, PlanUpdate):
        yield from (item.text for item in event.items)
    if isinstance(event, ToolCall):
        yield from event.paths
        yield from _leaves(event.arguments)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def _masked(event: AnyEvent, scrubber: Scrubber) -> AnyEvent:
    """Return the event without secrets: itself, where it has none."""
    held = any(scrubber.text(text) != text for text in _texts(event))
    if not held and isinstance(event, ToolCall):  # what only its name gives away
        held = scrubber.tree(event.arguments) != event.arguments
    return next(redacted_events((event,), scrubber)) if held else event


def _document(text: str, scrubber: Scrubber) -> str:
    """Return a JSON text without secrets, which is JSON still."""
    if scrubber.text(text) == text:
        return text
    try:
        return msgspec.json.encode(scrubber.tree(msgspec.json.decode(text))).decode()
    except BAD:
        return scrubber.text(text)
