"""Every file of the corpus becomes trajectories or a reject that says why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from passdown.data.records import Reject, Trajectory
from passdown.data.sources.table import read_source


def test_every_file_gives_a_trajectory_or_a_reason(corpus: Path) -> None:
    read: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    for path in sorted(path for path in corpus.rglob("*") if path.is_file()):
        found = list(read_source(path, name=path.name))
        assert found, path
        for item in found:
            if isinstance(item, Reject):
                assert item.reason
                rejected[item.reason] += 1
            else:
                assert isinstance(item, Trajectory)
                assert any(step.role == "agent" for step in item.steps), path
                read[path.relative_to(corpus).parts[0]] += 1
    assert set(rejected) <= {"unreadable", "empty", "part"}
    assert rejected["unreadable"] <= 4  # the index, the read-me, and two that are no session
    assert sum(read.values()) >= 190
    assert len(read) == 17
