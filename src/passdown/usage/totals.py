"""Sums over calls, the cache's part in them, and the refusal of numbers that contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct

from passdown.errors import FormatError
from passdown.usage.calls import Account, Call

CONVENTION = "read from cache / all input (fresh, read from and written to the cache)"
"""What a hit rate means here, whatever the vendor's log counts as input."""

By = Literal["agent", "model", "day", "subagent", "tool", "session"]


class Totals(Struct, frozen=True, kw_only=True):
    """Tokens of some calls. `input` is fresh input alone, `reasoning` is part of `output`."""

    calls: int = 0
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """All input tokens, however they were paid for."""
        return self.input + self.cache_read + self.cache_write

    @property
    def hit_rate(self) -> float | None:
        """The part of all input that was read from a cache; None without input."""
        return self.cache_read / self.prompt if self.prompt else None

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.prompt + self.output


class Priced(Struct, frozen=True, kw_only=True):
    """One call with whose it is: what sums are made of."""

    call: Call
    agent: str
    session_id: str
    subagent: str = ""


def sum_up(calls: Iterable[Call]) -> Totals:
    """Return the sums over calls."""
    count = fresh = read = written = output = reasoning = 0
    for call in calls:
        count += 1
        fresh += call.input
        read += call.cache_read
        written += call.cache_write
        output += call.output
        reasoning += call.reasoning
    return Totals(calls=count, input=fresh, cache_read=read, cache_write=written, output=output, reasoning=reasoning)


def check_convention(account: Account) -> None:
    """Raise `FormatError` for a call with more cached tokens than input: its log counts otherwise than we read it."""
    for call in account.calls:
        if 0 < call.context < call.cache_read + call.cache_write:
            raise FormatError(
                f"call {call.number} has {call.cache_read + call.cache_write:,} cached tokens in {call.context:,} of "
                "input: this log counts cached tokens beside the input, or they are no counts of one call",
                where=f"session {account.session_id}" if account.session_id else "session",
                next_step="Its tokens are not summed up. Please report the agent's version with one such record.",
            )


def owned(account: Account) -> list[Priced]:
    """Return an account's calls with whose they are; a subagent's own log counts as its."""
    apart = account.session_id if account.parent_kind == "subagent" else ""
    return [
        Priced(call=call, agent=account.agent, session_id=account.session_id, subagent=call.agent_id or apart)
        for call in account.calls
    ]


def grouped(calls: Sequence[Priced], by: By) -> dict[str, Totals]:
    """Return the sums by one property, the largest first; days in their order.

    By tool a call counts for the tool that it went on to call first, and for `(answer)` when it called none.
    """
    groups: dict[str, list[Call]] = {}
    for priced in calls:
        groups.setdefault(_KEYS[by](priced), []).append(priced.call)
    sums = {key: sum_up(found) for key, found in groups.items()}
    if by == "day":
        return dict(sorted(sums.items()))
    return dict(sorted(sums.items(), key=lambda item: (-item[1].tokens, item[0])))


def day_of(at: int | None) -> str:
    """Return the day (UTC) of a moment in milliseconds."""
    if at is None or not 0 <= at < 253_402_300_800_000:
        return "(no time)"
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%d")


_KEYS: dict[By, Callable[[Priced], str]] = {
    "agent": lambda priced: priced.agent or "?",
    "model": lambda priced: priced.call.model or "(no name)",
    "day": lambda priced: day_of(priced.call.at),
    "subagent": lambda priced: priced.subagent or "(main)",
    "tool": lambda priced: priced.call.steps[0].tool if priced.call.steps else "(answer)",
    "session": lambda priced: priced.session_id or "?",
}
