"""Points of trajectories, and where their marks are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest

from passdown.data.points.detect import detect
from passdown.data.records import Point, Trajectory
from passdown.data.replay.virtual import replay
from passdown.data.subtasks.graph import subtasks


@pytest.fixture(scope="session")
def points_of() -> Callable[..., tuple[Point, ...]]:
    """Detect with everything that there is to go by."""

    def points(trajectory: Trajectory, **options: int) -> tuple[Point, ...]:
        replayed = replay(trajectory)
        return detect(trajectory, replayed, subtasks(trajectory, replayed), **options)

    return points


@pytest.fixture(scope="session")
def marks_of(points_of: Callable[..., tuple[Point, ...]]) -> Callable[..., dict[str, list[int]]]:
    """Detect, and return detector → the cuts it found."""

    def marks(trajectory: Trajectory, **options: int) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for point in points_of(trajectory, **options):
            for mark in point.marks:
                if point.k not in found[mark.detector]:
                    found[mark.detector].append(point.k)
        return found

    return marks
