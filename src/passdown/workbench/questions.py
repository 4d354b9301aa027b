"""questions.jsonl: what only a human can answer."""

from __future__ import annotations

from typing import Literal, cast

from passdown.model.workbench import QuestionRow
from passdown.workbench.document import Notes, quoted
from passdown.workbench.entries import Entry, author_of, choice_of, entries_of
from passdown.workbench.shapes import flag, integer, milliseconds, text_of, texts_of

PREFIX = "Q-"


def read_questions(data: bytes, notes: Notes) -> tuple[QuestionRow, ...]:
    """Return the questions in order of first appearance, each as its newest row leaves it."""
    rows: list[QuestionRow] = []
    for entry in entries_of(data, "questions", PREFIX, "question", notes):
        record = entry.record
        status = choice_of(entry, "status", ("open", "answered", "withdrawn"), "questions", notes)
        rows.append(
            QuestionRow(
                id=entry.id,
                question=text_of(record, "question", notes),
                why=text_of(record, "why", notes),
                options=texts_of(record, "options", notes),
                default=text_of(record, "default", notes),
                blocks=texts_of(record, "blocks", notes),
                impact=_score(entry, "impact", notes),
                irreversibility=_score(entry, "irreversibility", notes),
                authority=_score(entry, "authority", notes),
                status=cast("Literal['open', 'answered', 'withdrawn']", status),
                answer=text_of(record, "answer", notes),
                answered_by=author_of(entry, "answered_by", "questions", notes),
                asked_at=milliseconds(record.get("asked_at")),
                by=author_of(entry, "by", "questions", notes),
                pinned=bool(flag(record, "pinned", notes)),
                line=entry.line,
            )
        )
    return tuple(rows)


def _score(entry: Entry, name: str, notes: Notes) -> int:
    value = entry.record.get(name, 0)
    score = integer(value)
    if score is None or not 0 <= score <= 2:
        notes.warn("questions.bad_score", f"line {entry.line}: {name} is not 0, 1 or 2: {quoted(value)}")
        return 0
    return score
