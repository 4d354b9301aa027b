"""clues.jsonl: chunks worth keeping, each with anchors that bring the reader back to where it came from."""

from __future__ import annotations

from passdown.model.workbench import ClueRow
from passdown.workbench.document import Notes
from passdown.workbench.entries import author_of, entries_of
from passdown.workbench.shapes import flag, text_of, texts_of

PREFIX = "C-"


def read_clues(data: bytes, notes: Notes) -> tuple[ClueRow, ...]:
    """Return the clues in order of first appearance, each as its newest row leaves it."""
    return tuple(
        ClueRow(
            id=entry.id,
            text=text_of(entry.record, "text", notes),
            anchors=texts_of(entry.record, "anchors", notes),
            tags=texts_of(entry.record, "tags", notes),
            by=author_of(entry, "by", "clues", notes),
            pinned=bool(flag(entry.record, "pinned", notes)),
            withdrawn=bool(flag(entry.record, "withdrawn", notes)),
            line=entry.line,
        )
        for entry in entries_of(data, "clues", PREFIX, "text", notes)
    )
