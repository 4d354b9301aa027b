"""Views of real sessions: none depends on what came after the cut, and none holds what it may not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from passdown.data.prefix import cut
from passdown.data.records import Provenance, Trajectory, View
from passdown.data.trajectory import assemble
from passdown.data.views.gates import gate, tail_dependence
from passdown.data.views.table import views_at
from passdown.errors import PassdownError
from passdown.sessions.read import read_session

LARGEST = 300_000
"""Bytes of the files that are read: the larger ones take longer than a test may."""

FOLDERS = (
    "atif", "claude-code", "codex", "copilot-cli", "droid", "gemini", "kimi", "mini-swe-agent", "openai-chat",
    "opencode", "openhands", "pi", "qwen", "swe-agent",
)  # fmt: skip


def trajectories(folder: Path) -> list[Trajectory]:
    """Return the trajectories of a folder's small files that have something to cut."""
    made = []
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".jsonl", ".json", ".traj") or not 0 < path.stat().st_size <= LARGEST:
            continue
        try:
            trajectory = assemble(read_session(path), Provenance(source=folder.name))
        except PassdownError:
            continue
        if len(trajectory.steps) > 1:
            made.append(trajectory)
    return made


def build(trajectory: Trajectory, k: int) -> Sequence[View]:
    """Build all views of a cut beside those of an earlier one."""
    return list(views_at(trajectory, [max(1, k // 2), k]))[1]


@pytest.mark.parametrize("name", FOLDERS)
def test_views_of_real_sessions(corpus: Path, name: str) -> None:
    found = trajectories(corpus / name)
    assert found or name == "openhands"
    for trajectory in found:
        k = max(1, 2 * len(trajectory.steps) // 3)
        assert tail_dependence(build, trajectory, k) == (), trajectory.trajectory_id
        prefix = cut(trajectory, k)
        for view in build(trajectory, k):
            assert gate(view, prefix, trajectory) == (), (trajectory.trajectory_id, view.name)
