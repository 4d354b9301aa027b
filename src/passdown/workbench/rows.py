"""JSON Lines artifacts: every row that can be read, and one finding for each kind of line that cannot."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from passdown.io.jsonl import Line, read_lines, salvage
from passdown.model.finding import Severity
from passdown.workbench.document import Notes

MAX_ROW = 1 << 20
"""Longest row that is read, in bytes; the logs themselves rotate at that size."""

_BLANK = b" \t\r\n\x00"
_DECODER = msgspec.json.Decoder()


class Row(Struct, frozen=True):
    """One row: 1-based `line` in its file, byte `offset`, and the object."""

    line: int
    offset: int
    record: dict[str, Any]


class Troubles:
    """Counts what is wrong with the lines of one file, by finding code, and where each kind came first."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.counts: dict[str, int] = {}
        self._first: dict[str, tuple[Severity, str, int, int]] = {}

    def count(self, code: str, detail: str, line: int, offset: int, severity: Severity = "warn") -> None:
        """Count one line under `code`."""
        self.counts[code] = self.counts.get(code, 0) + 1
        self._first.setdefault(code, (severity, detail, line, offset))

    def report(self) -> None:
        """Turn the counts into one finding each."""
        for code, (severity, detail, line, offset) in self._first.items():
            times = self.counts[code]
            where = f"line {line}" if times == 1 else f"{times} lines, first line {line}"
            self.notes.add(severity, code, f"{detail} ({where})", offset=offset)


def _decode(line: Line, data: bytes, prefix: str, troubles: Troubles) -> list[Any]:
    try:
        return [_DECODER.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    values: list[Any] = []
    for document in salvage(data):
        try:
            values.append(_DECODER.decode(document))
        except (msgspec.DecodeError, RecursionError):
            continue
    if values:
        troubles.count(f"{prefix}.repaired_line", "was repaired or held several rows", line.number, line.offset, "info")
    elif line.complete:
        troubles.count(f"{prefix}.bad_line", "is not JSON", line.number, line.offset)
    else:
        troubles.count(f"{prefix}.torn_line", "the last line is torn", line.number, line.offset)
    return values


def read_rows(lines: Iterable[Line], prefix: str, troubles: Troubles) -> Iterator[Row]:
    """Yield the objects of JSON Lines; blank lines are passed over, unreadable ones counted under `prefix`."""
    for line in lines:
        if line.data is None:
            detail = f"is longer than {MAX_ROW} bytes"
            troubles.count(f"{prefix}.line_too_long", detail, line.number, line.offset)
            continue
        data = line.data.strip(_BLANK)
        if not data:
            continue
        for value in _decode(line, data, prefix, troubles):
            if isinstance(value, dict):
                yield Row(line.number, line.offset, value)
            else:
                troubles.count(f"{prefix}.bad_row", "is no object", line.number, line.offset)


def rows_of(data: bytes, prefix: str, notes: Notes) -> list[Row]:
    """Return the rows of a whole JSON Lines file, reporting what could not be read."""
    troubles = Troubles(notes)
    lines = read_lines(io.BytesIO(data), max_line=MAX_ROW)
    rows = list(read_rows(lines, prefix, troubles))
    troubles.report()
    return rows
