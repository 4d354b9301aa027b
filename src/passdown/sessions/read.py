"""Read a session file whatever agent wrote it. The content decides the format, never the name or the folder."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import structs

from passdown.agents.table import AGENTS, Agent, row_called, sessions_of
from passdown.errors import FormatError, UsageError
from passdown.io.jsonl import open_log
from passdown.model.session import AnyEvent, SessionRef, SessionStart

HEAD = 1 << 20
"""Bytes of a file that are looked at to recognise its format."""
FIRST_EVENTS = 500
"""Events that are looked at to learn when a session began."""


def read_session(path: str | Path, *, agent: str = "", inner: str = "") -> Iterator[AnyEvent]:
    """Yield the events of a session file, first a `SessionStart`, last a `SessionEnd`.

    `agent` (an id of the table) skips recognition; `inner` names the session inside a database that holds several.
    Raises `FormatError` when no reader knows the file, `FileNotFoundError` when it is not there.
    """
    return read_ref(refer_to(path, agent=agent, inner=inner))


def read_ref(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield the events of a session that discovery found."""
    return sessions_of(agent_called(ref.agent)).read(ref)


def refer_to(path: str | Path, *, agent: str = "", inner: str = "") -> SessionRef:
    """Return a reference to a session file after recognising its format."""
    path = Path(path)
    row = agent_called(agent) if agent else recognise(path)
    return SessionRef(agent=row.id, path=str(path), session_id=inner, inner=inner, bytes=path.stat().st_size)


def refer_to_begun(path: str | Path, *, agent: str = "") -> SessionRef:
    """Return a reference to a session file that also says whose session it is and when and where it began."""
    ref = refer_to(path, agent=agent)
    if (known := sessions_of(agent_called(ref.agent)).refer(Path(path))) is not None:
        return known
    for event in islice(read_ref(ref), FIRST_EVENTS):
        if isinstance(event, SessionStart):
            ref = structs.replace(
                ref, session_id=ref.session_id or event.session_id, cwd=event.cwd, branch=event.branch,
                parent_id=event.parent_id, commit=event.commit,
            )  # fmt: skip
        if event.at is not None and event.at > 0 and not event.copied:
            return structs.replace(ref, started_at=event.at)
    return ref


def recognise(path: Path) -> Agent:
    """Return the agent whose format the file's first bytes are in.

    Raises `FormatError` when no reader knows it.
    """
    with open_log(path) as stream:
        head = stream.read(HEAD)
    for row in AGENTS:
        if sessions_of(row).recognise(head, path.name):
            return row
    raise FormatError(
        "is in no session format passdown knows",
        where=str(path),
        next_step=f"Known agents: {', '.join(row.id for row in AGENTS)}. Name one with --agent to try all the same.",
    )


def agent_called(name: str) -> Agent:
    """Return the agent's row. Raises `UsageError` naming the known ones."""
    if (row := row_called(name, AGENTS)) is not None:
        return row
    raise UsageError(f"no agent called {name!r}", next_step=f"Known: {', '.join(row.id for row in AGENTS)}.")
