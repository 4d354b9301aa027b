"""last_known_good.json (lesson 35): the commit that last passed."""

from __future__ import annotations

from typing import Any

from passdown.workbench.document import MalformedError, Notes
from passdown.workbench.shapes import commit_of, record_of


def read_last_known_good(value: Any, notes: Notes) -> str:
    """Return the commit id as written (7 to 64 hex digits). Raises `MalformedError` when there is none."""
    commit = commit_of(record_of(value), "commit", notes)
    if not commit:
        raise MalformedError("last_known_good.no_commit", "names no commit", fix="Write 7 to 40 hex digits.")
    return commit
