"""Shards: Parquet files of rows, written whole or not at all, read in bounded batches."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from passdown.data.arrow import arrow
from passdown.errors import FormatError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 64
BATCH_BYTES = 1 << 19
GROUP_ROWS = 256
GROUP_BYTES = 1 << 20
_PAGE_BYTES = 256 << 10
"""Of a page of a column, about. With Arrow's own settings a row group is one page, which a reader has to hold whole,
and larger buffers leave larger holes in a process's memory."""
PIECE_BYTES = 128 << 20
"""Of the records of a shard, about: what was read as one large file is written as several, for as many processes."""
REJECTS = "rejects"
"""The folder, beside a step's shards, of the rows that it dropped."""

_MADE_BY = {
    "files": "ingest", "read": "ingest", "quality": "ingest", "signed": "ingest", "trajectories": "ingest",
    "points": "points", "views": "views", "perturbed": "perturb", "samples": "build",
}  # fmt: skip
"""The command that leaves each folder of a working folder."""

COLUMNS = ("id", "trajectory_id", "repo", "source", "licence", "split", "kind")


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of a shard: the columns that filters and joins need, and the record itself as msgspec's JSON.

    `kind` says what the record is, or of which sort it is: a row of samples has `sft`, `rl` and so on.
    """

    id: str
    trajectory_id: str = ""
    repo: str = ""
    source: str = ""
    licence: str = ""
    split: str = ""
    kind: str = ""
    record: bytes = b""


def schema() -> pa.Schema:
    """Return the Arrow schema of every shard."""
    pa = arrow()
    return pa.schema([*((name, pa.string()) for name in COLUMNS), ("record", pa.large_binary())])


class ShardWriter:
    """Write rows to one Parquet file (zstd). The file appears under its name only when all of it is on the disk.

    Nobody else may read it: secrets are masked in it, but a trajectory is private for other reasons as well.
    """

    def __init__(self, path: Path) -> None:
        pa = arrow()
        self.path = path
        self.rows = 0
        self.kinds: Counter[str] = Counter()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._staged = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        os.close(os.open(self._staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600))
        self._schema = schema()
        self._file = pa.parquet.ParquetWriter(
            self._staged, self._schema, compression="zstd", use_dictionary=list(COLUMNS), write_statistics=False,
            data_page_size=_PAGE_BYTES, write_batch_size=1,
        )  # fmt: skip
        self._waiting: list[Row] = []
        self._bytes = 0

    def write(self, row: Row) -> None:
        """Take a row; rows go to the disk a row group at a time."""
        self.kinds[row.kind] += 1
        self._waiting.append(row)
        self._bytes += len(row.record)
        if len(self._waiting) >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        self._file.write_table(table_of(self._waiting), row_group_size=GROUP_ROWS)
        self.rows += len(self._waiting)
        self._waiting, self._bytes = [], 0

    def close(self) -> None:
        """Finish the file and give it its name."""
        self.finish()
        self.publish()

    def finish(self) -> None:
        """Bring all of the file to the disk. It has no name yet."""
        self._flush()
        self._file.close()
        with self._staged.open("rb+") as stream:
            os.fsync(stream.fileno())

    def publish(self) -> None:
        """Give the finished file its name."""
        self._staged.replace(self.path)

    def abandon(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(OSError):
            self._file.close()
        self._staged.unlink(missing_ok=True)


def written(path: Path) -> contextlib.AbstractContextManager[ShardWriter]:
    """Give a writer that is closed in the end, or abandoned when the block raises."""
    return _ended(ShardWriter(path))


def pieces(target: Path, most: int) -> contextlib.AbstractContextManager[Pieces]:
    """Give a writer of one shard or several that is closed in the end, or abandoned when the block raises."""
    return _ended(Pieces(target, most))


@contextlib.contextmanager
def _ended(writer: _Writer) -> Iterator[_Writer]:
    try:
        yield writer
    except BaseException:
        writer.abandon()
        raise
    writer.close()


class Pieces:
    """Write rows to shards one after the other, a new one where the records of the last have `most` bytes.

    Most inputs make one, of the name that was given. None appears before all are on the disk.
    """

    def __init__(self, target: Path, most: int) -> None:
        self.made = [ShardWriter(target)]
        self._target, self._most = target, most
        self._bytes = 0

    def write(self, row: Row) -> None:
        """Take a row."""
        if self._bytes >= self._most:
            self.made[-1].finish()
            self.made.append(ShardWriter(piece_of(self._target, len(self.made))))
            self._bytes = 0
        self.made[-1].write(row)
        self._bytes += len(row.record)

    def close(self) -> None:
        """Finish the shards and give them their names."""
        self.made[-1].finish()
        if len(self.made) > 1:
            self.made[0].path = piece_of(self._target, 0)
        for writer in self.made:
            writer.publish()

    def abandon(self) -> None:
        """Leave nothing behind."""
        for writer in self.made:
            writer.abandon()


_Writer = TypeVar("_Writer", ShardWriter, Pieces)


def piece_of(target: Path, number: int) -> Path:
    """Return the name of a piece of a shard that became several."""
    return target.with_name(f"{target.stem}_{number:03}{target.suffix}")


def table_of(rows: list[Row]) -> pa.Table:
    """Return rows as an Arrow table."""
    columns = [[getattr(row, name) for row in rows] for name in COLUMNS]
    return arrow().Table.from_arrays(
        [arrow().array(values, type=kind.type) for values, kind in zip(columns, schema(), strict=False)]
        + [arrow().array([row.record for row in rows], type=schema().field("record").type)],
        schema=schema(),
    )


def rows_of(table: pa.Table) -> list[Row]:
    """Return an Arrow table's rows."""
    columns = [table.column(name).to_pylist() for name in (*COLUMNS, "record")]
    return [Row(**dict(zip((*COLUMNS, "record"), values, strict=True))) for values in zip(*columns, strict=True)]


def read_batches(path: Path, rows: int = BATCH_ROWS, size: int = BATCH_BYTES) -> Iterator[list[Row]]:
    """Yield a shard's rows in order, at most `rows` rows or about `size` bytes of records at once.

    Raises `FormatError` for a file that is no shard.
    """
    with _as_shard(path):
        batch: list[Row] = []
        held = 0
        for row in _rows(path, rows, size):
            if batch and (len(batch) >= rows or held + len(row.record) > size):
                yield batch
                batch, held = [], 0
            batch.append(row)
            held += len(row.record)
        if batch:
            yield batch


def _rows(path: Path, rows: int, size: int) -> Iterator[Row]:
    """Yield a shard's rows. One row group is asked for at a time: Arrow fetches all that it is asked for at once."""
    with arrow().parquet.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            each = max(1, min(rows, size * group.num_rows // (group.total_byte_size + 1)))
            for piece in file.iter_batches(batch_size=each, row_groups=[number], use_threads=False):
                yield from rows_of(piece)


def row_count(path: Path) -> int:
    """Return how many rows a shard has. Raises `FormatError` for what is no shard."""
    with _as_shard(path):
        return int(arrow().parquet.read_metadata(path).num_rows)


def column_values(path: Path, name: str) -> list[str]:
    """Return what stands in one of a shard's columns, each once, sorted. Raises `FormatError` for what is no shard."""
    with _as_shard(path):
        return sorted(set(arrow().parquet.read_table(path, columns=[name]).column(name).to_pylist()))


@contextlib.contextmanager
def _as_shard(path: Path) -> Iterator[None]:
    try:
        yield
    except (arrow().ArrowInvalid, KeyError, TypeError) as error:
        raise FormatError(
            f"this is no shard of passdown: {error}", where=path.name, next_step="Build the folder again."
        ) from error


def made_by(folder: str) -> str:
    """Return the command of `passdown data` that leaves a folder, empty for one that none does."""
    return _MADE_BY.get(folder, "")


def shards_in(folder: Path) -> list[Path]:
    """Return a folder's shards in order. Raises `UsageError` when it holds none."""
    found = sorted(folder.glob("part-*.parquet"))
    if not found:
        command = made_by(folder.name)
        before = f"`passdown data {command}`" if command else "what makes them"
        raise UsageError("no shards here", where=folder.name, next_step=f"Run {before} first.")
    return found


def set_hash(folders: Iterable[Path]) -> str:
    """Return a hash of the set of rows: the same in whatever order and whichever shards they lie."""
    total, count = 0, 0
    for folder in folders:
        for path in sorted(folder.glob("part-*.parquet")):
            for batch in read_batches(path):
                for row in batch:
                    digest = hashlib.sha256("\x1f".join(getattr(row, name) for name in COLUMNS).encode())
                    digest.update(b"\x1e" + row.record)
                    total = (total + int.from_bytes(digest.digest(), "big")) % (1 << 256)
                    count += 1
    return f"{count}-{total:064x}"


def sweep(folder: Path, wanted: set[str]) -> None:
    """Remove shards that belong to no input any more, and what killed writers staged. Only for who holds the lock."""
    for path in [*folder.glob("part-*.parquet"), *(folder / REJECTS).glob("part-*.parquet")]:
        if path.name not in wanted:
            path.unlink()
    for leftover in [*folder.glob(".part-*.tmp"), *(folder / REJECTS).glob(".part-*.tmp")]:
        leftover.unlink(missing_ok=True)
