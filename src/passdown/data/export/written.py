"""What every exporter is told and what it says when it is done."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from passdown.data.arrow import arrow
from passdown.io.files import write_files

ROWS = 256


class How(NamedTuple):
    """What an exporter is told. `tokenizer` is a `tokenizer.json`, a folder with one, `bytes`, or empty for no tokens.

    `observations` asks for labels on what the environment answered; `most` is the length of a window in tokens;
    `blobs` is the store of files' contents in the working folder.
    """

    tokenizer: str = ""
    observations: bool = False
    most: int | None = None
    blobs: Path | None = None


PLAIN = How()


class Written(NamedTuple):
    """How many samples were written, and how many were not, by reason; how many lost a part of their text."""

    rows: int
    dropped: dict[str, int]
    shortened: int = 0


class Rows:
    """A Parquet file that appears when it is whole, written a row group at a time, and only if it has rows."""

    def __init__(self, path: Path, schema: Any) -> None:
        self.path, self.schema, self.count = path, schema, 0
        self._staged = path.with_name(f".{path.name}.tmp")
        self._waiting: list[dict[str, Any]] = []
        self._writer: Any = None

    def add(self, row: dict[str, Any]) -> None:
        """Write one row."""
        self._waiting.append(row)
        self.count += 1
        if len(self._waiting) == ROWS:
            self._flush()

    def _flush(self) -> None:
        pa = arrow()
        if self._writer is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pa.parquet.ParquetWriter(self._staged, self.schema, compression="zstd")
        self._writer.write_table(pa.Table.from_pylist(self._waiting, schema=self.schema))
        self._waiting = []

    def close(self, *, whole: bool) -> None:
        """Put the file in its place, or remove what there is of it."""
        if whole and self._waiting:
            self._flush()
        if self._writer is not None:
            self._writer.close()
            if whole:
                self._staged.replace(self.path)
            else:
                self._staged.unlink(missing_ok=True)
        elif whole:
            self.path.unlink(missing_ok=True)


@contextlib.contextmanager
def tables(folder: Path, schemas: dict[str, Any]) -> Iterator[dict[str, Rows]]:
    """Open one Parquet file a table in a folder; they appear together, when all are written."""
    made = {name: Rows(folder / f"{name}.parquet", schema) for name, schema in schemas.items()}
    whole = False
    try:
        yield made
        whole = True
    finally:
        for one in made.values():
            one.close(whole=whole)


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Lend a folder that takes the place of `path` when all of it is written, and only if something was."""
    staged = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    try:
        yield staged
        shutil.rmtree(path, ignore_errors=True)
        if any(staged.iterdir()):
            staged.rename(path)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def write_json(path: Path, value: Any) -> None:
    """Write one value as a JSON file, indented, with sorted keys."""
    text = msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_files([(path, text + b"\n")])


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write one JSON Lines file, row by row; it appears when it is whole. Returns how many rows it has."""
    staged = path.with_name(f".{path.name}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    try:
        with staged.open("wb") as stream:
            for row in rows:
                stream.write(msgspec.json.encode(row) + b"\n")
                count += 1
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)
    return count
