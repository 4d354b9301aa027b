"""Count the compactions of agents that tell no hook of them: their logs do, and the drain reads those anyway."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from passdown.agents.table import TABLE, hooks_of
from passdown.errors import PassdownError
from passdown.hooks.spool import WORK, Spooled, state
from passdown.io.files import write_files
from passdown.io.log import safe_id
from passdown.model.evidence import RepositoryFacts
from passdown.sessions.newest import newest_sessions
from passdown.sessions.read import read_ref
from passdown.usage.gauge import read_gauge

MARK = "logged"
"""The file in a session's folder whose length is the number, as for those that hooks count."""

LARGEST = 256 << 20
"""Largest log that is read for it, in bytes."""

_MOST = 8
_TOLD = ("compact", "compacted")


def silent_agents() -> frozenset[str]:
    """Return the agents whose hooks never learn of a compaction."""
    return frozenset(row.id for row in TABLE if row.hooks and not set(hooks_of(row).EVENTS.values()) & set(_TOLD))


def note_compactions(root: Path, common: Path, records: Iterable[Spooled]) -> None:
    """Write down how often the sessions of such agents that did something were compacted so far."""
    folder, silent = state(), silent_agents()
    asked = {
        (record.agent, _plain(record.session)): record.session
        for record in records if record.event in WORK and record.agent in silent and safe_id(record.session)
    }  # fmt: skip
    if folder is None or not asked:
        return
    facts = RepositoryFacts(root=str(root), common_dir=str(common))
    refs = [ref for ref in newest_sessions(facts, None)[0] if (ref.agent, _plain(ref.session_id)) in asked]
    for ref in refs[:_MOST]:
        if ref.bytes > LARGEST:
            continue
        try:
            times = read_gauge(read_ref(ref)).compactions
        except (PassdownError, OSError):  # a log that cannot be read tells of none
            continue
        if times:
            place = folder / "sessions" / f"{ref.agent}-{asked[ref.agent, _plain(ref.session_id)]}"
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_files([(place / MARK, b"." * min(times, 1_000))], mode=0o600)


def _plain(session: str) -> str:
    return session.replace("-", "")
