"""Sessions as they are counted, one after the other: from their logs, or from what the index keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from msgspec import Struct, structs

from passdown.errors import FormatError, PassdownError
from passdown.evidence.nested import MOST, Nested, NestedReader, nested_findings, nested_in
from passdown.handoff.costs.compacted import Comparison
from passdown.handoff.costs.nested import NestedCost, Records, nested_cost
from passdown.model.finding import Finding
from passdown.model.session import AnyEvent, SessionRef
from passdown.redact.neutralise import one_line
from passdown.sessions.index.query import Spent
from passdown.sessions.read import read_ref
from passdown.usage.bands import Bands
from passdown.usage.calls import Account, Call, read_account
from passdown.usage.growth import Growth, growth_of
from passdown.usage.prices import Cost, cost_of
from passdown.usage.switches import Switch, find_long, find_switches, switch_findings
from passdown.usage.tally import Line, Tally, key_of, keys_of, lines_of
from passdown.usage.totals import By, Ledger, Mine, Totals, check_convention, owned


class OneSession(Struct, frozen=True, kw_only=True):
    """What is told of one session alone."""

    account: Account
    growth: Growth
    switches: tuple[Switch, ...]


class Usage(Struct, frozen=True, kw_only=True):
    """The answer: sums, the groups asked for, and what should be known. `unmeasured` calls have no input in the log.

    `notes` say what the index of sessions could not do.
    """

    scope: str
    sessions: int = 0
    totals: Totals = Totals()
    subagents: Totals = Totals()
    tool_calls: int = 0
    copied: int = 0
    unmeasured: int = 0
    compactions: int = 0
    rows: dict[str, Totals] = {}
    days: dict[str, Totals] = {}
    nested: NestedCost = NestedCost()
    cost: Cost | None = None
    one: OneSession | None = None
    compared: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


class Period(NamedTuple):
    """Which calls count: from `since` on and before `until`, in milliseconds."""

    since: int | None = None
    until: int | None = None

    @property
    def bound(self) -> bool:
        """Say whether it has a bound."""
        return self.since is not None or self.until is not None

    def holds(self, at: int | None) -> bool:
        """Say whether a moment lies in it; one that nobody knows only when there is no bound."""
        if at is None:
            return not self.bound
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)

    def ended_before(self, modified_at: int | None) -> bool:
        """Say whether a log last written then can have no call in it."""
        return self.since is not None and bool(modified_at) and (modified_at or 0) < self.since


class Settings(NamedTuple):
    """What is wanted, and the packets' moments and the bands by which changes of model are judged."""

    bands: Bands
    packets: list[int]
    strict: bool = False
    by: By | None = None
    cost: bool = False


class Reading:
    """Sessions counted so far, oldest first, so that what was copied into a later log counts where it was spent."""

    def __init__(self, period: Period, settings: Settings) -> None:
        self.period, self.settings = period, settings
        self.ledger = Ledger()
        self.priced: list[Call] = []
        self.findings: list[Finding] = []
        self.counted: list[str] = []
        self.nested: list[Nested] = []
        self.tool_calls = self.copied = self.compactions = 0
        self.first: OneSession | None = None
        self._seen: set[int] = set()

    def read(self, ref: SessionRef) -> None:
        """Count one session out of its log; one that cannot be read, or contradicts itself, is told of and left out."""
        try:
            nested = NestedReader()
            account = read_account(_seen_by(nested, read_ref(ref)))
            check_convention(account)
        except FormatError as error:
            if self.settings.strict:
                raise
            code = "usage.contradicts" if "cached" in error.what else "session.unreadable"
            self.leave_out(ref.session_id or ref.path, code, error.what)
            return
        except (PassdownError, OSError) as error:
            self.leave_out(ref.session_id or ref.path, "session.unreadable", getattr(error, "what", None) or str(error))
            return
        holds, by_tool = self.period.holds, self.settings.by == "tool"
        own = [one for one in owned(account) if holds(one.call.at) and self._is_new(key_of(one.agent, one.call))]
        for priced in own:
            self.ledger.add(priced, tool=by_tool)
        self.priced += [priced.call for priced in own] if self.settings.cost else []
        whole = len(own) == len(account.calls)
        tools = account.tool_calls if whole else sum(len(priced.call.steps) for priced in own)
        self._count(account.session_id, tools, account.copied, len(account.calls) - len(own))
        self.compactions += sum(holds(one.at) for one in account.compactions if not one.micro)
        switches = tuple(find_switches(account, self.settings.packets, self.settings.bands))
        self._tell(account.session_id, switches, nested.found)
        if self.settings.strict and self.first is None:
            self.first = OneSession(account=account, growth=growth_of(account), switches=switches)

    def take(self, stored: Spent, tally: Tally, lines: Callable[[int], bytes]) -> None:
        """Count one session out of what the index keeps of it; `lines` gives each call's numbers where they matter."""
        if tally.contradicts:
            self.leave_out(stored.session_id or stored.path, "usage.contradicts", tally.contradicts)
            return
        own, tools = tally.calls, tally.tool_calls
        if not tally.calls:
            pass
        elif self._whole(tally) and not self.settings.cost and self._all_new(stored.keys, tally):
            self._add_slices(tally)
        else:
            taken = list(self._new_lines(lines_of(lines(stored.row)), keys_of(stored.keys)))
            self._add_lines(tally, taken)
            own = len(taken)
            tools = tools if own == tally.calls else sum(line.steps for line in taken)
        self._count(tally.session_id, tools, tally.copied, tally.calls - own)
        self.compactions += sum(map(self.period.holds, tally.compactions))
        long = find_long(tally.changes, self.settings.packets, self.settings.bands)
        self._tell(tally.session_id, long, _nested_in(tally))

    def leave_out(self, where: str, code: str, why: str) -> None:
        """Tell of a session that does not count."""
        self.findings.append(
            Finding(code=code, severity="warn", detail=one_line(why, 300), where=one_line(where, 80))
        )  # fmt: skip

    def usage(self, scope: str, records: Records) -> Usage:
        """Return the sums."""
        totals = self.ledger.totals()
        by = self.settings.by
        return Usage(
            scope=scope, sessions=len(self.counted), totals=totals,
            nested=nested_cost(self.nested, set(self.counted), totals, records),
            subagents=self.ledger.totals(lambda mine: bool(mine.subagent)), tool_calls=self.tool_calls,
            copied=self.copied, unmeasured=self.ledger.totals(lambda mine: not mine.measured).calls,
            compactions=self.compactions, rows=self.ledger.grouped(by) if by is not None else {},
            days=self.ledger.grouped("day"),
            cost=cost_of(self.priced) if self.settings.cost else None, one=self.first, findings=tuple(self.findings),
        )  # fmt: skip

    def _count(self, session_id: str, tool_calls: int, copied: int, left: int) -> None:
        self.counted.append(session_id)
        self.tool_calls += tool_calls
        self.copied += copied + (0 if self.period.bound else left)

    def _tell(self, session_id: str, switches: Iterable[Switch], nested: Sequence[Nested]) -> None:
        where = one_line(session_id, 80)
        self.findings += switch_findings([switch for switch in switches if self.period.holds(switch.at)], where)
        of_period = [one for one in nested if self.period.holds(one.at)]
        self.nested += of_period
        self.findings += nested_findings(of_period, where)

    def _is_new(self, key: int) -> bool:
        if not key:
            return True
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _whole(self, tally: Tally) -> bool:
        if not self.period.bound:
            return True
        return not tally.timeless and self.period.holds(tally.first) and self.period.holds(tally.last)

    def _all_new(self, stored: bytes, tally: Tally) -> bool:
        """Say whether no call is a copy of one that was counted, and then have them count as seen."""
        if not stored:
            return True
        keys = set(keys_of(stored))
        keys.discard(0)
        if len(keys) != tally.calls - tally.nameless or not self._seen.isdisjoint(keys):
            return False
        self._seen |= keys
        return True

    def _new_lines(self, lines: Iterable[Line], keys: Iterable[int]) -> Iterator[Line]:
        for line, key in zip(lines, keys or repeat(0), strict=False):
            if self.period.holds(line.at) and self._is_new(key):
                yield line

    def _add_slices(self, tally: Tally) -> None:
        for one in tally.slices:
            mine = Mine(
                tally.agent, tally.session_id, tally.subagents[one.subagent], tally.models[one.model], one.day, "",
                one.measured,
            )  # fmt: skip
            self.ledger.put(mine, one.calls, one.input, one.cache_read, one.cache_write, one.output, one.reasoning)

    def _add_lines(self, tally: Tally, lines: Iterable[Line]) -> None:
        calls = [line.call(tally) for line in lines]
        self.ledger.add_calls(calls, tally.agent, tally.session_id)
        self.priced += calls if self.settings.cost else []


def _seen_by(reader: NestedReader, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
    """Yield the events, each seen by the reader, too: a log is read once."""
    for event in events:
        reader.add(event)
        yield event


def _nested_in(tally: Tally) -> list[Nested]:
    found: list[Nested] = []
    for one in tally.commands:
        nested = nested_in(one.command, agent=tally.agent, session_id=tally.session_id)
        if nested is not None and len(found) < MOST:
            found.append(
                structs.replace(nested, call_id=one.call_id, command=one.command[:400], at=one.at, until=one.until)
            )  # fmt: skip
    return found
