"""What decisions.jsonl holds beside decisions: assumptions, risks, failed attempts and next steps, told by `kind`.

A row is `{"kind": "risk", "text": "...", "by": "agent"}`; see `NoteRow` for the other fields. `choice` may stand for
`text`, and later rows with the same id amend earlier ones, as everywhere in that file.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from msgspec import Struct

from passdown.model.finding import Severity
from passdown.model.workbench import DecisionRow, NoteRow
from passdown.workbench import decisions
from passdown.workbench.decisions import NOTED, decision_rows
from passdown.workbench.document import Notes, quoted
from passdown.workbench.entries import Entry, author_of, choice_of, entries_of
from passdown.workbench.shapes import commit_of, flag, integer, milliseconds, text_of

PREFIXES = {"assumption": "A-", "risk": "R-", "attempt": "F-", "next": "N-"}
"""How the ids of the kinds begin."""


class Log(Struct, frozen=True):
    """The rows of decisions.jsonl, in order of first appearance."""

    decisions: tuple[DecisionRow, ...] = ()
    notes: tuple[NoteRow, ...] = ()


def read_log(data: bytes, notes: Notes) -> Log:
    """Return the rows of decisions.jsonl, each as its newest row leaves it."""
    entries = entries_of(data, "decisions", _prefix, "choice", notes)
    rows = tuple(_row(entry, notes) for entry in entries if entry.record.get("kind") in NOTED)
    return Log(decision_rows(entries, notes), rows)


def _prefix(record: dict[str, Any]) -> str:
    kind = record.get("kind")
    return PREFIXES.get(kind, decisions.PREFIX) if isinstance(kind, str) else decisions.PREFIX


def _row(entry: Entry, notes: Notes) -> NoteRow:
    record = entry.record
    return NoteRow(
        id=entry.id,
        text=text_of(record, "choice", notes),
        kind=cast("Literal['assumption', 'risk', 'attempt', 'next']", record["kind"]),
        why=text_of(record, "why", notes),
        check=text_of(record, "check", notes),
        code=text_of(record, "code", notes),
        severity=cast("Severity", _severity(entry, notes)),
        by=author_of(entry, "by", "decisions", notes),
        score=_score(entry, notes),
        scored_by=author_of(entry, "scored_by", "decisions", notes),
        pinned=bool(flag(record, "pinned", notes)),
        withdrawn=choice_of(entry, "state", ("made", "assumed", "withdrawn"), "decisions", notes) == "withdrawn",
        at=milliseconds(record.get("at")),
        branch=text_of(record, "branch", notes),
        head=commit_of(record, "head", notes),
        line=entry.line,
    )


def _severity(entry: Entry, notes: Notes) -> str:
    return choice_of(entry, "severity", ("warn", "block", "info"), "decisions", notes)


def _score(entry: Entry, notes: Notes) -> int | None:
    value = entry.record.get("score")
    score = integer(value)
    if value is not None and (score is None or not 0 <= score <= 2):
        notes.warn("decisions.bad_score", f"line {entry.line}: score is not 0, 1 or 2: {quoted(value)}")
        return None
    return score
