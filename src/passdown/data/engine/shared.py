"""Which rows of a large set have a hash in common: sorted on the disk, so that memory does not grow with the set."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, NamedTuple

from passdown.data.filters.shingles import np, npt

PART_ROWS = 1 << 19
"""Rows of one column that are compared at once, about: 4 MB of keys."""
_HASH = np.uint64(32)
"""A key is a hash and below it, in so many bits, the number of its row."""
_ROW = np.uint64((1 << 32) - 1)


class _Run(NamedTuple):
    """A block on the disk, each column sorted: where it begins, how many rows, where the parts of each column begin."""

    begin: int
    rows: int
    edges: npt.NDArray[np.int64]


def shared_rows(
    blocks: Iterable[npt.NDArray[np.uint32]], count: int, folder: Path, part_rows: int = PART_ROWS
) -> npt.NDArray[np.bool_]:
    """Say of each of `count` rows whether another one has the same hash in the same column; a hash of 0 is none.

    `blocks` are some rows each, in order. In `folder` a file without a name takes 8 bytes for each hash meanwhile.
    """
    parts = -(-count // part_rows) or 1
    bounds = np.array([max(1, (part << 32) // parts) << 32 for part in range(parts)], np.uint64)
    found: npt.NDArray[np.bool_] = np.zeros(count, np.bool_)
    with tempfile.TemporaryFile(dir=folder) as store:
        runs, at, columns = [], 0, 0
        for block in blocks:
            columns = block.shape[1]
            keys = (block.T.astype(np.uint64) << _HASH) | np.arange(at, at + len(block), dtype=np.uint64)
            keys.sort(axis=1)
            edges = np.array([[*np.searchsorted(column, bounds), len(block)] for column in keys], np.int64)
            runs.append(_Run(store.tell(), len(block), edges))
            store.write(keys.tobytes())
            at += len(block)
        for column in range(columns):
            for part in range(parts):
                _mark(found, np.concatenate([_read(store, run, column, part) for run in runs]))
    return found


def _read(store: IO[bytes], run: _Run, column: int, part: int) -> npt.NDArray[np.uint64]:
    first, last = run.edges[column, part : part + 2].tolist()
    store.seek(run.begin + 8 * (column * run.rows + first))
    return np.frombuffer(store.read(8 * (last - first)), np.uint64)


def _mark(found: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> None:
    """Mark the rows of those keys that have their hash in common."""
    keys.sort()
    same = np.flatnonzero((keys[1:] >> _HASH) == (keys[:-1] >> _HASH))
    found[keys[same] & _ROW] = True
    found[keys[same + 1] & _ROW] = True
