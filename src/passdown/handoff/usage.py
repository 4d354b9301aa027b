"""What sessions cost: of one, of this repository, of a chain of handoffs, or of this machine, in a period."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from passdown.config import Budget, load_config
from passdown.errors import FormatError, NoEvidenceError, PassdownError
from passdown.evidence.nested import Nested, NestedReader, nested_findings
from passdown.handoff.named import only_head
from passdown.handoff.nested import NestedCost, nested_cost
from passdown.handoff.place import branch_on_shelf, find_root
from passdown.handoff.session_list import moment
from passdown.handoff.sessions import find_session
from passdown.handoff.shelves import store_of
from passdown.io.files import read_bounded
from passdown.model.finding import Finding
from passdown.model.moment import to_milliseconds
from passdown.model.session import AnyEvent, SessionRef
from passdown.packet.encode import READ_LIMIT, decode_packet
from passdown.redact.neutralise import one_line
from passdown.repository.locate import locate
from passdown.repository.snapshot import snapshot
from passdown.sessions.discover import all_sessions, find_sessions
from passdown.sessions.read import agent_called, read_ref
from passdown.store.chain import Chain
from passdown.usage.bands import Bands, bands_of
from passdown.usage.calls import Account, read_account
from passdown.usage.growth import Growth, growth_of
from passdown.usage.prices import Cost, cost_of
from passdown.usage.switches import Switch, find_switches, switch_findings
from passdown.usage.totals import By, Priced, Totals, check_convention, grouped, owned, sum_up

Track = Callable[[Sequence[SessionRef]], Iterable[SessionRef]]
"""How progress is shown while sessions are read."""


class Question(Struct, frozen=True, kw_only=True):
    """Whose tokens are wanted: of one `session`, of the `chain` of handoffs, of `everywhere`, else of the repository.

    `since` and `until` are as people write them; `by` groups the calls.
    """

    session: str = ""
    agent: str = ""
    chain: bool = False
    everywhere: bool = False
    since: str = ""
    until: str = ""
    by: By | None = None
    cost: bool = False


class OneSession(Struct, frozen=True, kw_only=True):
    """What is told of one session alone."""

    account: Account
    growth: Growth
    switches: tuple[Switch, ...]


class Usage(Struct, frozen=True, kw_only=True):
    """The answer: sums, the groups asked for, and what should be known. `unmeasured` calls have no input in the log."""

    scope: str
    sessions: int = 0
    totals: Totals = Totals()
    subagents: Totals = Totals()
    tool_calls: int = 0
    copied: int = 0
    unmeasured: int = 0
    compactions: int = 0
    calls: tuple[Priced, ...] = ()
    rows: dict[str, Totals] = {}
    nested: NestedCost = NestedCost()
    cost: Cost | None = None
    one: OneSession | None = None
    findings: tuple[Finding, ...] = ()


def read_usage(folder: Path, asked: Question, track: Track = iter) -> Usage:
    """Return what was spent. Each response of a model counts once, however many logs hold a copy of it.

    Raises `FormatError` for one session whose numbers contradict each other, `NoEvidenceError` where there is no
    session, `UsageError` for an unknown session, agent or time.
    """
    since = moment(asked.since) if asked.since else None
    until = moment(asked.until) if asked.until else None
    scope, refs = _refs(folder, asked)
    refs = [ref for ref in refs if since is None or not ref.modified_at or ref.modified_at >= since]
    reading = _Reading(since, until, strict=bool(asked.session), bands=_bands(folder), packets=_packets(folder))
    for ref in track(sorted(refs, key=lambda ref: (ref.started_at or 0, ref.agent, ref.session_id))):
        reading.read(ref)
    if not reading.accounts and not reading.findings:
        raise NoEvidenceError(
            "no session to count the tokens of", next_step="`passdown sessions --all` lists the sessions there are."
        )
    usage = reading.usage(scope, asked.by)
    if not asked.cost:
        return usage
    return structs.replace(usage, cost=cost_of(priced.call for priced in usage.calls))


def _refs(folder: Path, asked: Question) -> tuple[str, list[SessionRef]]:
    agents = {agent_called(asked.agent).id} if asked.agent else None
    if asked.session:
        ref = find_session(asked.session, agent=asked.agent)
        known = all_sessions(agents={ref.agent}).refs if ref.session_id else ()
        own = [child for child in known if child.parent_id == ref.session_id and child.parent_kind == "subagent"]
        return "session", [ref, *own]
    if asked.chain:
        ids = _chain(find_root(folder))
        refs = [ref for ref in all_sessions(agents=agents).refs if (ref.agent, ref.session_id) in ids]
        return "chain", refs
    if asked.everywhere:
        return "all", list(all_sessions(agents=agents).refs)
    return "repository", list(find_sessions(snapshot(find_root(folder)), agents=agents).refs)


def _chain(root: Path) -> set[tuple[str, str]]:
    """Return the agents and ids of the sessions that the active packet, and those before it, were made of."""
    store = store_of(root, load_config(root))
    active = only_head(store.packets, branch_on_shelf(root))
    names = Chain(store.packets).ancestors([active.packet_id])
    found: set[tuple[str, str]] = set()
    for stored in store.packets:
        if stored.packet_id in names:
            packet = decode_packet(read_bounded(stored.path, READ_LIMIT))
            found |= {(line.agent, line.id) for line in packet.sessions}
    return found


def _packets(folder: Path) -> list[int]:
    """Return the moments (milliseconds) at which this repository's packets were made, as far as they say so."""
    try:
        root = locate(folder)
        packets = store_of(root, load_config(root)).packets if root is not None else ()
    except PassdownError:
        return []
    return [at for packet in packets if (at := to_milliseconds(packet.head.as_of)) is not None]


def _bands(folder: Path) -> Bands:
    root = locate(folder)
    return bands_of(load_config(root).budget if root is not None else Budget())


class _Reading:
    """Sessions read so far, oldest first, so that what was copied into a later log counts where it was spent."""

    def __init__(self, since: int | None, until: int | None, *, strict: bool, bands: Bands, packets: list[int]) -> None:
        self.since, self.until, self.strict = since, until, strict
        self.bands, self.packets = bands, packets
        self.accounts: list[Account] = []
        self.calls: list[Priced] = []
        self.findings: list[Finding] = []
        self.seen: set[int] = set()
        self.nested: list[Nested] = []
        self.tool_calls = self.copied = 0
        self.first: OneSession | None = None

    def read(self, ref: SessionRef) -> None:
        """Count one session; one that cannot be read, or contradicts itself, is told of and left out."""
        try:
            nested = NestedReader()
            account = read_account(_seen_by(nested, read_ref(ref)))
            check_convention(account)
        except FormatError as error:
            if self.strict:
                raise
            self._left_out(ref, "usage.contradicts" if "cached" in error.what else "session.unreadable", error.what)
            return
        except (PassdownError, OSError) as error:
            self._left_out(ref, "session.unreadable", getattr(error, "what", None) or str(error))
            return
        own = [priced for priced in owned(account) if self._within(priced.call.at) and self._is_new(priced)]
        whole = len(own) == len(account.calls)
        self.copied += account.copied + (0 if self.since or self.until else len(account.calls) - len(own))
        self.calls += own
        self.accounts.append(account)
        self.tool_calls += account.tool_calls if whole else sum(len(priced.call.steps) for priced in own)
        switches = tuple(find_switches(account, self.packets, self.bands))
        self.findings += switch_findings(switches, one_line(account.session_id, 80))
        of_period = [one for one in nested.found if self._within(one.at)]
        self.nested += of_period
        self.findings += nested_findings(of_period, one_line(account.session_id, 80))
        if self.strict and self.first is None:
            self.first = OneSession(account=account, growth=growth_of(account), switches=switches)

    def _left_out(self, ref: SessionRef, code: str, why: str) -> None:
        where = one_line(ref.session_id or ref.path, 80)
        self.findings.append(Finding(code=code, severity="warn", detail=one_line(why, 300), where=where))

    def _within(self, at: int | None) -> bool:
        if at is None:
            return self.since is None and self.until is None
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)

    def _is_new(self, priced: Priced) -> bool:
        call = priced.call
        if not call.response_id:
            return True
        key = hash((priced.agent, call.response_id, call.prompt, call.output, call.cache_read))
        new = key not in self.seen
        self.seen.add(key)
        return new

    def usage(self, scope: str, by: By | None) -> Usage:
        """Return the sums."""
        calls = self.calls
        totals = sum_up(priced.call for priced in calls)
        compacted = [one for account in self.accounts for one in account.compactions if not one.micro]
        return Usage(
            scope=scope, sessions=len(self.accounts), totals=totals,
            nested=nested_cost(self.nested, {account.session_id for account in self.accounts}, totals),
            subagents=sum_up(priced.call for priced in calls if priced.subagent), tool_calls=self.tool_calls,
            copied=self.copied, unmeasured=sum(not priced.call.prompt for priced in calls),
            compactions=len(compacted), calls=tuple(calls), rows=grouped(calls, by) if by is not None else {},
            one=self.first, findings=tuple(self.findings),
        )  # fmt: skip


def _seen_by(reader: NestedReader, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
    """Yield the events, each seen by the reader, too: a log is read once."""
    for event in events:
        reader.add(event)
        yield event


def rows_of(usage: Usage) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the groups by name, each with its sums."""
    for key, totals in usage.rows.items():
        yield one_line(key, 80), sums(totals)


def sums(totals: Totals) -> dict[str, Any]:
    """Return sums as `--json` and `--csv` give them: the hit rate with four digits, None for what no log says."""
    rate = totals.hit_rate
    said = bool(totals.prompt) or not totals.calls
    return {
        "calls": totals.calls, "input": totals.input if said else None,
        "cache_read": totals.cache_read if said else None, "cache_write": totals.cache_write if said else None,
        "output": totals.output, "reasoning": totals.reasoning or None, "all_input": totals.prompt if said else None,
        "hit_rate": None if rate is None else round(rate, 4),
    }  # fmt: skip
