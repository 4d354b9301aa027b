"""Discovery with the index's help: logs that have not changed since are not looked into again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from passdown.agents.table import Agent, sessions_of
from passdown.sessions.index.stores import Logs, list_files, patterns_of

if TYPE_CHECKING:
    from passdown.model.session import SessionRef

_FEW = 200
"""Logs up to which looking into each takes no longer than asking the index."""


def find_known(agent: Agent, home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under an agent's folder, in no order.

    What the index tells of a log counts only while the log's size and time are as they were; it is never needed.
    """
    logs = patterns_of(agent)
    if logs is None or not logs.whole or not _has_index():
        yield from sessions_of(agent).find(home)
        return
    yield from _by_index(agent, home, logs)


def _has_index() -> bool:
    from passdown.sessions.index.place import index_path

    return index_path().is_file()


def _by_index(agent: Agent, home: Path, logs: Logs) -> Iterator[SessionRef]:
    listing = list_files(home, logs)
    files = [(f"{path}/{name}", size, time) for path, folder in listing.items() for name, size, time in folder.files]
    stamps: dict[str, tuple[int, int]] = {}
    refs: dict[str, SessionRef] = {}
    if len(files) > _FEW:
        stamps, refs = _remembered(agent, home)
    refer = sessions_of(agent).refer
    for path, size, mtime_ns in files:
        ref = refs.get(path)
        masked = ref is not None and "[redacted:" in ref.title  # not as the log has it
        if masked or stamps.get(path) != (size, mtime_ns):
            ref = refer(Path(path))
        if ref is not None:
            yield ref


def _remembered(agent: Agent, home: Path) -> tuple[dict[str, tuple[int, int]], dict[str, SessionRef]]:
    import sqlite3

    from passdown.sessions.index.query import known_refs, known_stamps
    from passdown.sessions.index.schema import index_path, reading

    try:
        with reading(index_path()) as database:
            if database is not None:
                return known_stamps(database, agent.id), known_refs(database, agent.id, str(home))
    except sqlite3.Error:  # damaged, or being made anew
        pass
    return {}, {}
