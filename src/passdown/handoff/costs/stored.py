"""Usage out of the index of sessions, which keeps what each of them cost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from passdown.handoff.costs.nested import Logs
from passdown.handoff.costs.reading import Period, Reading, Settings, Usage
from passdown.handoff.session_list import Progress, Wanted, answer, filter_of
from passdown.model.session import SessionRef
from passdown.sessions.index.query import Filter, lines_of_calls, refs_as_found, refs_of, spent
from passdown.usage.calls import Call
from passdown.usage.tally import lines_of, tally_of


class Asked(NamedTuple):
    """Which sessions are asked for; `ids` (agent, session) narrows them to some."""

    scope: str
    wanted: Wanted
    ids: set[tuple[str, str]] | None = None


def read_stored(folder: Path, asked: Asked, period: Period, settings: Settings, progress: Progress | None) -> Usage:
    """Return what the sessions asked for cost, as the index keeps it; of one whose log grew since the log is read."""

    def ask(database: sqlite3.Connection, notes: tuple[str, ...]) -> Usage:
        reading = Reading(period, settings)
        wanted = filter_of(database, folder, asked.wanted)
        if asked.ids is not None:
            refs = refs_as_found(database, wanted)
            wanted = wanted._replace(ids={row for row, ref in refs.items() if (ref.agent, ref.session_id) in asked.ids})
        for one in spent(database, wanted):
            if period.ended_before(one.modified_at):
                continue
            if (tally := tally_of(one.tally) if one.current else None) is not None:
                reading.take(one, tally, lambda row: lines_of_calls(database, row))
            else:
                reading.read(refs_of(database, [one.row])[one.row])
        return structs.replace(reading.usage(asked.scope, _Stored(database, wanted)), notes=notes)

    return answer(ask, progress, exact=True)


class _Stored:
    """Sessions of nested agents, out of the index."""

    def __init__(self, database: sqlite3.Connection, wanted: Filter) -> None:
        self._database = database
        self._wanted = Filter(wanted.homes)
        self._rows: dict[tuple[str, str, str], int] = {}

    def refs(self, agents: set[str]) -> Iterable[SessionRef]:
        """Return all sessions of these agents on this machine."""
        found = refs_as_found(self._database, self._wanted._replace(agents=agents))
        self._rows = {(ref.agent, ref.path, ref.inner): row for row, ref in found.items()}
        return sorted(found.values(), key=lambda ref: (-(ref.modified_at or 0), ref.agent, ref.session_id, ref.path))

    def calls(self, ref: SessionRef) -> Sequence[Call]:
        """Return a session's calls, none where they cannot be read."""
        row = self._rows[ref.agent, ref.path, ref.inner]
        stored = next(spent(self._database, Filter(self._wanted.homes, ids=[row])), None)
        tally = tally_of(stored.tally) if stored is not None and stored.current else None
        if tally is None:
            return Logs().calls(ref)
        return [line.call(tally) for line in lines_of(lines_of_calls(self._database, row))]
