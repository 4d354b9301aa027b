"""Choose a few of a trajectory's points: spread over kinds, then over the run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from passdown.data.points.detect import PRIORITY
from passdown.data.records import Point

_PREFERRED = frozenset(("edit_burst", "unvalidated_edit", "first_meaningful_modification"))
"""Marks of a mid-state that are better than just being somewhere in the middle."""


def select(points: Sequence[Point], trajectory_id: str, n: int = 4) -> tuple[Point, ...]:
    """Return at most `n` points in order of `k`. The same points and id always give the same choice.

    Kinds take turns; within a kind the point farthest from those already chosen is taken.
    """
    kinds = [kind for kind in PRIORITY if any(point.kind == kind for point in points)]
    if not kinds or n <= 0:
        return ()
    turn = _draw(trajectory_id, -1) % len(kinds)
    left = {kind: sorted((p for p in points if p.kind == kind), key=lambda p: p.k) for kind in kinds}
    chosen: list[Point] = []
    order = kinds[turn:] + kinds[:turn]
    while len(chosen) < n and any(left.values()):
        for kind in order:
            if left[kind] and len(chosen) < n:
                best = max(_preferred(left[kind], kind), key=lambda p: (_apart(p, chosen), _draw(trajectory_id, p.k)))
                left[kind].remove(best)
                chosen.append(best)
    return tuple(sorted(chosen, key=lambda point: point.k))


def _preferred(points: list[Point], kind: str) -> list[Point]:
    if kind != "mid":
        return points
    return [p for p in points if any(mark.detector in _PREFERRED for mark in p.marks)] or points


def _apart(point: Point, chosen: list[Point]) -> int:
    return min((abs(point.k - other.k) for other in chosen), default=0)


def _draw(trajectory_id: str, k: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{trajectory_id}\x1f{k}".encode(), digest_size=8).digest())
