"""What leaves: no gate against leaks fires on a prompt that is exported, and no repository stands on two sides."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from passdown.data.engine.outputs import export
from passdown.data.engine.pipeline import PerturbTable, Pipeline, PointsTable, SamplesTable, SourceTable, SplitTable
from passdown.data.engine.shards import read_batches, shards_in
from passdown.data.engine.stages import cuts_in
from passdown.data.engine.steps import STEPS, list_sources, run_steps
from passdown.data.prefix import cut
from passdown.data.records import View
from passdown.data.samples.render import Rendered, render
from passdown.data.views.gates import gate
from passdown.data.views.leaks import added_lines

LEAKS = frozenset(("view.future_code", "view.hidden_test", "view.reveals_cut", "view.secret"))


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs in four repositories, on more than one side, with operators applied."""
    folder = tmp_path_factory.mktemp("several")
    (folder / "worlds.txt").write_text("durations-a careful\ncaches-a half_done\nroutes-a hasty\nlimits-a half_done\n")
    pipeline = Pipeline(
        source=[SourceTable(path="worlds.txt", format="worlds")], split=SplitTable(seed=3, validation=0.3, test=0.3),
        points=PointsTable(per_trajectory=2), perturb=PerturbTable(per_cut=2), samples=SamplesTable(self_tails=1.0),
        seed=3,
    )  # fmt: skip
    list_sources(pipeline, folder, folder)
    run_steps([step.name for step in STEPS], pipeline, folder)
    return folder


def samples_in(folder: Path) -> list[Rendered]:
    rows = (row for shard in shards_in(folder / "samples") for batch in read_batches(shard) for row in batch)
    return [made for row in rows for made in render(cuts_in(row)) if isinstance(made, Rendered)]


def leaks(sample: Rendered, more: str = "") -> set[str]:
    """Return the gates that fire on everything that a successor is given."""
    given = "\n".join([*(message.content for message in sample.prompt), more])
    view = View(name=sample.view.name, trajectory_id=sample.trajectory.trajectory_id, k=sample.sample.k, text=given)
    found = gate(view, cut(sample.trajectory, sample.sample.k), sample.trajectory)
    return {finding.code for finding in found} & LEAKS


def test_no_leak_gate_fires_on_what_is_exported(several: Path) -> None:
    every = [sample for sample in samples_in(several) if sample.cut is not None]
    assert {bool(sample.sample.ops) for sample in every} == {True, False}
    assert {sample.view.name for sample in every} == {"repo", "trace", "summary", "structured"}
    for sample in every:
        assert leaks(sample) == set(), (sample.sample.sample_id, sample.sample.ops)


def test_a_leak_would_be_seen(several: Path) -> None:
    found = [sample for sample in samples_in(several) if sample.cut is not None and sample.trajectory.outcome.patch]
    seen = set()
    for sample in found:
        ahead = max(added_lines(sample.trajectory, sample.sample.k), key=len, default="")
        seen |= leaks(sample, f"{ahead}\n{sample.trajectory.outcome.fail_to_pass[0]}")
    assert seen == {"view.future_code", "view.hidden_test"}


def test_every_repository_is_on_one_side_of_the_export(several: Path, tmp_path: Path) -> None:
    export(several, "parquet", tmp_path / "out")
    sides: dict[str, set[str]] = defaultdict(set)
    named: dict[str, set[str]] = defaultdict(set)
    for path in (tmp_path / "out").rglob("*.parquet"):
        for row in pq.read_table(path, columns=["repo", "split", "trajectory_id"]).to_pylist():
            sides[row["repo"]].add(row["split"])
            named[row["split"]].add(row["repo"])
    assert len(sides) == 4
    assert all(len(found) == 1 for found in sides.values()), sides
    assert len(named) > 1, "all on one side shows nothing"
    for shard in shards_in(several / "samples"):
        for batch in read_batches(shard):
            for row in batch:
                run = cuts_in(row).trajectory
                assert sides[run.repo] == {run.split}


def test_the_answer_key_is_in_no_prompt(several: Path) -> None:
    """What an operator made false or took away is said by the state alone, never by the words about the state."""
    for sample in samples_in(several):
        if sample.cut is None or sample.sample.variant is None:
            continue
        given = "\n".join(message.content for message in sample.prompt)
        for truth in sample.cut.perturbed[sample.sample.variant].truths:
            assert truth.op not in given
            assert not any(way in given for way in truth.acceptable if "_" in way)
            assert msgspec.json.encode(truth).decode() not in given
