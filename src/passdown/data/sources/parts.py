"""Parts of a large file of rows, each of which can be read by itself: byte ranges of lines, row groups of Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from passdown.io.files import open_regular
from passdown.io.jsonl import open_log, read_file_lines, read_lines, size_of
from passdown.trajectories.document import Row, is_blank, is_lines, row_of


class Part(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From `begin` to before `end`: bytes of a file of lines, or row groups of Parquet.

    `rows` and `lines` lie before it.
    """

    begin: int
    end: int
    rows: int = 0
    lines: int = 0


def parts_of(path: Path, size: int) -> list[Part]:
    """Return the parts of about `size` bytes that a file of rows falls into; empty where it can only be read whole.

    Reads the whole of a file of lines once, to count its rows.
    """
    from passdown.data.sources.rows import is_parquet

    if is_parquet(path):
        return list(_groups(path, size))
    with open_log(path) as stream:
        plain = size_of(stream) is not None
    return list(_ranges(path, size)) if plain and is_lines(path) else []


def _ranges(path: Path, size: int) -> Iterator[Part]:
    part, rows = Part(begin=0, end=0), 0
    for line in read_file_lines(path):
        if line.offset - part.begin >= size:
            yield part
            part = Part(begin=line.offset, end=line.offset, rows=rows, lines=line.number - 1)
        rows += line.data is None or not is_blank(line.data)
        part = replace(part, end=line.offset + line.length + line.complete)
    yield part


def _groups(path: Path, size: int) -> Iterator[Part]:
    from passdown.data.sources.rows import parquet_groups

    part, rows, held = Part(begin=0, end=0), 0, 0
    for number, (count, length) in enumerate(parquet_groups(path)):
        if held and held + length > size:
            yield part
            part, held = Part(begin=number, end=number, rows=rows), 0
        rows, held = rows + count, held + length
        part = replace(part, end=number + 1)
    yield part


def rows_between(path: Path, part: Part) -> Iterator[Row]:
    """Yield the rows of one part of a file of lines, as they are when the whole of it is read."""
    with open_regular(path) as stream:
        stream.seek(part.begin)
        for line in read_lines(stream, limit=part.end - part.begin):
            row = row_of(line)
            if row is not None:
                yield row._replace(offset=row.offset + part.begin, line=row.line + part.lines)
