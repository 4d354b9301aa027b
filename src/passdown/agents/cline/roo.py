"""Roo Code's sessions. The shapes are shared with the others of this folder (`shared.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from passdown.agents.cline.shared import is_task, read_task
from passdown.agents.cline.store import TASK, find_tasks, refer_task
from passdown.model.session import AnyEvent, SessionRef


def recognise(head: bytes, name: str) -> bool:  # noqa: ARG001 - content decides, never the name
    """Say whether a file that starts with `head` is Roo Code's."""
    return is_task(head) and (
        b"roo-cline" in head or b".roo/" in head or b".rooignore" in head or b"condenseId" in head
    )


def find(home: Path) -> Iterator[SessionRef]:
    """Yield the tasks under the user's home folder, newest first. Links and unreadable files are left out."""
    yield from sorted(find_tasks("roo", home), key=lambda ref: (-(ref.modified_at or 0), ref.session_id))


def refer(path: Path) -> SessionRef | None:
    """Return what the ends of a task's conversation say of it, None for another of its files."""
    return refer_task("roo", path) if path.name == TASK else None


def read(ref: SessionRef) -> Iterator[AnyEvent]:
    """Yield the session's events in order, first a `SessionStart`, last a `SessionEnd`.

    Raises `FileNotFoundError` when the file is gone.
    """
    yield from read_task("roo", ref)
