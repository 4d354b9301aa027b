"""The one step that has to see the whole set: which trajectories are copies or near-duplicates of others.

What they are compared by is made before, shard by shard, so that here nothing but that is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from passdown.data.engine.pipeline import FilterTable
from passdown.data.engine.shards import Row, read_batches, row_count, shards_in
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.engine.stages import trajectory_in
from passdown.data.filters.minhash import BANDS, Entry, band_hashes, entry, near_duplicates
from passdown.data.filters.result import dropped, key_of
from passdown.data.filters.shingles import np, npt
from passdown.data.records import Provenance, Reject
from passdown.io.files import write_files

Gone = dict[str, tuple[str, str]]
"""The key of a dropped trajectory → the reason, and the key of the one that is kept instead."""


class Signed(Struct, frozen=True, kw_only=True):
    """What is known of a trajectory to find its copies and near-duplicates."""

    content_hash: str
    entry: Entry


class _Named(Struct, frozen=True):
    """Of a trajectory only what it is called by: the rest is passed over unread."""

    trajectory_id: str
    provenance: Provenance


_AT_ONCE = 256
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

    Holds 144 bytes for each trajectory, and a kilobyte for each that may be a copy. Which one of several is kept
    depends on the set alone.
    """
    best: dict[str, Entry] = {}
    gone: Gone = {}
    maybe = _may_be_copies(signed)
    for found in (found for found, chosen in zip(_signed(signed), maybe, strict=True) if chosen):
        other = best.get(found.content_hash)
        if other is not None and other.rank <= found.entry.rank:
            gone[found.entry.key] = ("duplicate", other.key)
            continue
        if other is not None:
            gone[other.key] = ("duplicate", found.entry.key)
        best[found.content_hash] = found.entry
    near = near_duplicates(best.values(), settings.near_duplicates)
    gone.update((key, ("near_duplicate", kept)) for key, kept in near.items())
    write_files([(out, msgspec.json.encode(dict(sorted(gone.items()))))])
    return out


def _may_be_copies(folder: Path) -> npt.NDArray[np.bool_]:
    """Say of each trajectory whether another one has its content, or a hash of a band in common with it."""
    count = sum(row_count(path) for path in shards_in(folder))
    contents, bands = np.zeros((count, 2), np.uint64), np.zeros((count, BANDS), np.uint32)
    signed, at = _signed(folder), 0
    while batch := list(islice(signed, _AT_ONCE)):
        end = at + len(batch)
        contents[at:end] = np.frombuffer(b"".join(map(_content, batch)), np.uint64).reshape(-1, 2)
        bands[at:end] = band_hashes([found.entry for found in batch])
        at = end
    found = _shared(contents.view("V16").ravel())
    for column in bands.T:
        found |= _shared(column) & (column != 0)
    return found


def _content(found: Signed) -> bytes:
    return hashlib.blake2b(found.content_hash.encode(), digest_size=16).digest()


def _shared(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say of each value whether it stands there more than once."""
    order = np.argsort(values, kind="stable")
    same = values[order[1:]] == values[order[:-1]]
    found: npt.NDArray[np.bool_] = np.zeros(len(values), np.bool_)
    found[order[1:]] = same
    found[order[:-1]] |= same
    return found


def _signed(folder: Path) -> Iterator[Signed]:
    for path in shards_in(folder):
        for batch in read_batches(path):
            for row in batch:
                yield _SIGNED.decode(row.record)


def deciding_stage(decisions: Path) -> Stage:
    """Return the stage that drops what was decided."""
    mark = hashlib.sha256(decisions.read_bytes()).hexdigest()
    return Stage(
        name="decide", maker="passdown.data.engine.decide:deciding", parameters={"mark": mark},
        places={"decisions": str(decisions)},
    )  # fmt: skip


def deciding(mark: str, decisions: str) -> Work:
    """Make the work of `decide`."""
    del mark
    gone = msgspec.json.decode(Path(decisions).read_bytes(), type=Gone)

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            found = gone.get(key_of(_NAMED.decode(row.record)))
            if found is None:
                yield row
            else:
                reason, kept = found
                yield dropped("decide", trajectory_in(row), reason, kept.replace("\x1f", " "))

    return work
