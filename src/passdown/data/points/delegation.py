"""Delegation: work goes to a subagent, and what it found comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from passdown.data.actions.delegated import is_away
from passdown.data.points.run import Found, Run
from passdown.data.points.signals import Signals
from passdown.data.records import Mark
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall, ToolResult, UserMessage

_FINISHED = lazy_pattern(r"(?i)\bAgent\b[^\n]{0,200}\b(?:has )?(?:finished|completed|is done)\b")
_NOTES = ("<task-notification", "<system_notification", "<subagent_notification")


class Return(NamedTuple):
    """What a subagent gave back, and the call that sent it off. A `note` of the harness may say no more than that."""

    step: int
    call: ToolCall
    text: str
    note: bool = False


def marks(run: Run) -> Iterator[Found]:
    """Yield where work was delegated and where it came back."""
    away: dict[str, ToolCall] = {}
    for at, signals in enumerate(run.signals):
        back = bool(returns(signals, at, away))
        sent = False
        for event in signals.delegated:
            results = signals.results.get(event.call_id, [])
            if results and all(result.outcome in ("failed", "rejected", "interrupted") for result in results):
                continue
            if is_away(results):
                away[event.call_id] = event
                sent = True
            else:
                back = True
                yield Found(at, Mark(detector="delegated", kind="delegation", steps=(at,), oracle_select=True))
        if sent:
            yield Found(at + 1, Mark(detector="delegated", kind="delegation", steps=(at,)))
        if back:
            yield Found(at + 1, Mark(detector="returned", kind="delegation", steps=(at,)))


def returns(signals: Signals, at: int, away: dict[str, ToolCall]) -> list[Return]:
    """Take those that came back out of `away`: by a later result of their call, or by a note of the harness."""
    found: list[Return] = []
    if not away:
        return found
    for event in signals.step.events:
        if isinstance(event, ToolResult) and event.call_id in away and event.outcome != "running":
            found.append(Return(at, away.pop(event.call_id), event.text))
        elif (
            isinstance(event, UserMessage)
            and event.origin == "injected"
            and event.text.lstrip().startswith(_NOTES)
            and _FINISHED.search(event.text[:4000])
        ):
            call_id = next((name for name, call in away.items() if _names(event.text, call)), next(iter(away)))
            found.append(Return(at, away.pop(call_id), event.text, note=True))
    return found


def _names(text: str, call: ToolCall) -> bool:
    values = [call.call_id, *(call.arguments.get(name) for name in ("name", "description", "agent_id"))]
    return any(isinstance(value, str) and len(value) > 3 and value in text for value in values)
