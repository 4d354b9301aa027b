"""feedback_record.jsonl with its rotated files (lessons 37 to 42), read as one log, oldest line first."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

from msgspec import Struct

from passdown.errors import UnsafeError
from passdown.io.files import open_regular
from passdown.io.jsonl import CHUNK, read_lines
from passdown.model.command import command_text
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import FeedbackRow
from passdown.workbench.aliases import pick
from passdown.workbench.document import MalformedError, Notes
from passdown.workbench.locate import exists, resolve
from passdown.workbench.rows import MAX_ROW, Row, Troubles, read_rows
from passdown.workbench.shapes import clean, integer, milliseconds, relative_path

MAX_ROWS = 20_000
"""Most rows kept in memory: the newest ones."""

MAX_TEXT = 8 << 20
"""Most characters of commands, notes and output kept in memory; the oldest rows go first."""

ROTATED = 5
"""How many rotated files there are, `.5` being the oldest."""

_DIGESTS = ("tree", "content", "code", "content_after", "code_after", "head")
_HEX = lazy_pattern(r"[0-9a-f]{40,64}")
_HARMLESS = {"feedback.repaired_line", "feedback.bad_exit", "feedback.foreign_cwd"}


class LogFile(Struct, frozen=True):
    """One file of the log: its path, its size and SHA-256 when it was opened, and how many lines it then had."""

    path: str
    bytes: int
    sha256: str
    lines: int


class Feedback(Struct, frozen=True):
    """The kept rows, how many lines could not be read, how many older lines were not kept, and the files."""

    rows: tuple[FeedbackRow, ...]
    skipped: int
    older: int
    files: tuple[LogFile, ...]


def log_paths(root: Path, path: str) -> list[str]:
    """Return the existing files of the log at `path`, oldest first."""
    rotated = [f"{path}.{number}" for number in range(ROTATED, 0, -1)]
    return [name for name in (*rotated, path) if exists(root, name)]


def _measure(root: Path, path: str) -> LogFile:
    import hashlib  # loads OpenSSL, which pays for a log

    digest, size, lines, last = hashlib.sha256(), 0, 0, b"\n"
    try:
        with open_regular(resolve(root, path)) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                lines += chunk.count(b"\n")
                last = chunk[-1:]
    except (OSError, UnsafeError) as error:
        raise MalformedError("artifact.unreadable", "cannot be read") from error
    return LogFile(path, size, digest.hexdigest(), lines + (last != b"\n"))


def read_feedback(root: Path, paths: list[str], notes: Notes) -> Feedback:
    """Read the log from its files, oldest first. Lines are numbered through all of them.

    A file that cannot be read is reported and left out; a torn last line is counted and reported.
    """
    files: list[LogFile] = []
    for path in paths:
        try:
            files.append(_measure(root, path))
        except MalformedError as error:
            refused = Notes(path)
            refused.refuse(error)
            notes.take(refused.findings)
    total = sum(file.lines for file in files)
    older = max(0, total - MAX_ROWS)
    kept = _Kept(root)
    base = 0
    for file in files:
        if base + file.lines > older:
            kept.read(file, base, older, notes)
        base += file.lines
    return Feedback(tuple(kept.rows), kept.skipped, older + kept.dropped, tuple(files))


class _Kept:
    """The newest rows within the bounds, and what was passed over to get them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.rows: deque[FeedbackRow] = deque()
        self.skipped = 0
        self.dropped = 0
        self._characters = 0
        self._folders: dict[str, str | None] = {}

    def read(self, file: LogFile, base: int, older: int, notes: Notes) -> None:
        own = Notes(file.path)
        troubles = Troubles(own)
        try:
            with open_regular(resolve(self.root, file.path)) as stream:
                lines = read_lines(stream, limit=file.bytes, max_line=MAX_ROW)
                wanted = (line for line in lines if base + line.number > older)
                for row in read_rows(wanted, "feedback", troubles):
                    self._add(row, file.path, base, troubles)
        except (OSError, UnsafeError, MalformedError):
            own.warn("artifact.unreadable", "went away while it was read")
        troubles.report()
        notes.take(own.findings)
        self.skipped += sum(count for code, count in troubles.counts.items() if code not in _HARMLESS)

    def _add(self, row: Row, path: str, base: int, troubles: Troubles) -> None:
        made = _feedback_row(row, path, base, self._cwd(row, troubles), troubles)
        if made is None:
            return
        self.rows.append(made)
        self._characters += _size(made)
        while self._characters > MAX_TEXT and len(self.rows) > 1:
            self._characters -= _size(self.rows.popleft())
            self.dropped += 1

    def _cwd(self, row: Row, troubles: Troubles) -> str:
        text = row.record.get("cwd")
        if not isinstance(text, str) or not text:
            return ""
        if text not in self._folders:
            self._folders[text] = relative_path(self.root, clean(text))
        folder = self._folders[text]
        if folder is None:
            detail = "ran in a folder outside this repository, which is left out"
            troubles.count("feedback.foreign_cwd", detail, row.line, row.offset, "info")
        return "" if folder in (None, ".") else folder


def _size(row: FeedbackRow) -> int:
    return (
        200 + len(row.command) * 2 + len(row.stdout_tail) + len(row.stderr_tail) + len(row.agent_note) + len(row.error)
    )


def _command(value: Any) -> tuple[str, tuple[str, ...]]:
    """Return the command as text, and as argv when it was written so; an empty text when there is none."""
    if isinstance(value, str):
        return clean(value), ()
    if isinstance(value, list) and value and all(isinstance(part, str | int | float) for part in value):
        argv = [clean(part) if isinstance(part, str) else str(part) for part in value]
        return command_text(argv), tuple(argv)
    return "", ()


def _exit_code(row: Row, troubles: Troubles) -> int | None:
    name, value = pick(row.record, "exit_code")
    if value is None or (name == "status" and isinstance(value, str)):
        return None
    code = integer(value)
    if code is None or abs(code) >= 1 << 32:
        troubles.count("feedback.bad_exit", "has an exit code that is no whole number", row.line, row.offset)
        return None
    return code


def _feedback_row(row: Row, path: str, base: int, cwd: str, troubles: Troubles) -> FeedbackRow | None:
    record = row.record
    command, argv = _command(record.get("command"))
    if not command.strip():
        troubles.count("feedback.no_command", "names no command", row.line, row.offset)
        return None
    duration = integer(record.get("duration_ms"))
    return FeedbackRow(
        line=base + row.line,
        command=command,
        argv=argv,
        command_id=_plain(record, "command_id"),
        parent_command_id=_plain(record, "parent_command_id"),
        exit_code=_exit_code(row, troubles),
        stdout_tail=_plain(record, "stdout_tail"),
        stderr_tail=_plain(record, "stderr_tail"),
        started_at=milliseconds(pick(record, "started_at")[1]),
        duration_ms=duration if duration is not None and duration >= 0 else None,
        agent_note=_plain(record, "agent_note"),
        error=_plain(record, "error"),
        cwd=cwd,
        task_id=_plain(record, "task_id"),
        session_id=_plain(record, "session_id"),
        path=path,
        edited=max(0, integer(record.get("edited")) or 0),
        worktree=_plain(record, "worktree")[:200],
        branch=_plain(record, "branch")[:200],
        **{name: _digest(record, name) for name in _DIGESTS},
    )


def _digest(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) and _HEX.fullmatch(value) else ""


def _plain(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    return clean(value) if isinstance(value, str) else ""
