"""decisions.jsonl: decisions, and with `kind` preference standing wishes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast

from passdown.model.workbench import DecisionRow
from passdown.workbench.document import Notes
from passdown.workbench.entries import Entry, choice_of
from passdown.workbench.shapes import flag, text_of, texts_of

PREFIX = "D-"

NOTED = ("assumption", "risk", "attempt", "next")
"""The other kinds of rows in the same file; `workbench.notes` reads them."""


def decision_rows(entries: Iterable[Entry], notes: Notes) -> tuple[DecisionRow, ...]:
    """Return the decisions among the entries of decisions.jsonl, in their order."""
    rows: list[DecisionRow] = []
    for entry in entries:
        kind = choice_of(entry, "kind", ("decision", "preference", *NOTED), "decisions", notes)
        if kind in NOTED:
            continue
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
                pinned=bool(flag(entry.record, "pinned", notes)),
                line=entry.line,
            )
        )
    return tuple(rows)
