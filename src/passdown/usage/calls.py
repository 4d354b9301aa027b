"""One pass over a session's events: every call of the model with what it cost, what it did, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, structs

from passdown.model.session import (
    Action,
    AnyEvent,
    AssistantMessage,
    Compaction,
    SessionStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from passdown.usage.filled import Filled, Filling

WORDS = 200
"""Characters of a command or path that are kept of a step."""

_OPEN = 4_000


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool call of a model's call: the tool, its command or path, and the characters of what came back."""

    call_id: str
    tool: str
    action: Action = "other"
    words: str = ""
    at: int | None = None
    size: int = 0


class Call(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of the model. Tokens are as in `Usage`: `input` is neither read from nor written to a cache.

    `number` counts the session's calls from 1, `agent_id` names the subagent; `steps` are the tools it called.
    """

    number: int
    at: int | None = None
    agent_id: str = ""
    model: str = ""
    response_id: str = ""
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    context: int = 0
    window: int | None = None
    offset: int = 0
    steps: tuple[Step, ...] = ()

    @property
    def prompt(self) -> int:
        """All input tokens of the call, however they were paid for."""
        return self.input + self.cache_read + self.cache_write


class Shortening(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A compaction: behind which call, how many tokens before and after as the log says, and who asked for it."""

    after_call: int
    at: int | None = None
    trigger: str = ""
    tokens_before: int | None = None
    tokens_after: int | None = None
    micro: bool = False


class Account(Struct, frozen=True, kw_only=True):
    """What one session's log says of its cost. History copied from another session is left out, and counted."""

    session_id: str = ""
    agent: str = ""
    parent_kind: str = ""
    calls: tuple[Call, ...] = ()
    tool_calls: int = 0
    compactions: tuple[Shortening, ...] = ()
    filled: Filled = Filled()
    copied: int = 0

    @property
    def main(self) -> tuple[Call, ...]:
        """The main agent's calls whose prompt was measured."""
        return tuple(call for call in self.calls if not call.agent_id and call.context)


def next_prompt(account: Account, one: Shortening) -> int | None:
    """Return the main agent's first prompt after a compaction: what it left, as measured. None where none came."""
    return next((call.context for call in account.main if call.number > one.after_call), None)


class _Fold:
    """The calls found so far. A tool call goes with its response by id, else with the usage that is told next."""

    def __init__(self) -> None:
        self.start: SessionStart | None = None
        self.calls: list[Usage] = []
        self.steps: dict[str, Step] = {}
        self.by_response: dict[tuple[str, str], list[str]] = {}
        self.nameless: dict[int, list[str]] = {}
        self.loose: dict[str, list[str]] = {}
        self.order: list[str] = []
        self.shortenings: list[Shortening] = []
        self.filling = Filling()
        self.sizes: dict[str, int] = {}
        self.copied = 0

    def begin(self, event: SessionStart) -> None:
        if self.start is None:
            self.start = event

    def call(self, event: ToolCall) -> None:
        key = event.call_id or f"?{len(self.order)}"
        words = event.command or (event.paths[0] if event.paths else "")
        self.steps[key] = Step(
            call_id=event.call_id, tool=event.tool or "?", action=event.action, words=words[:WORDS], at=event.at
        )  # fmt: skip
        self.order.append(key)
        if event.response_id:
            self.by_response.setdefault((event.agent_id, event.response_id), []).append(key)
        self.loose.setdefault(event.agent_id, []).append(key)
        self.filling.call(event)

    def result(self, event: ToolResult) -> None:
        self.sizes[event.call_id] = self.sizes.get(event.call_id, 0) + len(event.text)
        step = self.steps.get(event.call_id)
        self.filling.result(event, step.tool if step is not None else "?")

    def usage(self, event: Usage) -> None:
        loose = self.loose.pop(event.agent_id, [])
        if not event.response_id or (event.agent_id, event.response_id) not in self.by_response:
            self.nameless[len(self.calls)] = loose
        self.calls.append(event)

    def compaction(self, event: Compaction) -> None:
        self.filling.summary(event)
        if not event.agent_id:
            self.shortenings.append(
                Shortening(
                    after_call=len(self.calls), at=event.at, trigger=event.trigger, micro=event.micro,
                    tokens_before=event.tokens_before, tokens_after=event.tokens_after,
                )
            )  # fmt: skip

    def finish(self) -> Account:
        known = {key for keys in self.by_response.values() for key in keys}
        calls = []
        for index, usage in enumerate(self.calls):
            keys = self.by_response.get((usage.agent_id, usage.response_id), []) if usage.response_id else []
            if not keys:
                keys = [key for key in self.nameless.get(index, []) if key not in known]
            calls.append(_call(index + 1, usage, tuple(self._step(key) for key in keys)))
        start = self.start
        return Account(
            session_id=start.session_id if start else "", agent=start.agent if start else "",
            parent_kind=start.parent_kind if start else "", calls=tuple(calls), tool_calls=len(self.order),
            compactions=tuple(self.shortenings), filled=self.filling.finish(), copied=self.copied,
        )  # fmt: skip

    def _step(self, key: str) -> Step:
        step = self.steps[key]
        size = self.sizes.get(step.call_id, 0)
        return structs.replace(step, size=size) if size else step


def _call(number: int, usage: Usage, steps: tuple[Step, ...]) -> Call:
    return Call(
        number=number, at=usage.at, agent_id=usage.agent_id, model=usage.model, response_id=usage.response_id,
        input=usage.input, cache_read=usage.cache_read, cache_write=usage.cache_write, output=usage.output,
        reasoning=usage.reasoning, context=usage.context, window=usage.window, offset=usage.offset, steps=steps,
    )  # fmt: skip


_HANDLERS: dict[type, Callable[[_Fold, Any], None]] = {
    SessionStart: _Fold.begin,
    ToolCall: _Fold.call,
    ToolResult: _Fold.result,
    Usage: _Fold.usage,
    Compaction: _Fold.compaction,
    UserMessage: lambda fold, event: fold.filling.user(event),
    AssistantMessage: lambda fold, event: fold.filling.said(event),
}


def read_account(events: Iterable[AnyEvent]) -> Account:
    """Return what a session's events say of its cost. What was rewound was paid for and counts."""
    fold = _Fold()
    for event in events:
        handler = _HANDLERS.get(type(event))
        if handler is None:
            continue
        if event.copied and not isinstance(event, SessionStart):
            fold.copied += isinstance(event, Usage)
            continue
        handler(fold, event)
    return fold.finish()
