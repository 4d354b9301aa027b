"""Aider's sessions: the runs in a project's `.aider.chat.history.md`, one below the other; each is a session.

The history holds no ids, no times but a run's beginning (local, without the zone), and no exit codes; the ends of
commands are not told. A run without a request is none. Times of events are therefore unknown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from passdown.agents.aider.notes import VERSION
from passdown.agents.aider.reader import Reader
from passdown.agents.aider.runs import BEGINNING, HEADING, Run, runs_of
from passdown.errors import PassdownError
from passdown.io.jsonl import MAX_LINE, Line, open_log, read_lines
from passdown.io.log import not_understood, safe_id
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart

NAME = ".aider.chat.history.md"
_BANNER = 40
"""Lines below a run's heading in which Aider says what it is."""


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is a chat history of Aider's."""
    at = head.find(b"# aider chat started at ")
    while at >= 0:
        if (at == 0 or head[at - 1 : at] in (b"\n", b"\xbf")) and HEADING.match(head[at : at + 100].split(b"\n", 1)[0]):
            return True
        at = head.find(b"# aider chat started at ", at + 1)
    return False


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the runs of the history in a project's folder, newest first, those in which nothing was asked left out."""
    moved = os.environ.get("AIDER_CHAT_HISTORY_FILE")
    path = home / (moved or NAME)
    try:
        if path.is_symlink() or not path.is_file():
            return
        runs, modified = runs_of(path), int(path.stat().st_mtime * 1000)
    except (OSError, PassdownError):
        return
    last = runs[-1] if runs else None
    folder = str(home) if path.is_relative_to(home) else ""  # one history may be kept for all projects
    for run in reversed(runs):
        if run.asked:
            yield _ref(path, run, modified if run is last else run.until or run.started, folder)


def refer(path: Path) -> SessionRef | None:
    """Return the newest run of a history in which something was asked, None when there is none."""
    try:
        run = _chosen(runs_of(path), "")
        modified = int(path.stat().st_mtime * 1000)
    except (OSError, PassdownError):
        return None
    return _ref(path, run, modified, _folder_of(path)) if run is not None and run.name != BEGINNING else None


def _ref(path: Path, run: Run, modified: int | None, cwd: str) -> SessionRef:
    return SessionRef(
        agent="aider", path=str(path), session_id=run.name, inner=run.name, bytes=run.end - run.offset,
        started_at=run.started, modified_at=modified, cwd=cwd,
    )  # fmt: skip


def _folder_of(path: Path) -> str:
    return str(path.parent) if path.name == NAME and path.is_absolute() else ""


def _chosen(runs: tuple[Run, ...], inner: str) -> Run | None:
    if inner:
        return next((run for run in runs if run.name == inner), None)
    return next((run for run in reversed(runs) if run.asked), runs[-1] if runs else None)


def read(ref: SessionRef, *, max_line: int = MAX_LINE) -> Iterator[AnyEvent]:
    """Yield a run's events in file order, first a `SessionStart`, last a `SessionEnd`.

    Without `ref.inner` it is the newest run in which something was asked. A line longer than `max_line` bytes is
    passed over and reported. Raises `FileNotFoundError` when the file is gone.
    """
    path = Path(ref.path)
    run = _chosen(runs_of(path), ref.inner) or Run(ref.inner or BEGINNING, None, 0, 0, 1, asked=False)
    banner = _banner(path, run)
    version = next((match[1] or match[2] for text in banner if (match := VERSION.match(text)) is not None), "")
    name = run.name if run.name != BEGINNING else ref.session_id or safe_id(path.name.strip(".").split(".")[0])
    yield SessionStart(
        session_id=name, agent="aider", agent_version=version, cwd=ref.cwd or _folder_of(path), at=run.started,
        offset=run.offset, line=run.line,
    )  # fmt: skip
    reader = Reader()
    records = size = 0
    for line in _lines(path, run, max_line):
        records += 1
        size = line.offset + line.length + line.complete - run.offset
        if line.data is None:
            yield not_understood(line, "line_too_long")
        elif line.number > run.line or run.name == BEGINNING:
            yield from reader.add(line)
    yield from reader.finish()
    yield SessionEnd(records=records, bytes=size, offset=run.offset + size, ignored=dict(reader.ignored))


def _lines(path: Path, run: Run, max_line: int) -> Iterator[Line]:
    with open_log(path) as stream:
        stream.seek(run.offset)
        for line in read_lines(stream, limit=max(0, run.end - run.offset), max_line=max_line):
            yield structs.replace(line, offset=line.offset + run.offset, number=line.number + run.line - 1)


def _banner(path: Path, run: Run) -> list[str]:
    """Return what Aider says of itself at the beginning of a run."""
    found: list[str] = []
    for number, line in enumerate(_lines(path, run, 4096)):
        if number > _BANNER or (line.data or b"").startswith(b"####"):
            break
        if (line.data or b"").startswith(b"> "):
            found.append((line.data or b"")[2:].decode("utf-8", "replace").strip())
    return found
