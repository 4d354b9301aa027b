"""outputs/diff_summary.json: the paths a session says it touched (read by lessons 39 and 42, written by none)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from passdown.workbench.document import Notes
from passdown.workbench.shapes import paths_of, record_of


def read_diff_summary(value: Any, notes: Notes, root: Path) -> tuple[str, ...]:
    """Return the touched paths, each once, from an object under any of its names or from a bare list."""
    record = {"changed_files": value} if isinstance(value, list) else record_of(value)
    return paths_of(record, "changed_files", notes, root)
