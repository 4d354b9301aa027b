"""What sessions cost: of one, of this repository, of a chain of handoffs, or of this machine, in a period."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from passdown.config import Budget, load_config
from passdown.errors import NoEvidenceError, PassdownError
from passdown.handoff.costs.compacted import compare_compactions
from passdown.handoff.costs.nested import Logs
from passdown.handoff.costs.reading import Period, Reading, Settings, Usage
from passdown.handoff.costs.stored import Asked, read_stored
from passdown.handoff.named import only_head
from passdown.handoff.place import branch_on_shelf, find_root
from passdown.handoff.session_list import Progress, Wanted, moment
from passdown.handoff.sessions import find_session
from passdown.handoff.shelves import store_of
from passdown.io.files import read_bounded
from passdown.model.moment import to_milliseconds
from passdown.model.session import SessionRef
from passdown.packet.encode import READ_LIMIT, decode_packet
from passdown.redact.neutralise import one_line
from passdown.repository.locate import locate
from passdown.repository.snapshot import snapshot
from passdown.sessions.discover import all_sessions, find_sessions
from passdown.sessions.index.schema import index_path
from passdown.sessions.read import agent_called
from passdown.store.chain import Chain
from passdown.usage.bands import Bands, bands_of
from passdown.usage.totals import By, Totals

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
    logs: bool = False
    """Read the logs themselves, whatever the index knows."""


def read_usage(folder: Path, asked: Question, track: Track = iter, *, progress: Progress | None = None) -> Usage:
    """Return what was spent. Each response of a model counts once, however many logs hold a copy of it.

    What many sessions cost comes from the index of sessions, brought up to date first; `progress` is told how far that
    is. One session, and what is asked by tool, is read from the logs. Raises `FormatError` for one session whose
    numbers contradict each other, `NoEvidenceError` where there is no session, `UsageError` for an unknown session,
    agent or time.
    """
    period = Period(moment(asked.since) if asked.since else None, moment(asked.until) if asked.until else None)
    settings = Settings(_bands(folder), _packets(folder), strict=bool(asked.session), by=asked.by, cost=asked.cost)
    if _by_index(asked):
        found = read_stored(folder, _stored(folder, asked), period, settings, progress)
    else:
        found = _read_logs(folder, asked, Reading(period, settings), track)
    if not found.sessions and not found.findings:
        raise NoEvidenceError(
            "no session to count the tokens of", next_step="`passdown sessions --all` lists the sessions there are."
        )
    return found


def _by_index(asked: Question) -> bool:
    """Say whether to ask the index: of this machine always, of one repository or chain where there is one already."""
    if asked.session or asked.by == "tool" or asked.logs:
        return False
    return asked.everywhere or index_path().is_file()


def _stored(folder: Path, asked: Question) -> Asked:
    ids = _chain(find_root(folder)) if asked.chain else None
    scope = "chain" if asked.chain else "all" if asked.everywhere else "repository"
    return Asked(scope, Wanted(agent=asked.agent, everywhere=scope != "repository"), ids)


def _read_logs(folder: Path, asked: Question, reading: Reading, track: Track) -> Usage:
    scope, known = _refs(folder, asked)
    refs = [ref for ref in known if not reading.period.ended_before(ref.modified_at)]
    for ref in track(sorted(refs, key=lambda ref: (ref.started_at or 0, ref.agent, ref.session_id))):
        reading.read(ref)
    usage = reading.usage(scope, Logs())
    if not (asked.session and usage.compactions):
        return usage
    return structs.replace(usage, compared=tuple(compare_compactions(known[0])))


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
