"""Results of OpenHands' evaluations: events, pairs, and events without arguments of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from passdown.errors import UsageError
from passdown.model.session import (
    AnyEvent,
    Interruption,
    SessionStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

Told = Callable[..., list[AnyEvent]]


def of(kind: type[Any], events: list[AnyEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_events(told: Told) -> None:
    events = told("openhands/results.jsonl", "pony__pony-1")
    [start] = of(SessionStart, events)
    assert (start.session_id, start.agent, start.cwd, start.commit) == (
        "pony__pony-1", "openhands", "/workspace/pony", "b" * 40
    )  # fmt: skip
    assert next((e.text, e.origin) for e in of(UserMessage, events)) == ("It crashes.", "human")
    assert [e.origin for e in of(UserMessage, events)[1:]] == ["injected", "injected"]
    assert [(r.outcome, r.exit_code) for r in of(ToolResult, events)] == [("failed", 2)]
    assert [e.reason for e in of(Interruption, events)] == ["error: AgentStuckInLoopError: stuck"]
    [usage] = of(Usage, events)
    assert (usage.response_id, usage.input, usage.cache_read) == ("g1", 60, 40)


def test_pairs(told: Told) -> None:
    events = told("openhands/results.jsonl", "2")
    assert [e.text for e in of(UserMessage, events)] == ["Add a file."]
    assert [(r.outcome, r.exit_code) for r in of(ToolResult, events)] == [("ok", 0)]


def test_events_without_arguments_of_their_own(told: Told) -> None:
    events = told("openhands/results.jsonl", "3")
    assert of(SessionStart, events)[0].session_id == "o__r-5"
    assert [e.text for e in of(UserMessage, events) if e.origin == "human"] == ["Add a licence."]
    assert [call.command for call in of(ToolCall, events)] == ["touch LICENSE"]
    assert [(r.outcome, r.exit_code) for r in of(ToolResult, events)] == [("ok", 0)]


def test_one_must_be_named(told: Told) -> None:
    with pytest.raises(UsageError, match="holds 3 trajectories: pony__pony-1, pony__pony-2, 3"):
        told("openhands/results.jsonl")
