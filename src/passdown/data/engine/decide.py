"""The one step that has to see the whole set: which trajectories are copies or near-duplicates of others.

What they are compared by is made before, shard by shard, so that here nothing but that is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from passdown.data.engine.decisions import open_decisions, write_decisions
from passdown.data.engine.pipeline import FilterTable
from passdown.data.engine.shards import Row, read_batches, row_count, shards_in
from passdown.data.engine.shared import shared_rows
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.engine.stages import trajectory_in
from passdown.data.filters.minhash import Entry, band_hashes, entry
from passdown.data.filters.result import dropped, key_of
from passdown.data.filters.shingles import np, npt
from passdown.data.records import Provenance, Reject


class Signed(Struct, frozen=True, kw_only=True):
    """What is known of a trajectory to find its copies and near-duplicates."""

    content_hash: str
    entry: Entry


class _Named(Struct, frozen=True):
    """Of a trajectory only what it is called by: the rest is passed over unread."""

    trajectory_id: str
    provenance: Provenance


_AT_ONCE = 1024
_NAMED = msgspec.json.Decoder(_Named)
_SIGNED = msgspec.json.Decoder(Signed)


def signing_stage() -> Stage:
    """Return the stage that makes of each trajectory what it is compared by."""
    return Stage(name="sign", maker="passdown.data.engine.decide:signing")


def signing() -> Work:
    """Make the work of `sign`."""

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            trajectory = trajectory_in(row)
            signed = Signed(content_hash=trajectory.content_hash, entry=entry(trajectory))
            yield Row(
                id=row.id, trajectory_id=row.trajectory_id, repo=row.repo, source=row.source, kind="signature",
                record=msgspec.json.encode(signed),
            )  # fmt: skip

    return work


def decide(signed: Path, out: Path, settings: FilterTable) -> Path:
    """Write which trajectories are dropped as copies to the file `out`, and return it. `signed` is what `sign` wrote.

    Holds a byte for each trajectory; what may be copies waits on the disk. Which one of several is kept depends on the
    set alone.
    """
    count = sum(row_count(path) for path in shards_in(signed))
    maybe = shared_rows(_hashes(signed), count, out.parent)
    chosen = (_SIGNED.decode(row.record) for row, is_one in zip(_signed(signed), maybe, strict=True) if is_one)
    write_decisions(out, ((found.content_hash, found.entry) for found in chosen), settings.near_duplicates)
    return out


def _hashes(folder: Path) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield for some trajectories at a time the hash of each one's content, and those of its bands."""
    signed = _signed(folder)
    while batch := [_SIGNED.decode(row.record) for row in islice(signed, _AT_ONCE)]:
        contents = np.frombuffer(b"".join(map(_content, batch)), np.uint32).reshape(-1, 1) | np.uint32(1)
        yield np.concatenate([contents, band_hashes([found.entry for found in batch])], axis=1)


def _content(found: Signed) -> bytes:
    return hashlib.blake2b(found.content_hash.encode(), digest_size=4).digest()


def _signed(folder: Path) -> Iterator[Row]:
    for path in shards_in(folder):
        for batch in read_batches(path):
            yield from batch


def deciding_stage(decisions: Path) -> Stage:
    """Return the stage that drops what was decided."""
    with open_decisions(decisions) as gone:
        mark = gone.mark()
    return Stage(
        name="decide", maker="passdown.data.engine.decide:deciding", parameters={"mark": mark},
        places={"decisions": str(decisions)},
    )  # fmt: skip


def deciding(mark: str, decisions: str) -> Work:
    """Make the work of `decide`."""
    del mark

    def work(batch: Batch) -> Iterator[Row | Reject]:
        with open_decisions(Path(decisions)) as gone:
            for row in batch:
                found = gone.of(key_of(_NAMED.decode(row.record)))
                if found is None:
                    yield row
                else:
                    reason, kept = found
                    yield dropped("decide", trajectory_in(row), reason, kept.replace("\x1f", " "))

    return work
