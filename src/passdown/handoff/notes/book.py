"""The notebook: the rows of decisions.jsonl, questions.jsonl and clues.jsonl, read and appended to under one lock."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from passdown.config import Config, load_config
from passdown.errors import ConflictError, FormatError, PassdownError, UsageError
from passdown.handoff.place import find_root
from passdown.handoff.show import find_packet
from passdown.io.files import home_folder, lock
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.model.workbench import ClueRow, DecisionRow, NoteRow, QuestionRow, Role, Workbench
from passdown.packet.decisions import NO_REASON
from passdown.redact.neutralise import one_line
from passdown.redact.scan import Redactor
from passdown.repository.locate import read_layout
from passdown.workbench.load import load_workbench
from passdown.workbench.locate import candidates
from passdown.workbench.write import AnyRow, append_row, role_of

PATIENCE = 10.0
"""Seconds that a writer waits for the others."""

_ROLES: tuple[Role, ...] = ("decisions", "questions", "clues")


class Notebook(Struct, frozen=True, kw_only=True):
    """What was noted in a repository, and the workbench around it."""

    root: Path
    config: Config
    workbench: Workbench

    @property
    def rows(self) -> tuple[AnyRow, ...]:
        """Every row as its newest line leaves it, the withdrawn ones too."""
        bench = self.workbench
        return (*bench.decisions, *bench.notes, *bench.questions, *bench.clues)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong with the three files."""
        places = {path for role in _ROLES for path in candidates(role, self.config)}
        return tuple(f for f in self.workbench.findings if f.where in places)

    def find(self, name: str) -> AnyRow:
        """Return the row with this id, or with the one id that begins so; the active packet's when it lies there alone.

        Raises `UsageError` when there is none, or more than one.
        """
        name = name[2:] if name.startswith("D-Q-") else name  # a question's answer, as a packet lists it
        rows = {row.id: row for row in self.rows}
        rows = {row.id: row for row in _rows_of_packet(self.packet())} | rows if name not in rows else rows
        if name in rows:
            return rows[name]
        begun = [row for row in rows.values() if len(name) >= 4 and row.id.startswith(name)]
        if len(begun) == 1:
            return begun[0]
        what = "begins several ids" if begun else "is no note here"
        known = ", ".join(list(rows)[-12:]) or "none"
        raise UsageError(f"{one_line(name, 80)!r} {what}", next_step=f"See `passdown note list`. Here are: {known}.")

    def packet(self) -> Packet | None:
        """Return the branch's active packet, None when there is not exactly one that can be read."""
        try:
            return find_packet(self.root).packet
        except PassdownError:
            return None

    def append(self, row: AnyRow) -> str:
        """Append a row and return the path it went to. Call it under `writing`.

        Raises `FormatError` when its file cannot be read: what is there already would be lost from sight.
        """
        places = candidates(role_of(row), self.config)
        broken = [f for f in self.workbench.findings if f.severity == "block" and f.where in places]
        if broken:
            raise FormatError(broken[0].detail, where=broken[0].where, next_step=broken[0].fix or "Mend the file.")
        return append_row(self.root, self.config, row)[1]


def read_notebook(folder: Path) -> Notebook:
    """Read the notes of the repository around `folder`. Raises `NoEvidenceError` outside of one."""
    root = find_root(folder)
    config = load_config(root)
    return Notebook(root=root, config=config, workbench=load_workbench(root, config))


@contextmanager
def writing(folder: Path) -> Iterator[Notebook]:
    """Hold the lock of the repository's notes and yield the notebook as it is under it.

    Raises `ConflictError` when others keep writing for longer than `PATIENCE`.
    """
    root = find_root(folder)
    place = read_layout(root).common_dir / "passdown" / "notes.lock"
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    until = time.monotonic() + PATIENCE
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(lock(place))
                break
            except ConflictError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
        yield read_notebook(root)


def redactor_for(root: Path, environ: Mapping[str, str]) -> Redactor:
    """Return the redactor that every text passes before it is noted."""
    return Redactor(environ, {str(home_folder()): "~", str(root): "."})


# --- what only a packet still holds ------------------------------------------------------------------------------


def _rows_of_packet(packet: Packet | None) -> Iterator[AnyRow]:
    """Yield what a packet holds of notes, as the rows they came from."""
    if packet is None:
        return
    for d in packet.decisions:
        why = "" if d.why == NO_REASON else d.why
        yield DecisionRow(
            id=d.id, choice=d.choice, why=why, rejected=tuple(d.rejected), by=d.by, anchor=d.anchor, state=d.state,
            pinned=d.pinned,
        )  # fmt: skip
    for p in packet.preferences:
        yield DecisionRow(id=p.id, choice=p.text, kind="preference", by=p.by, pinned=p.pinned)
    for q in packet.questions_for_human:
        yield QuestionRow(
            id=q.id, question=q.question, why=q.why, options=tuple(q.options), default=q.default, authority=2,
            blocks=tuple(q.blocks), impact=2, irreversibility=2 if q.severity == "block" else 0, by=q.by,
            pinned=q.pinned,
        )  # fmt: skip
    for c in packet.clues:
        anchors, tags = tuple(c.anchors), tuple(c.tags)
        yield ClueRow(id=c.id, text=c.text, anchors=anchors, tags=tags, by=c.by, pinned=c.pinned)
    yield from _notes_of_packet(packet)


def _notes_of_packet(packet: Packet) -> Iterator[NoteRow]:
    for a in packet.assumptions_to_validate:
        yield NoteRow(
            id=a.id, text=a.text, kind="assumption", check=a.validate_with or "", by=a.by, pinned=a.pinned
        )  # fmt: skip
    for r in packet.open_risks:
        if r.by or r.pinned:
            yield NoteRow(
                id=r.id, text=r.detail, kind="risk", code=r.code, severity=r.severity, by=r.by, pinned=r.pinned
            )  # fmt: skip
    for f in packet.failed_attempts:
        if f.by or f.pinned:
            yield NoteRow(id=f.id, text=f.what, kind="attempt", why=f.why, by=f.by, pinned=f.pinned)
