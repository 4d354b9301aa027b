"""Sessions that discovery does not see, in a database or in a form that nobody can read: somebody is to hear of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from passdown.agents.table import Agent, databases_of, sessions_of
from passdown.errors import PassdownError
from passdown.io.jsonl import open_log
from passdown.io.log import head_of
from passdown.model.finding import Finding
from passdown.redact.neutralise import one_line
from passdown.sessions.index.stores import list_files, patterns_of

_NEWEST = 10
"""Logs that are looked into where an agent has some and none of them is known."""
_BEGUN = 64
"""Bytes below which a log was only begun."""


def missing(agent: Agent, home: Path, seen: Collection[str]) -> Iterator[Finding]:
    """Yield what keeps sessions of an agent from being found; `seen` are the files that told some."""
    for detail in unreadable_databases(agent, home, seen):
        yield Finding(code="session.unreadable_database", severity="warn", detail=detail)
    if not seen and (count := _unknown_logs(agent, home)):
        detail = (
            f"none of {agent.title}'s newest logs ({count}) is in a form that is known; passdown may be too old for it"
        )
        yield Finding(code="session.unknown_logs", severity="warn", detail=detail)


def unreadable_databases(agent: Agent, home: Path, but: Collection[str] = ()) -> Iterator[str]:
    """Yield what is wrong with those databases of an agent, other than `but`, whose sessions nobody can list."""
    databases = databases_of(agent)
    for path, reason in databases.refusals(home, but) if databases is not None else ():
        if reason:
            yield one_line(f"{agent.title}'s sessions are missing here, its {path.name} {reason}", 300)


def _unknown_logs(agent: Agent, home: Path) -> int:
    """Return how many of an agent's newest logs its reader does not know, 0 when it knows any of them."""
    logs = patterns_of(agent)
    if logs is None or not logs.whole:
        return 0
    found = [
        (stamp.mtime_ns, f"{folder}/{stamp.name}")
        for folder, listed in list_files(home, logs).items()
        for stamp in listed.files
        if stamp.size >= _BEGUN
    ]
    newest = [Path(name) for _, name in sorted(found, reverse=True)[:_NEWEST]]
    return 0 if any(_is_known(agent, path) for path in newest) else len(newest)


def _is_known(agent: Agent, path: Path) -> bool:
    try:
        with open_log(path) as stream:
            return sessions_of(agent).recognise(head_of(stream), path.name)
    except (OSError, PassdownError):
        return True  # that it cannot be read says nothing of its form
