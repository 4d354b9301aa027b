"""Read a session file, an agent's log or a trajectory. The content decides the format, never the name or the folder."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import structs

from passdown.agents.table import AGENTS, Agent, Sessions, SparingSessions, row_called, sessions_of
from passdown.errors import FormatError, UsageError
from passdown.io.jsonl import open_log
from passdown.model.session import AnyEvent, SessionRef, SessionStart, Unread
from passdown.trajectories.table import FORMATS, Format, Trajectories, reader_of

HEAD = 1 << 20
"""Bytes of a file that are looked at to recognise its format."""
FIRST_EVENTS = 500
"""Events that are looked at to learn when a session began."""


def read_session(path: str | Path, *, agent: str = "", inner: str = "") -> Iterator[AnyEvent]:
    """Yield the events of a session file, first a `SessionStart`, last a `SessionEnd`.

    `agent` (an id of a table) skips recognition; `inner` names the session inside a file that holds several. The path
    may name it as well, behind a `#`. Raises `FormatError` when no reader knows the file, `FileNotFoundError` when it
    is not there.
    """
    return read_ref(refer_to(path, agent=agent, inner=inner))


def read_ref(ref: SessionRef, unread: Unread | None = None) -> Iterator[AnyEvent]:
    """Yield the events of a session that discovery found. Results whose text nobody reads may come without it."""
    reader = _reader(source_called(ref.agent))
    if unread is not None and isinstance(reader, SparingSessions):
        return reader.read_sparing(ref, unread)
    return reader.read(ref)


def names_a_file(name: str) -> bool:
    """Say whether a name is a session file's, with or without a session's name behind a `#`."""
    return Path(split_name(name)[0]).is_file()


def split_name(name: str | Path) -> tuple[str, str]:
    """Return a file's path and the session it names inside (`FILE#NAME`); a file that has the `#` in its name is it."""
    text = str(name)
    path, found, inner = text.partition("#")
    return (path, inner) if found and path and not Path(text).is_file() else (text, "")


def refer_to(path: str | Path, *, agent: str = "", inner: str = "") -> SessionRef:
    """Return a reference to a session file after recognising its format."""
    plain, named = split_name(path)
    path, inner = Path(plain), inner or named
    row = source_called(agent) if agent else recognise(path)
    session = inner if isinstance(row, Agent) else ""  # a trajectory's number is no id
    return SessionRef(agent=row.id, path=str(path), session_id=session, inner=inner, bytes=path.stat().st_size)


def refer_to_begun(path: str | Path, *, agent: str = "") -> SessionRef:
    """Return a reference to a session file that also says whose session it is and when and where it began."""
    ref = refer_to(path, agent=agent)
    if not ref.inner and (known := _reader(source_called(ref.agent)).refer(Path(path))) is not None:
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


def recognise(path: Path) -> Agent | Format:
    """Return the agent, or the trajectory format, that the file's first bytes are of.

    Raises `FormatError` when no reader knows it.
    """
    with open_log(path) as stream:
        head = stream.read(HEAD)
    rows: list[Agent | Format] = [*AGENTS, *FORMATS]
    for row in rows:
        if _reader(row).recognise(head, path.name):
            return row
    known = ", ".join(row.id for row in rows)
    raise FormatError(
        "is in no session format passdown knows",
        where=str(path),
        next_step=f"Known: {known}. Name one with --agent to try all the same.",
    )


def _reader(row: Agent | Format) -> Sessions | Trajectories:
    return sessions_of(row) if isinstance(row, Agent) else reader_of(row)


def source_called(name: str) -> Agent | Format:
    """Return the row of an agent or of a trajectory format. Raises `UsageError` naming the known ones."""
    plain = name.replace("-", "_").lower()
    form = next((row for row in FORMATS if plain == row.id), None)
    if form is not None:
        return form
    try:
        return agent_called(name)
    except UsageError as error:
        known = ", ".join(row.id for row in FORMATS)
        error.next_step = f"{error.next_step} Formats of files: {known}."
        raise


def agent_called(name: str) -> Agent:
    """Return the agent's row. Raises `UsageError` naming the known ones."""
    if (row := row_called(name, AGENTS)) is not None:
        return row
    raise UsageError(f"no agent called {name!r}", next_step=f"Known: {', '.join(row.id for row in AGENTS)}.")
