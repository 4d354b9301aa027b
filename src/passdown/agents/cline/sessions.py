"""Cline's sessions. The shapes are shared with the others of this folder (`shared.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passdown.agents.cline.shared import is_newer, is_task, read_task
from passdown.agents.cline.store import TASK, find_newer, find_tasks, refer_newer, refer_task
from passdown.model.session import AnyEvent, SessionRef


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is Cline's."""
    return is_task(head) or is_newer(head)


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions under the user's home folder, newest first. Links and unreadable files are left out."""
    found = (*find_tasks("cline", home), *find_newer(home))
    yield from sorted(found, key=lambda ref: (-(ref.modified_at or 0), ref.session_id))


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a task's conversation say of it, None for another of its files."""
    if path.name.endswith(".messages.json"):
        return refer_newer(path)
    return refer_task("cline", path) if path.name == TASK else None


def read(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield the session's events in order, first a `SessionStart`, last a `SessionEnd`.

    Raises `FileNotFoundError` when the file is gone.
    """
    yield from read_task("cline", ref)
