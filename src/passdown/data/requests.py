"""What people ask for in the course of a run."""

from __future__ import annotations

from collections.abc import Iterable

from passdown.data.records import Step
from passdown.model.session import AnyEvent, UserMessage
from passdown.packet.vague import is_vague


def is_request(event: AnyEvent) -> bool:
    """Say whether an event is a message that a person wrote for the agent, themselves or by a command of theirs."""
    if not isinstance(event, UserMessage):
        return False
    if event.origin == "command":  # one that only the agent's program carries out has no words but its name
        return bool(event.command) or not event.text.startswith("/")
    return event.origin in ("human", "queued")


def first_request(steps: tuple[Step, ...]) -> str:
    """Return the first request that says what to do, else what a command was given, else the first request.

    A greeting or `/mode` is no task; where nobody asked for anything else, the words behind a slash command are one.
    """
    said = [event for step in steps for event in step.events if isinstance(event, UserMessage)]
    requests = [event.text for event in said if event.origin in ("human", "plan", "subagent")]
    commands = [event.text for event in said if event.origin == "command"]
    return next((text for text in (*requests, *commands) if not is_vague(text)), requests[0] if requests else "")


def requests_since(steps: Iterable[Step], task: str) -> list[tuple[int, str]]:
    """Return what people said once something had been done, the task left out: the step and the words of each.

    Of a message that was taken back and sent again, longer, only the last is kept; one of images alone has no words.
    """
    found: list[tuple[int, str]] = []
    begun = False
    for step in steps:
        for event in step.events if begun else ():
            if isinstance(event, UserMessage) and is_request(event) and event.text.strip() not in ("", task.strip()):
                if found and event.text.startswith(found[-1][1]):
                    found.pop()
                found.append((step.idx, event.text))
        begun = begun or bool(step.actions)
    return found
