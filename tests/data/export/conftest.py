"""A working folder of two scripted runs in a small world, one that solves the task and one that leaves half of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from passdown.data.engine.pipeline import Pipeline, PointsTable, SamplesTable, SourceTable, SplitTable
from passdown.data.engine.steps import STEPS, list_sources, run_steps


@pytest.fixture(scope="session")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every step done, from the runs to the samples."""
    folder = tmp_path_factory.mktemp("worked")
    (folder / "worlds.txt").write_text("durations-a careful\ndurations-a hasty\n")
    pipeline = Pipeline(
        source=[SourceTable(path="worlds.txt", format="worlds")], split=SplitTable(validation=0, test=0),
        points=PointsTable(per_trajectory=3), samples=SamplesTable(self_tails=1.0),
    )  # fmt: skip
    list_sources(pipeline, folder, folder)
    run_steps([step.name for step in STEPS], pipeline, folder)
    return folder
