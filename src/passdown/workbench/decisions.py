"""decisions.jsonl: decisions, and with `kind` preference standing wishes."""

from __future__ import annotations

from typing import Literal, cast

from passdown.model.workbench import DecisionRow
from passdown.workbench.document import Notes
from passdown.workbench.entries import choice_of, entries_of
from passdown.workbench.shapes import text_of, texts_of

PREFIX = "D-"


def read_decisions(data: bytes, notes: Notes) -> tuple[DecisionRow, ...]:
    """Return the decisions in order of first appearance, each as its newest row leaves it."""
    rows: list[DecisionRow] = []
    for entry in entries_of(data, "decisions", PREFIX, "choice", notes):
        kind = choice_of(entry, "kind", ("decision", "preference"), "decisions", notes)
        by = choice_of(entry, "by", ("agent", "human"), "decisions", notes)
        state = choice_of(entry, "state", ("made", "assumed", "withdrawn"), "decisions", notes)
        rows.append(
            DecisionRow(
                id=entry.id,
                choice=text_of(entry.record, "choice", notes),
                kind=cast("Literal['decision', 'preference']", kind),
                why=text_of(entry.record, "why", notes),
                rejected=texts_of(entry.record, "rejected", notes),
                by=cast("Literal['human', 'agent']", by),
                anchor=text_of(entry.record, "anchor", notes),
                state=cast("Literal['made', 'assumed', 'withdrawn']", state),
                line=entry.line,
            )
        )
    return tuple(rows)
