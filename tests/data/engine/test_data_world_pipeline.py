"""Worlds through the whole pipeline: cuts lie in real trees, and successors really go on from them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from passdown.cli.main import cli
from passdown.data.engine.shards import read_batches, shards_in
from passdown.data.engine.stages import cuts_in
from passdown.data.perturb.admission import tree_of
from passdown.data.records import Cuts
from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.snapshot import state_id
from passdown.data.samples.continuations import continued_by
from passdown.data.samples.messages import Role
from passdown.data.samples.render import Rendered, render
from passdown.data.worlds.desk import as_bytes
from passdown.data.worlds.run import recorded_run
from passdown.data.worlds.table import build_world

LISTED = (("durations-b", "half_done"), ("limits-a", "hasty"), ("jobs-b", "careful"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("worlds")
    (place / "worlds.txt").write_text("".join(f"{world} {skill}\n" for world, skill in LISTED))
    (place / "p.toml").write_text(
        '[[source]]\npath = "worlds.txt"\nformat = "worlds"\n[points]\nper_trajectory = 2\n[perturb]\nper_cut = 2\n'
    )
    done = CliRunner().invoke(cli, ["data", "pipeline", str(place / "p.toml"), "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["steps"]["read"]["rows"] == len(LISTED)
    return place / "handoff-data"


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[Cuts]:
    return [
        cuts_in(row) for shard in shards_in(folder / "samples") for batch in read_batches(shard) for row in batch
    ]  # fmt: skip


def test_a_snapshot_is_the_tree_that_was_there(folder: Path, rows: list[Cuts]) -> None:
    store = BlobStore(folder / "blobs")
    for cuts in rows:
        world, skill = next(pair for pair in LISTED if f"-{pair[0]}-{pair[1]}-" in cuts.trajectory.trajectory_id)
        run = recorded_run(world, skill)
        for cut in cuts.cuts:
            assert cut.snapshot is not None
            assert cut.snapshot.exact
            assert not cut.snapshot.dirty
            assert tree_of(cut.snapshot, as_bytes(build_world(world).files), store) == run.trees[cut.point.k]


def test_what_did_not_solve_is_gone_on_with_by_runs_that_do(rows: list[Cuts]) -> None:
    for cuts in rows:
        kinds = Counter(one.continuation.kind for one in cuts.samples if one.kind == "sft" and one.continuation)
        if cuts.trajectory.outcome.resolved:
            assert not cuts.successors
            assert set(kinds) <= {"self_tail", "self_tail_inspected"}
            continue
        assert set(kinds) == {"rollout", "shortest_verified"}
        trees = {cut.snapshot.snapshot_id for cut in cuts.cuts if cut.snapshot}
        said = [told for run in cuts.successors if (told := continued_by(run)) is not None]
        assert {told.state for told in said if told.shortest} <= trees, (
            "where operators changed it only the careful one"
        )
        named = {one.continuation.trajectory_id for one in cuts.samples if one.kind == "sft" and one.continuation}
        assert named == {run.trajectory_id for run in cuts.successors}
        assert all(run.outcome.resolved and run.split == cuts.trajectory.split for run in cuts.successors)


def test_a_continuation_begins_with_the_tree_of_its_sample(rows: list[Cuts]) -> None:
    moved = 0
    for cuts in rows:
        runs = {run.trajectory_id: run for run in cuts.successors}
        by_k = {cut.point.k: cut for cut in cuts.cuts}
        for sample in cuts.samples:
            if sample.kind != "sft" or sample.continuation is None:
                continue
            cut = by_k[sample.k]
            own = cut.snapshot
            found = cut.perturbed[sample.variant].snapshot if sample.variant is not None else own
            assert own is not None
            assert found is not None
            if sample.continuation.trajectory_id in runs:
                said = continued_by(runs[sample.continuation.trajectory_id])
                assert said is not None
                assert (said.continues, said.k, said.state) == (sample.trajectory_id, sample.k, state_id(found))
                moved += found.snapshot_id != own.snapshot_id
            else:
                assert found.snapshot_id == own.snapshot_id, "a tail fits no other tree"
    assert moved, "operators changed some of the trees"


def test_a_successors_own_steps_are_what_is_learned(rows: list[Cuts]) -> None:
    for cuts in rows:
        for made in render(cuts):
            assert isinstance(made, Rendered), made
            tail = made.sample.continuation
            if made.sample.kind == "sft" and tail and tail.kind in ("rollout", "shortest_verified"):
                assert made.completion[0].role == "assistant"
                assert made.completion[0].part == Role.ACTION
                assert all(message.role != "user" for message in made.completion), "the task is said once"
                assert sum(message.part == Role.ACTION for message in made.completion) > 1


def test_none_go_on_where_none_are_asked_for(folder: Path, tmp_path: Path) -> None:
    from passdown.data.engine.succeeding import check_successors, succeed
    from passdown.errors import UsageError

    with pytest.raises(UsageError):
        check_successors(["brilliant"])
    (cuts, *_) = (cuts_in(row) for shard in shards_in(folder / "perturbed") for b in read_batches(shard) for row in b)
    assert list(succeed(cuts, [], BlobStore(tmp_path))) == []
