"""overrides.jsonl (lesson 38): what a human let pass, and why."""

from __future__ import annotations

from passdown.model.workbench import Override
from passdown.workbench.document import Notes
from passdown.workbench.rows import rows_of
from passdown.workbench.shapes import text_of


def read_overrides(data: bytes, notes: Notes) -> tuple[Override, ...]:
    """Return the overrides in file order, with the field names of the code or of the lesson's text."""
    overrides: list[Override] = []
    for row in rows_of(data, "overrides", notes):
        code = text_of(row.record, "finding_code", notes)
        if not code:
            notes.warn("overrides.no_code", f"line {row.line} names no finding and is left out", offset=row.offset)
            continue
        overrides.append(
            Override(
                code=code,
                reason=text_of(row.record, "reason", notes),
                user_id=text_of(row.record, "user_id", notes),
                task_id=text_of(row.record, "task_id", notes),
                signed=bool(text_of(row.record, "signature", notes)),
            )
        )
    return tuple(overrides)
