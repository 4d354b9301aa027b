"""Exact copies: the same content hash, whatever file or set they stand in."""

from __future__ import annotations

from collections.abc import Iterable

from passdown.data.filters.result import Filtered, dropped, key_of, rank_of
from passdown.data.records import Trajectory

STAGE = "exact"


def unique(trajectories: Iterable[Trajectory]) -> Filtered:
    """Yield one trajectory of each content, the best described one, and a reject for every copy.

    Which one is kept depends on the set alone, not on its order. Holds the whole of what it is given.
    """
    held = list(trajectories)
    best: dict[str, Trajectory] = {}
    for trajectory in held:
        other = best.get(trajectory.content_hash)
        if other is None or rank_of(trajectory) < rank_of(other):
            best[trajectory.content_hash] = trajectory
    for trajectory in held:
        kept = best[trajectory.content_hash]
        if kept is trajectory:
            yield trajectory
        else:
            yield dropped(STAGE, trajectory, "duplicate", key_of(kept).replace("\x1f", " "))
