"""The one step that has to see the whole set: which trajectories are copies or near-duplicates of others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from passdown.data.engine.pipeline import FilterTable
from passdown.data.engine.shards import Row, read_batches, shards_in
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.engine.stages import trajectory_in
from passdown.data.filters.result import dropped, key_of, rank_of
from passdown.data.records import Reject, Trajectory
from passdown.io.files import write_files

Gone = dict[str, tuple[str, str]]
"""The key of a dropped trajectory → the reason, and the key of the one that is kept instead."""


def decide(source: Path, out: Path, settings: FilterTable) -> Path:
    """Write which trajectories of a folder's shards are dropped as copies to the file `out`, and return it.

    Holds some 600 bytes for each trajectory, never the trajectories themselves. Which one of several is kept depends
    on the set alone.
    """
    from passdown.data.filters.minhash import Entry, entry, near_duplicates

    best: dict[str, tuple[tuple[object, ...], str]] = {}
    entries: dict[str, Entry] = {}
    gone: Gone = {}
    for trajectory in _trajectories(source):
        rank, key = rank_of(trajectory), key_of(trajectory)
        other = best.get(trajectory.content_hash)
        if other is not None and other[0] <= rank:
            gone[key] = ("duplicate", other[1])
            continue
        if other is not None:
            gone[other[1]] = ("duplicate", key)
            del entries[other[1]]
        best[trajectory.content_hash] = (rank, key)
        entries[key] = entry(trajectory)
    near = near_duplicates(entries.values(), settings.near_duplicates)
    gone.update((key, ("near_duplicate", kept)) for key, kept in near.items())
    write_files([(out, msgspec.json.encode(dict(sorted(gone.items()))))])
    return out


def _trajectories(folder: Path) -> Iterator[Trajectory]:
    for path in shards_in(folder):
        for batch in read_batches(path):
            yield from map(trajectory_in, batch)


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
            trajectory = trajectory_in(row)
            found = gone.get(key_of(trajectory))
            if found is None:
                yield row
            else:
                reason, kept = found
                yield dropped("decide", trajectory, reason, kept.replace("\x1f", " "))

    return work
