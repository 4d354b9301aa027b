"""Views of real runs: none depends on what came after the cut, and none holds what it may not.

A test run cuts every trajectory in a file that is not large once. `PASSDOWN_WHOLE_CORPUS=1` takes every trajectory of every
file and cuts each in up to six places: three minutes of work.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from passdown.data.prefix import cut
from passdown.data.records import Trajectory, View
from passdown.data.sources.table import read_source
from passdown.data.views.gates import gate, tail_dependence
from passdown.data.views.table import views_at

WHOLE = os.environ.get("PASSDOWN_WHOLE_CORPUS") == "1"
LARGEST = 1 << 40 if WHOLE else 400_000
"""Bytes of the files that are read: the larger ones take longer than a test may."""

FOLDERS = (
    "aider", "atif", "claude-code", "codex", "copilot-cli", "cursor", "droid", "gemini", "kimi", "mini-swe-agent",
    "openai-chat", "opencode", "openhands", "pi", "qwen", "swe-agent", "swe-smith",
)  # fmt: skip


def trajectories(folder: Path) -> Iterator[Trajectory]:
    """Yield the trajectories of a folder's files that have something to cut."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and 0 < path.stat().st_size <= LARGEST:
            for made in read_source(path, name=path.name):
                if isinstance(made, Trajectory) and len(made.steps) > 1:
                    yield made


def places(steps: int) -> list[int]:
    """Return where to cut a run of so many steps."""
    if not WHOLE:
        return [max(1, 2 * steps // 3)]
    return sorted({1, steps - 1, *(max(1, steps * part // 5) for part in range(1, 5))})


def build(trajectory: Trajectory, k: int) -> Sequence[View]:
    """Build all views of a cut beside those of an earlier one."""
    return list(views_at(trajectory, [max(1, k // 2), k]))[1]


def test_every_folder_of_the_corpus_is_read(corpus: Path) -> None:
    assert {path.name for path in corpus.iterdir() if path.is_dir()} == set(FOLDERS)


@pytest.mark.timeout(3_000 if WHOLE else 120)
@pytest.mark.parametrize("name", FOLDERS)
def test_views_of_real_runs(corpus: Path, name: str) -> None:
    seen = 0
    for trajectory in trajectories(corpus / name):
        for k in places(len(trajectory.steps)):
            seen += 1
            assert tail_dependence(build, trajectory, k) == (), (trajectory.trajectory_id, k)
            prefix = cut(trajectory, k)
            for view in build(trajectory, k):
                assert gate(view, prefix, trajectory) == (), (trajectory.trajectory_id, k, view.name)
    assert seen or name == "aider", "its one file is large"
