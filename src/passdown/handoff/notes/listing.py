"""The notes as they are listed and shown: every kind in one shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from passdown.errors import UsageError
from passdown.handoff.notes.anchor import resolve_anchor
from passdown.handoff.notes.book import read_notebook
from passdown.handoff.notes.text import text_of
from passdown.model.finding import Finding
from passdown.model.workbench import ClueRow, DecisionRow, NoteRow, QuestionRow
from passdown.redact.neutralise import one_line
from passdown.workbench.write import AnyRow, role_of

KINDS = ("decision", "question", "preference", "clue", "assumption", "risk", "attempt", "next")
"""The kinds of notes."""

SHOWN = 300
"""Most characters of a note that are shown."""


class NoteItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A note. `state` is open, answered, made, assumed or withdrawn; `broken` holds the anchors that lead nowhere."""

    id: str
    kind: str
    text: str
    state: str = "made"
    by: str = ""
    pinned: bool = False
    why: str = ""
    answer: str = ""
    answered_by: str = ""
    default: str = ""
    options: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    check: str = ""
    score: int | None = None
    scored_by: str = ""
    code: str = ""
    severity: str = ""
    anchors: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    line: int = 0


class Listed(Struct, frozen=True, kw_only=True):
    """The notes in the order of their kinds and files, and what was wrong with the files."""

    items: tuple[NoteItem, ...] = ()
    findings: tuple[Finding, ...] = ()


def list_notes(folder: Path, kind: str = "", *, withdrawn: bool = False) -> Listed:
    """List what was noted, of one kind or of all. Raises `UsageError` for a kind that is none."""
    if kind and kind not in KINDS:
        raise UsageError(f"{kind[:40]!r} is no kind of note", next_step=f"Kinds are: {', '.join(KINDS)}.")
    book = read_notebook(folder)
    paths = {artifact.role: artifact.path for artifact in book.workbench.artifacts}
    items = [_item(row, paths.get(role_of(row), "")) for row in book.rows if text_of(row).strip()]
    kept = [item for item in items if (not kind or item.kind == kind) and (withdrawn or item.state != "withdrawn")]
    kept.sort(key=lambda item: KINDS.index(item.kind))
    return Listed(items=tuple(kept), findings=book.findings)


def find_note(folder: Path, name: str) -> NoteItem:
    """Return one note with its anchors looked up. Raises `UsageError` when there is none of this id."""
    book = read_notebook(folder)
    row = book.find(name)
    paths = {artifact.role: artifact.path for artifact in book.workbench.artifacts}
    item = _item(row, paths.get(role_of(row), ""))
    broken = tuple(a for a in item.anchors if resolve_anchor(book.root, book.root, a).broken)
    return structs.replace(item, broken=broken)


def describe(item: NoteItem) -> list[str]:
    """Return a note as it is shown: one line of at most 300 characters, and one for each anchor."""
    reason = item.answer or item.why or item.check
    lines = [one_line(f"{item.text} — {reason}" if reason else item.text, SHOWN)]
    return lines + [
        f"  {one_line(anchor, SHOWN)}{'  (leads nowhere now)' if anchor in item.broken else ''}"
        for anchor in item.anchors
    ]


def _item(row: AnyRow, path: str) -> NoteItem:
    common: dict[str, Any] = {"id": row.id, "text": text_of(row), "pinned": row.pinned, "path": path, "line": row.line}
    match row:
        case DecisionRow():
            return NoteItem(
                **common, kind=row.kind, state=row.state, by=row.by, why=row.why, rejected=row.rejected,
                anchors=(row.anchor,) if row.anchor else (),
            )  # fmt: skip
        case QuestionRow():
            return NoteItem(
                **common, kind="question", state=row.status, by=row.by, why=row.why, answer=row.answer,
                answered_by=row.answered_by, default=row.default, options=row.options, blocks=row.blocks,
            )  # fmt: skip
        case ClueRow():
            state = "withdrawn" if row.withdrawn else "made"
            return NoteItem(**common, kind="clue", state=state, by=row.by, anchors=row.anchors, tags=row.tags)
        case NoteRow():
            return NoteItem(
                **common, kind=row.kind, state="withdrawn" if row.withdrawn else "made", by=row.by, why=row.why,
                check=row.check, score=row.score, scored_by=row.scored_by, code=row.code,
                severity=row.severity if row.kind == "risk" else "",
            )  # fmt: skip
