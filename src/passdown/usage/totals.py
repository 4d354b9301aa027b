"""Sums over calls, the cache's part in them, and the refusal of numbers that contradict each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from operator import add
from typing import Literal, NamedTuple

from msgspec import Struct

from passdown.errors import FormatError
from passdown.model.session import Usage
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
    if reason := contradiction(account.calls):
        raise FormatError(
            reason, where=f"session {account.session_id}" if account.session_id else "session",
            next_step="Its tokens are not summed up. Please report the agent's version with one such record.",
        )  # fmt: skip


def contradiction(calls: Iterable[Call | Usage]) -> str:
    """Return why the numbers of calls cannot be right, empty when they can."""
    for number, call in enumerate(calls, 1):
        if 0 < call.context < call.cache_read + call.cache_write:
            return (
                f"call {number} has {call.cache_read + call.cache_write:,} cached tokens in {call.context:,} of "
                "input: this log counts cached tokens beside the input, or they are no counts of one call"
            )
    return ""


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
    ledger = Ledger()
    for priced in calls:
        ledger.add(priced)
    return ledger.grouped(by)


class Mine(NamedTuple):
    """Whose and when some calls were: what sums are grouped by. `measured` is False where no log says the input."""

    agent: str
    session: str
    subagent: str
    model: str
    day: int
    tool: str
    measured: bool


class Ledger:
    """Sums under way, kept apart by all that they can be grouped by."""

    def __init__(self) -> None:
        self._sums: dict[Mine, list[int]] = {}

    def add(self, priced: Priced, *, tool: bool = True) -> None:
        """Add one call."""
        call = priced.call
        first = (call.steps[0].tool if call.steps else "(answer)") if tool else ""
        mine = Mine(
            priced.agent, priced.session_id, priced.subagent, call.model, day_number(call.at), first, bool(call.prompt)
        )
        self.put(mine, 1, call.input, call.cache_read, call.cache_write, call.output, call.reasoning)

    def add_calls(self, calls: Iterable[Call], agent: str, session_id: str) -> None:
        """Add one session's calls, whose `agent_id` says all that is to be known of whose they are."""
        for call in calls:
            self.add(Priced(call=call, agent=agent, session_id=session_id, subagent=call.agent_id), tool=False)

    def put(self, mine: Mine, *numbers: int) -> None:
        """Add sums: calls, then their tokens in the order of `Totals`."""
        found = self._sums.get(mine)
        self._sums[mine] = list(numbers) if found is None else list(map(add, found, numbers))

    def totals(self, wanted: Callable[[Mine], bool] = lambda _: True) -> Totals:
        """Return the sums over what is wanted."""
        return _totals([numbers for mine, numbers in self._sums.items() if wanted(mine)])

    def grouped(self, by: By) -> dict[str, Totals]:
        """Return the sums by one property, the largest first; days in their order."""
        groups: dict[str, list[list[int]]] = {}
        key = _KEYS[by]
        for mine, numbers in self._sums.items():
            groups.setdefault(key(mine), []).append(numbers)
        sums = {name: _totals(found) for name, found in groups.items()}
        if by == "day":
            return dict(sorted(sums.items()))
        return dict(sorted(sums.items(), key=lambda item: (-item[1].tokens, item[0])))


def _totals(rows: Sequence[Sequence[int]]) -> Totals:
    calls, fresh, read, written, output, reasoning = (sum(column) for column in zip(*rows, strict=True)) if rows else (
        0, 0, 0, 0, 0, 0
    )  # fmt: skip
    return Totals(calls=calls, input=fresh, cache_read=read, cache_write=written, output=output, reasoning=reasoning)


def day_number(at: int | None) -> int:
    """Return the day (UTC) of a moment in milliseconds as days since 1970, -1 where there is none."""
    return -1 if at is None or not 0 <= at < 253_402_300_800_000 else at // 86_400_000


@cache
def day_name(number: int) -> str:
    """Return a day as people write it."""
    return "(no time)" if number < 0 else datetime.fromtimestamp(number * 86_400, UTC).strftime("%Y-%m-%d")


_KEYS: dict[By, Callable[[Mine], str]] = {
    "agent": lambda mine: mine.agent or "?",
    "model": lambda mine: mine.model or "(no name)",
    "day": lambda mine: day_name(mine.day),
    "subagent": lambda mine: mine.subagent or "(main)",
    "tool": lambda mine: mine.tool,
    "session": lambda mine: mine.session or "?",
}
