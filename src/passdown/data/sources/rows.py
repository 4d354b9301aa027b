"""The rows of a file as JSON bytes: of Parquet, of JSON lines, or of one JSON list; read as they come."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from passdown.data.arrow import arrow
from passdown.data.sources.parts import Part, rows_between
from passdown.errors import FormatError
from passdown.io.files import open_regular
from passdown.io.jsonl import MAX_LINE, open_log, read_file_lines
from passdown.trajectories.document import Row, open_rows

MAGIC = b"PAR1"
HEAD = 1 << 20
_AT_ONCE = 8
_UNREAD = frozenset({"eval_logs", "embedding", "images"})
"""Columns of Parquet files that no reader uses, and that can be large."""


def is_parquet(path: Path) -> bool:
    """Say whether a file begins as Parquet does."""
    with open_regular(path) as stream:
        return stream.read(len(MAGIC)) == MAGIC


def rows_in(path: Path, part: Part | None = None) -> Iterator[Row]:
    """Yield the rows of a file, or of a part of it. A line over 16 MB comes without its data.

    Raises `FormatError` for broken Parquet, `FileNotFoundError` when the file is gone.
    """
    if is_parquet(path):
        yield from _parquet(path, part)
    else:
        yield from open_rows(path, listed=True).rows if part is None else rows_between(path, part)


def parquet_groups(path: Path) -> list[tuple[int, int]]:
    """Return the rows and the bytes (not compressed) of every row group. Raises `FormatError` for broken Parquet."""
    pa = arrow()
    try:
        with open_regular(path) as stream, pa.parquet.ParquetFile(stream) as file:
            groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
            return [(group.num_rows, group.total_byte_size) for group in groups]
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: Exception) -> FormatError:
    return FormatError(f"this Parquet file cannot be read: {type(error).__name__}", where=path.name)


def _parquet(path: Path, part: Part | None = None) -> Iterator[Row]:
    pa = arrow()
    number = part.rows if part is not None else 0
    try:
        with open_regular(path) as stream, pa.parquet.ParquetFile(stream) as file:
            names = [name for name in file.schema_arrow.names if name not in _UNREAD]
            groups = range(part.begin, part.end) if part is not None else range(file.num_row_groups)
            batches = (
                batch
                for group in groups  # one at a time: Arrow fetches all that it is asked for at once
                for batch in file.iter_batches(batch_size=_AT_ONCE, columns=names, row_groups=[group])
            )
            for batch in batches:
                for record in batch.to_pylist():
                    number += 1
                    data = msgspec.json.encode(record, enc_hook=_plain)
                    yield Row(data if len(data) <= MAX_LINE else None, "", 0, number, len(data))
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from error


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    return str(value)


def head_of(path: Path) -> bytes:
    """Return what a file's columns are to be recognised by: its first row where it has rows, else its first bytes."""
    if is_parquet(path):
        return next((row.data or b"" for row in _parquet(path)), b"")
    with open_log(path) as stream:
        head = stream.read(HEAD)
    if b"\n" not in head and len(head) == HEAD:
        first = next(read_file_lines(path), None)
        return first.data or head if first is not None else head
    return head
