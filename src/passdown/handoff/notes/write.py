"""Note: leave one line of evidence during the work. The same note twice is one row; nothing is ever rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field, structs

from passdown.errors import NextActionError, UnsafeError, UsageError
from passdown.handoff.notes.anchor import head_of
from passdown.handoff.notes.author import Writer, writer_of
from passdown.handoff.notes.book import Notebook, redactor_for, writing
from passdown.handoff.notes.text import clean_row, one_clean, text_field, text_of
from passdown.handoff.place import branch_on_shelf
from passdown.model.finding import Finding
from passdown.model.identifier import content_id, normalize_text
from passdown.model.workbench import ClueRow, DecisionRow, NoteRow, QuestionRow
from passdown.packet.questions import NEXT_ACTION
from passdown.packet.vague import refusal
from passdown.workbench import clues, decisions, questions
from passdown.workbench.notes import PREFIXES
from passdown.workbench.write import AnyRow

AGAIN = 60_000
"""A next step that is said again after so many milliseconds counts as new: it may belong to new work."""

_Row = TypeVar("_Row", bound=AnyRow)


class Setting(Struct, frozen=True, kw_only=True):
    """Where a note comes from: the environment, whether there is a terminal, the time (milliseconds), `by` as given."""

    environ: Mapping[str, str] = field(default_factory=dict)
    terminal: bool = False
    now: int | None = None
    by: str = ""

    @property
    def writer(self) -> Writer:
        """Who writes; see `writer_of` for what is refused."""
        return writer_of(self.environ, terminal=self.terminal, claimed=self.by)


class Noted(Struct, frozen=True, kw_only=True):
    """What was noted: the id, its file, whether a row was written, secrets masked by kind, and what was off."""

    id: str
    path: str = ""
    changed: bool = True
    redactions: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    remarks: tuple[str, ...] = ()


def add_note(folder: Path, row: AnyRow, setting: Setting) -> Noted:
    """Note a row; its id is made from its text. A text that was noted before is amended by what is new in the row.

    Raises `UsageError` for a text that is empty or does not fit a packet, `NextActionError` for a vague next step,
    `UnsafeError` when an agent would change what a person noted.
    """
    writer = setting.writer
    with writing(folder) as book:
        redactor = redactor_for(book.root, setting.environ)
        if isinstance(row, NoteRow) and row.kind == "next":
            _lint(redactor.text(row.text))
        row, findings = clean_row(row, redactor, book.root, folder)
        row = _sign(row, writer, setting, book.root)
        earlier = _same(book, row)
        masked = {kind: count for kind, count in redactor.counts.items() if count}
        if earlier is None:
            done = _write(book, structs.replace(_placed(book, row), id=_id_of(row)))
        else:
            done = _amend(book, earlier, row, writer)
    return structs.replace(done, redactions=masked, findings=(*done.findings, *findings))


def _lint(text: str) -> None:
    if reason := refusal(text):
        raise NextActionError(
            f"the next step is not usable: {reason}",
            where=" ".join(text.split())[:80],
            next_step="Name one concrete step: a path, a command, or a question's id, on one line.",
        )


def _id_of(row: AnyRow) -> str:
    match row:
        case NoteRow():
            prefix = PREFIXES[row.kind]
        case DecisionRow():
            prefix = "P-" if row.kind == "preference" else decisions.PREFIX
        case QuestionRow():
            prefix = questions.PREFIX
        case ClueRow():
            prefix = clues.PREFIX
    return content_id(prefix, text_of(row))


def _sign(row: _Row, writer: Writer, setting: Setting, root: Path) -> _Row:
    changes: dict[str, Any] = {"by": writer.by}
    if isinstance(row, NoteRow):
        changes["at"] = setting.now
        if row.kind == "next":
            changes |= {"branch": branch_on_shelf(root) or "", "head": head_of(root)}
    if isinstance(row, QuestionRow):
        changes["asked_at"] = setting.now
    return structs.replace(row, **changes)


def _placed(book: Notebook, row: _Row) -> _Row:
    """Return a question with what it holds up: the active task, when nothing is named."""
    if not isinstance(row, QuestionRow) or row.blocks:
        return row
    bench = book.workbench
    state = bench.state.active_task_id if bench.state else ""
    contract = bench.contract.task_id if bench.contract else ""
    return structs.replace(row, blocks=((state or contract or bench.active_feature or "the work")[:64],))


def _same(book: Notebook, row: AnyRow) -> AnyRow | None:
    """Return the row that holds the same text of the same kind."""
    key = normalize_text(text_of(row))
    for other in book.rows:
        same_kind = type(other) is type(row) and getattr(other, "kind", "") == getattr(row, "kind", "")
        if same_kind and normalize_text(text_of(other)) == key:
            return other
    return None


_UNSAID = (
    "id", "line", "by", "at", "branch", "head", "asked_at", "state", "status", "withdrawn", "answer", "answered_by",
    "impact", "authority",
)  # fmt: skip
"""Fields that a repeated note does not change: who, when, how weighty, and what became of it."""


def _amend(book: Notebook, earlier: AnyRow, row: AnyRow, writer: Writer) -> Noted:
    """Write what a repeated note says anew; nothing when that is nothing."""
    if isinstance(earlier, QuestionRow) and earlier.status == "answered":
        return Noted(id=earlier.id, changed=False, remarks=(f"it is answered already: {earlier.answer}",))
    defaults = {f.name: f.default for f in structs.fields(type(row))}
    said = {
        name: getattr(row, name)
        for name in row.__struct_fields__
        if name not in (*_UNSAID, text_field(row)) and getattr(row, name) != defaults[name]
    }
    merged = structs.replace(earlier, **said)
    if _is_withdrawn(earlier):
        merged = structs.replace(_revived(merged), by=row.by)
    elif earlier.by != "human" and row.by == "human":
        merged = structs.replace(merged, by="human")
    if isinstance(earlier, NoteRow) and isinstance(row, NoteRow) and row.kind == "next" and _is_new(book, earlier, row):
        merged = structs.replace(merged, at=row.at, by=row.by, branch=row.branch, head=row.head)
    if merged == earlier:
        return Noted(id=earlier.id, changed=False)
    _require_own(earlier, writer)
    return _write(book, merged)


def _is_new(book: Notebook, earlier: NoteRow, row: NoteRow) -> bool:
    """Say whether a next step that is said again counts anew: another came after it, time passed, or HEAD moved."""
    steps = [step for step in book.workbench.notes if step.kind == "next" and not step.withdrawn]
    newest = max(steps, key=lambda step: (step.at or 0, step.line), default=earlier)
    moved = (row.branch, row.head) != (earlier.branch, earlier.head)
    return moved or newest.id != earlier.id or (row.at or 0) - (earlier.at or 0) > AGAIN


def _write(book: Notebook, row: AnyRow, *remarks: str) -> Noted:
    path = book.append(row)
    return Noted(
        id=row.id, path=path, findings=tuple(f for f in book.findings if f.severity != "info"), remarks=remarks
    )


def _require_own(row: AnyRow, writer: Writer) -> None:
    """Raise `UnsafeError` when an agent would change what a person noted."""
    if row.by == "human" and not writer.speaks_for_people and not (isinstance(row, NoteRow) and row.kind == "next"):
        raise UnsafeError(
            f"a person noted {row.id}; an agent does not change it ({writer.marker} is set)",
            next_step="Note what is new beside it, or ask the person.",
        )


# --- what becomes of a note --------------------------------------------------------------------------------------


def answer_question(folder: Path, name: str, text: str, setting: Setting) -> Noted:
    """Answer a question: it becomes a decision. What is a person's to answer, an agent does not answer.

    Raises `UsageError` when there is no such question, `UnsafeError` for an agent without a terminal.
    """
    writer = setting.writer
    with writing(folder) as book:
        row = book.find(name)
        if not isinstance(row, QuestionRow):
            raise UsageError(f"{row.id} is no question", next_step="Ids of questions begin with Q-.")
        by = writer.by
        if row.authority >= 2 or row.irreversibility >= 2 or NEXT_ACTION in row.blocks or row.answered_by == "human":
            writer.require_person(f"{row.id} is a person's to answer")
            by = "human"
        redactor = redactor_for(book.root, setting.environ)
        answer = one_clean(redactor, text, "the answer", 200)
        answered = structs.replace(row, status="answered", answer=answer, answered_by=by)
        done = Noted(id=row.id, changed=False) if answered == row else _write(book, answered)
        return structs.replace(done, redactions=dict(redactor.counts))


def score_assumption(folder: Path, name: str, score: int, setting: Setting) -> Noted:
    """Note a reviewer's score for an assumption: 0 wrong, 1 doubtful, 2 confirmed. The state's assumptions count too.

    Raises `UsageError` for a score that is none or an unknown assumption, `UnsafeError` when an agent would change a
    person's score.
    """
    if not 0 <= score <= 2:
        raise UsageError(f"{score} is no score", next_step="Say 0 (wrong), 1 (doubtful) or 2 (confirmed).")
    writer = setting.writer
    with writing(folder) as book:
        row = _state_assumption(book, name) or book.find(name)
        if not isinstance(row, NoteRow) or row.kind != "assumption":
            raise UsageError(f"{row.id} is no assumption", next_step="Ids of assumptions begin with A-.")
        if row.scored_by == "human" and row.score != score:
            writer.require_person(f"a person scored {row.id}")
        scored = structs.replace(row, score=score, scored_by=writer.by if row.score != score else row.scored_by)
        return Noted(id=row.id, changed=False) if scored == row else _write(book, scored)


def _state_assumption(book: Notebook, name: str) -> NoteRow | None:
    """Return an assumption that only agent_state.json holds, as a row."""
    state = book.workbench.state
    noted = {normalize_text(row.text) for row in book.workbench.notes if row.kind == "assumption"}
    for text in state.assumptions if state else ():
        if content_id("A-", text) == name and normalize_text(text) not in noted:
            return NoteRow(id=name, text=text, kind="assumption")
    return None


def pin_note(folder: Path, name: str, setting: Setting, *, pinned: bool) -> Noted:
    """Pin a note, so that no packet leaves it out, or take its pin away.

    Raises `UsageError` for an unknown id or a next step, `UnsafeError` when an agent would unpin what a person noted.
    """
    with writing(folder) as book:
        row = book.find(name)
        if isinstance(row, NoteRow) and row.kind == "next":
            raise UsageError("a next step cannot be pinned: it ends with its work", where=row.id)
        if _is_withdrawn(row):
            raise UsageError("it was taken back", where=row.id, next_step="Note it again, then pin it.")
        if row.pinned == pinned:
            return Noted(id=row.id, changed=False)
        if not pinned:
            _require_own(row, setting.writer)
        return _write(book, structs.replace(row, pinned=pinned))


def undo_note(folder: Path, name: str, setting: Setting) -> Noted:
    """Take a note back by a further row: an answer first (the question is open again), else the note itself.

    Raises `UsageError` for an unknown id, `UnsafeError` when an agent would take back what a person noted.
    """
    writer = setting.writer
    with writing(folder) as book:
        row = book.find(name)
        if _is_withdrawn(row):
            return Noted(id=row.id, changed=False, remarks=("it was taken back already",))
        if isinstance(row, QuestionRow) and row.status == "answered":
            if row.answered_by != "agent":
                writer.require_person(f"a person answered {row.id}")
            opened = structs.replace(row, status="open", answer="", answered_by="")
            return _write(book, opened, "the answer is taken back; the question is open again")
        _require_own(row, writer)
        return _write(book, _withdrawn(row))


def _is_withdrawn(row: AnyRow) -> bool:
    match row:
        case DecisionRow():
            return row.state == "withdrawn"
        case QuestionRow():
            return row.status == "withdrawn"
        case NoteRow() | ClueRow():
            return row.withdrawn


def _withdrawn(row: AnyRow) -> AnyRow:
    match row:
        case DecisionRow():
            return structs.replace(row, state="withdrawn")
        case QuestionRow():
            return structs.replace(row, status="withdrawn")
        case NoteRow() | ClueRow():
            return structs.replace(row, withdrawn=True, pinned=False)


def _revived(row: AnyRow) -> AnyRow:
    match row:
        case DecisionRow():
            return structs.replace(row, state="made")
        case QuestionRow():
            return structs.replace(row, status="open")
        case NoteRow() | ClueRow():
            return structs.replace(row, withdrawn=False)
