"""agent_state.json (lessons 32, 34 and 42)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from passdown.model.workbench import State
from passdown.workbench.document import MalformedError, Notes, quoted
from passdown.workbench.shapes import integer, paths_of, record_of, text_of, texts_of

VERSIONS = (1,)
"""The schema versions that are understood; lesson 32 writes none, which counts as 1."""


def read_state(value: Any, notes: Notes, root: Path) -> State:
    """Return the state. Raises `MalformedError` for an unknown `schema_version` and for a null where a list belongs."""
    record = record_of(value)
    version = record.get("schema_version", 1)
    if integer(version) not in VERSIONS:
        raise MalformedError(
            "artifact.unknown_version",
            f"schema_version {quoted(version)} is not understood",
            fix="Write it as version 1, or update passdown.",
        )
    missing = [name for name in ("active_task_id", "next_action") if name not in record]
    if len(missing) == 2 and "next_step" not in record and "nextAction" not in record:
        notes.warn("state.incomplete", "has neither active_task_id nor next_action")
    return State(
        active_task_id=text_of(record, "active_task_id", notes).strip(),
        touched_files=paths_of(record, "touched_files", notes, root, null="refuse"),
        assumptions=texts_of(record, "assumptions", notes, null="refuse"),
        blockers=texts_of(record, "blockers", notes, null="refuse"),
        next_action=text_of(record, "next_action", notes),
        branch=text_of(record, "branch", notes),
        session_id=text_of(record, "session_id", notes),
        last_run=_last_run(record, notes),
    )


def _last_run(record: dict[str, Any], notes: Notes) -> str:
    value = record.get("last_run")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return text_of(record, "last_run", notes)
