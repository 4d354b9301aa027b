"""A sample as messages, each with the role its tokens have in training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any

import msgspec
from msgspec import Struct

from passdown.data.records import Continuation, Step, Trajectory
from passdown.model.session import AnyEvent, AssistantMessage, ToolCall, ToolResult, UserMessage

SYSTEM = "You are a software engineer who works in a repository through tools. Say what you do, and check it."


class Role(IntEnum):
    """What a token is in training, as in ECHO (arXiv 2605.24517); the numbers are those of the exported masks."""

    OTHER = 0
    ACTION = 1
    ENV = 2
    HARNESS = 3
    RECONSTRUCTION = 4
    COPIED = 5


class Called(Struct, frozen=True, kw_only=True):
    """One tool call of an assistant's message; `arguments` is a JSON text."""

    id: str
    name: str
    arguments: str


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. `role` is the chat's, `part` what its tokens are in training; `step` where it was taken from."""

    role: str
    content: str = ""
    reasoning: str = ""
    calls: tuple[Called, ...] = ()
    call_id: str = ""
    part: Role = Role.OTHER
    step: int | None = None

    def plain(self) -> dict[str, Any]:
        """Return the message as chat interfaces have it, without the roles of training."""
        made: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.reasoning:
            made["reasoning_content"] = self.reasoning
        if self.calls:
            made["tool_calls"] = [
                {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
                for one in self.calls
            ]
        if self.call_id:
            made["tool_call_id"] = self.call_id
        return made


def opening(view_text: str) -> list[Message]:
    """Return how every takeover begins: a system message, and the view (which holds preamble and task)."""
    return [Message(role="system", content=SYSTEM), Message(role="user", content=view_text)]


def continued(run: Trajectory, continuation: Continuation) -> Iterator[Message]:
    """Yield the messages of a continuation. Masked steps are there, but their tokens are context."""
    masked = set(continuation.masked)
    for place in (*continuation.inspection, *range(continuation.start, continuation.stop)):
        step = run.steps[place]
        part = Role.OTHER if place in masked else Role.ACTION
        yield from step_messages(step, part)


def step_messages(step: Step, part: Role) -> Iterator[Message]:
    """Yield one step's messages: the agent's turn first, then what the environment or a person answered."""
    if step.role == "agent":
        yield from _turn(step, part)
    asked = {event.call_id for event in step.events if isinstance(event, ToolCall) and _asks(event)}
    for event in step.events:
        if isinstance(event, UserMessage) and event.origin != "queued":
            yield Message(role="user", content=event.text, part=_said_by(event), step=step.idx)
        elif isinstance(event, ToolResult):
            part = _answered(event, asked=event.call_id in asked)
            yield Message(role="tool", content=event.text, call_id=event.call_id, part=part, step=step.idx)


def _answered(event: ToolResult, *, asked: bool) -> Role:
    """Return what a result is: where a person answered, refused or stopped a call, it is the harness that speaks."""
    return Role.HARNESS if asked or event.outcome in ("rejected", "interrupted") else Role.ENV


def _asks(call: ToolCall) -> bool:
    """Say whether a person answers a call: a question, or a plan that is laid before them."""
    return call.action == "ask" or call.tool.replace("_", "").lower() == "exitplanmode"


def _said_by(event: UserMessage) -> Role:
    return Role.HARNESS if event.origin in ("hook", "injected") else Role.OTHER


def _turn(step: Step, part: Role) -> Iterator[Message]:
    said = _texts(step.events, reasoning=False)
    thought = _texts(step.events, reasoning=True)
    calls = tuple(
        Called(id=event.call_id, name=event.tool, arguments=_json(event.arguments))
        for event in step.events
        if isinstance(event, ToolCall)
    )
    if said or thought or calls:
        yield Message(role="assistant", content=said, reasoning=thought, calls=calls, part=part, step=step.idx)


def _texts(events: Iterable[AnyEvent], *, reasoning: bool) -> str:
    return "\n\n".join(
        event.text for event in events if isinstance(event, AssistantMessage) and event.reasoning == reasoning
    ).strip()


def _json(arguments: dict[str, Any]) -> str:
    return msgspec.json.encode(arguments).decode()
