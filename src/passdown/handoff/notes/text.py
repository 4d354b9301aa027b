"""The texts of a note: on one line, visible, without secrets, and no longer than the packet that will carry them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from msgspec import structs

from passdown.errors import UsageError
from passdown.handoff.notes.anchor import resolve_anchor
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import ClueRow, DecisionRow, NoteRow, QuestionRow
from passdown.packet.caps import LISTS, TEXTS
from passdown.redact.neutralise import neutralise
from passdown.redact.scan import Redactor
from passdown.workbench.shapes import clean
from passdown.workbench.write import AnyRow

_Row = TypeVar("_Row", bound=AnyRow)

_CODE = lazy_pattern(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")
_TAG = lazy_pattern(r"[^\s,]+")


class _Field(NamedTuple):
    """A text field of a row: how users call it, the packet's record and field whose caps it has, its list's cap."""

    label: str
    record: str
    name: str
    listed: str = ""


_DECISION = {
    "choice": _Field("the decision", "Decision", "choice"), "why": _Field("--why", "Decision", "why"),
    "rejected": _Field("--rejected", "Decision", "rejected", "Decision.rejected"),
    "anchor": _Field("--anchor", "Decision", "anchor"),
}  # fmt: skip
_PREFERENCE = {"choice": _Field("the preference", "Preference", "text")}
_QUESTION = {
    "question": _Field("the question", "Question", "question"), "why": _Field("--why", "Question", "why"),
    "options": _Field("--option", "Question", "options", "Question.options"),
    "default": _Field("--default", "Question", "default"),
    "blocks": _Field("--blocks", "Question", "blocks", "Question.blocks"),
}  # fmt: skip
_CLUE = {
    "text": _Field("the clue", "Clue", "text"), "tags": _Field("--tag", "Clue", "tags", "Clue.tags"),
    "anchors": _Field("--anchor", "Clue", "anchors", "Clue.anchors"),
}  # fmt: skip
_NOTES = {
    "assumption": {
        "text": _Field("the assumption", "Assumption", "text"),
        "check": _Field("--check", "Assumption", "validate_with"),
    },
    "risk": {"text": _Field("the risk", "Risk", "detail"), "code": _Field("--code", "Risk", "code")},
    "attempt": {"text": _Field("the attempt", "FailedAttempt", "what"), "why": _Field("--why", "FailedAttempt", "why")},
    "next": {"text": _Field("the next step", "NextAction", "text")},
}  # fmt: skip


def text_field(row: AnyRow) -> str:
    """Return the name of the field that holds what a row says."""
    return "choice" if isinstance(row, DecisionRow) else "question" if isinstance(row, QuestionRow) else "text"


def text_of(row: AnyRow) -> str:
    """Return what a row says."""
    text: str = getattr(row, text_field(row))
    return text


def clean_row(row: _Row, redactor: Redactor, root: Path, folder: Path) -> tuple[_Row, list[Finding]]:
    """Return the row with its texts fit to be written, and a finding for each anchor that leads nowhere.

    Raises `UsageError` for a text that is empty, too long, or a code that is none.
    """
    row, findings = _with_anchors(row, root, folder)
    changes: dict[str, Any] = {}
    for name, rule in _fields(row).items():
        value = getattr(row, name)
        cap = TEXTS[rule.record][rule.name].cap
        if isinstance(value, tuple):
            if len(value) > LISTS[rule.listed]:
                raise UsageError(f"{rule.label} is given {len(value)} times; a packet holds {LISTS[rule.listed]}")
            changes[name] = tuple(dict.fromkeys(one_clean(redactor, item, rule.label, cap) for item in value))
        elif value or name == text_field(row):
            changes[name] = one_clean(redactor, value, rule.label, cap)
    row = structs.replace(row, **changes)
    _check_words(row)
    return row, findings


def one_clean(redactor: Redactor, text: str, label: str, cap: int) -> str:
    """Return one text on one line, neutralised and redacted. Raises `UsageError` when it is empty or too long."""
    line = " ".join(redactor.text(neutralise(clean(text))).split())
    if not any(map(str.isalnum, line)):
        raise UsageError(f"{label} says nothing", next_step="Say it in one sentence.")
    if len(line) > cap:
        raise UsageError(
            f"{label} is {len(line)} characters long; a packet holds {cap}",
            where=f"{line[:60]}…",
            next_step="Shorten it, or name the file where the rest stands.",
        )
    return line


def _fields(row: AnyRow) -> dict[str, _Field]:
    match row:
        case DecisionRow():
            return _PREFERENCE if row.kind == "preference" else _DECISION
        case QuestionRow():
            return _QUESTION
        case ClueRow():
            return _CLUE
        case NoteRow():
            return _NOTES[row.kind]


def _with_anchors(row: _Row, root: Path, folder: Path) -> tuple[_Row, list[Finding]]:
    given: tuple[str, ...] = ()
    if isinstance(row, ClueRow):
        given = row.anchors
    elif isinstance(row, DecisionRow) and row.anchor:
        given = (row.anchor,)
    resolved = [resolve_anchor(root, folder, text) for text in given]
    findings = [
        Finding(code="anchor.broken", severity="warn", where=anchor.text, detail=f"{anchor.broken}; kept all the same")
        for anchor in resolved
        if anchor.broken
    ]
    if isinstance(row, ClueRow) and resolved:
        return structs.replace(row, anchors=tuple(anchor.text for anchor in resolved)), findings
    if isinstance(row, DecisionRow) and resolved:
        return structs.replace(row, anchor=resolved[0].text), findings
    return row, findings


def _check_words(row: AnyRow) -> None:
    if isinstance(row, NoteRow) and row.code and not _CODE.fullmatch(row.code):
        raise UsageError(f"{row.code[:60]!r} is no code", next_step="Write it like tests.flaky: words, dots between.")
    if isinstance(row, ClueRow):
        for tag in row.tags:
            if not _TAG.fullmatch(tag):
                raise UsageError(f"{tag[:40]!r} is no tag", next_step="A tag is one word.")
