"""Append a row to one of the logs passdown defines: decisions.jsonl, questions.jsonl, clues.jsonl."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import msgspec

from passdown.config import Config
from passdown.errors import UnsafeError, UsageError
from passdown.io.files import join_inside, lock
from passdown.model.identifier import content_id
from passdown.model.workbench import ClueRow, DecisionRow, NoteRow, QuestionRow, Role
from passdown.workbench import clues, decisions, questions
from passdown.workbench.locate import candidates, exists, own_output
from passdown.workbench.notes import PREFIXES

MAX_ROW = 16 << 10
"""Longest row that is written, in bytes."""

AnyRow = DecisionRow | NoteRow | QuestionRow | ClueRow


def append_row(root: Path, config: Config, row: AnyRow, *, locked_by: Path | None = None) -> tuple[str, str]:
    """Append a row and return its id and the repository-relative path it went to.

    An empty id is made from the text; a row with the id of an earlier one amends it. The file is the configured or the
    existing one, else one at the repository's root. `locked_by` is a lock file that several writers share. Texts are
    written as given: redact them first. Raises `UsageError` for an empty or overlong row, `UnsafeError` for a symlink.
    """
    role, prefix, text = _kind(row)
    if not text.strip():
        raise UsageError("the text is empty", where=role, next_step="Say it in one sentence.")
    name = row.id or content_id(prefix, text)
    try:
        line = msgspec.json.encode(_fields(row) | {"id": name}, order="sorted") + b"\n"
    except UnicodeEncodeError as error:
        raise UsageError("the text is not UTF-8", where=role, next_step="Write it in UTF-8.") from error
    if len(line) > MAX_ROW:
        raise UsageError(f"is longer than {MAX_ROW} bytes", where=role, next_step="Shorten it, or name a file instead.")
    path = place_of(root, config, role)
    target = join_inside(root, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if locked_by is None:
        _append(target, path, line)
    else:
        with lock(locked_by):
            _append(target, path, line)
    return name, path


def role_of(row: AnyRow) -> Role:
    """Return the role of the file that a row belongs into."""
    return _kind(row)[0]


def _kind(row: AnyRow) -> tuple[Role, str, str]:
    if isinstance(row, DecisionRow):
        return "decisions", decisions.PREFIX, row.choice
    if isinstance(row, NoteRow):
        return "decisions", PREFIXES[row.kind], row.text
    if isinstance(row, QuestionRow):
        return "questions", questions.PREFIX, row.question
    return "clues", clues.PREFIX, row.text


def _fields(row: AnyRow) -> dict[str, Any]:
    """Return the row's fields, with those written out whose default must be able to amend an earlier row."""
    fields: dict[str, Any] = msgspec.to_builtins(row)
    fields.pop("line", None)
    if isinstance(row, NoteRow):
        fields.pop("withdrawn", None)
        state = "withdrawn" if row.withdrawn else "made"
        severity = {"severity": row.severity} if row.kind == "risk" else {}
        return severity | fields | {"pinned": row.pinned, "state": state}
    always: dict[str, tuple[str, ...]] = {
        "decisions": ("kind", "by", "state", "pinned"), "questions": ("status", "answer", "pinned"),
        "clues": ("pinned", "withdrawn"),
    }  # fmt: skip
    return {name: getattr(row, name) for name in always[_kind(row)[0]]} | fields


def place_of(root: Path, config: Config, role: Role) -> str:
    """Return where rows of a role go: the configured place, the file that is there, or one at the root."""
    places = [path for path in candidates(role, config) if not own_output(path, config)]
    if role in config.artifacts and places:
        return places[0]
    return next((path for path in places if exists(root, path)), f"{role}.jsonl")


def _append(target: Path, path: str, line: bytes) -> None:
    """Append with one write, starting a new line first when the last one is torn."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(target, flags, 0o644)
    except OSError as error:
        raise UnsafeError("cannot be appended to", where=path, next_step="Remove the link or the folder.") from error
    with os.fdopen(descriptor, "r+b", buffering=0) as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnsafeError("is not a regular file", where=path, next_step="Remove it.")
        size = stream.seek(0, os.SEEK_END)
        torn = size > 0 and os.pread(stream.fileno(), 1, size - 1) != b"\n"
        stream.write(b"\n" + line if torn else line)
        os.fsync(stream.fileno())
