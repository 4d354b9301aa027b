"""Subagents that are at work in the background, and what comes back of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from passdown.data.actions.delegated import handed_back, looked_at
from passdown.data.points.signals import Signals
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall, ToolResult, UserMessage

_FINISHED = lazy_pattern(r"(?i)\bAgent\b[^\n]{0,200}\b(?:has )?(?:finished|completed|is done)\b")
_NOTES = ("<task-notification", "<system_notification", "<subagent_notification")


class Return(NamedTuple):
    """What a subagent gave back, and what it was sent for. A `note` of the harness may say no more than that it did.

    `late` is what is looked up of one that is known to have come back.
    """

    about: Mapping[str, Any]
    text: str
    note: bool = False
    late: bool = False


class Away:
    """The subagents that were sent off and have not come back."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._sent: dict[str, str] = {}
        self._seen: set[tuple[str, str]] = set()

    def send(self, call: ToolCall, results: Sequence[ToolResult]) -> None:
        """Remember a subagent, and what its program said when it was sent off."""
        self._calls[call.call_id] = call
        self._sent[call.call_id] = " ".join(result.text[:1000] for result in results)

    def back(self, signals: Signals) -> list[Return]:
        """Take those that came back: by a later result of their call, by a look at them, by a note or a message."""
        found: list[Return] = []
        for event in signals.step.events:
            if isinstance(event, ToolResult):
                found += self._result(event)
            elif isinstance(event, UserMessage) and event.origin == "injected":
                found += self._message(event.text)
        return found

    def _result(self, event: ToolResult) -> list[Return]:
        if event.call_id in self._calls:
            return [] if event.outcome == "running" else [Return(self._take(event.call_id), event.text)]
        look = looked_at(event.text)
        if look is None or (look.agent, look.turns) in self._seen:
            return []
        self._seen.add((look.agent, look.turns))
        call_id = self._named(look.agent)
        return [Return({**look.about, **(self._take(call_id) if call_id else {})}, look.told, late=not call_id)]

    def _message(self, text: str) -> list[Return]:
        if not self._calls:
            return []
        handed = handed_back(text)
        if handed is not None:
            return [Return(self._take(self._named(handed.agent) or next(iter(self._calls))), handed.told)]
        if text.lstrip().startswith(_NOTES) and _FINISHED.search(text[:4000]):
            call_id = next((name for name, call in self._calls.items() if _names(text, call)), next(iter(self._calls)))
            return [Return(self._take(call_id), text, note=True)]
        return []

    def _take(self, call_id: str) -> Mapping[str, Any]:
        del self._sent[call_id]
        return self._calls.pop(call_id).arguments

    def _named(self, agent: str) -> str:
        """Return the call that sent off a subagent of this name or id."""
        return next(
            (
                name
                for name, call in self._calls.items()
                if call.arguments.get("name") == agent or agent in self._sent[name]
            ),
            "",
        )


def _names(text: str, call: ToolCall) -> bool:
    values = [call.call_id, *(call.arguments.get(name) for name in ("name", "description", "agent_id"))]
    return any(isinstance(value, str) and len(value) > 3 and value in text for value in values)
