"""Perturbed states of worlds are judged by hidden tests that really run; what is not admitted is told, with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from passdown.data.engine.perturbing import perturbing
from passdown.data.engine.shards import Row
from passdown.data.engine.stages import building, finding_points
from passdown.data.engine.viewing import writing_views
from passdown.data.perturb.admission import tree_of
from passdown.data.records import Cuts, Perturbed, Reject, Trajectory
from passdown.data.replay.blobs import BlobStore
from passdown.data.worlds.desk import as_bytes
from passdown.data.worlds.run import predecessor_run
from passdown.data.worlds.table import build_world
from passdown.data.worlds.verify import verify

WORLD = "durations-a"


def stages(run: Trajectory, blobs: Path) -> tuple[Cuts, list[Reject]]:
    """Take a run through points, views, operators and samples, as the steps do."""
    row = Row(id="1", trajectory_id=run.trajectory_id, kind="trajectory", record=msgspec.json.encode(run))
    rejects: list[Reject] = []
    works = (
        finding_points(2, str(blobs)), writing_views(["repo", "structured"], None, False, ""),
        perturbing(["L2", "L3", "L4", "grid"], 4, 3, str(blobs)), building(["rl", "reconstruction"], 200, 0.3, 3),
    )  # fmt: skip
    for work in works:
        made = list(work([row]))
        rejects += [one for one in made if isinstance(one, Reject)]
        row = next(one for one in made if isinstance(one, Row))
    return msgspec.json.decode(row.record, type=Cuts), rejects


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cuts, list[Reject], BlobStore]:
    blobs = tmp_path_factory.mktemp("blobs")
    cuts, rejects = stages(predecessor_run(WORLD, "half_done"), blobs)
    return cuts, rejects, BlobStore(blobs)


def test_what_gets_in_fails_as_it_is_and_passes_with_the_reference(
    judged: tuple[Cuts, list[Reject], BlobStore],
) -> None:
    cuts, _, blobs = judged
    world = build_world(WORLD)
    base, reference = as_bytes(world.files), as_bytes(world.reference)
    every = [one for cut in cuts.cuts for one in cut.perturbed]
    assert len(every) >= 6
    assert {truth.still_solvable for one in every for truth in one.truths} == {True}

    def passes(files: Mapping[str, bytes]) -> bool:
        return verify(files, world).resolved

    for one in _by_tree(every):
        tree = tree_of(one.snapshot, base, blobs)
        assert not passes(tree), one.ops
        assert passes({**tree, **base, **reference}), one.ops


def _by_tree(every: list[Perturbed]) -> list[Perturbed]:
    return list({one.snapshot.snapshot_id if one.snapshot else "": one for one in every}.values())


def test_rollouts_of_perturbed_states_say_that_they_were_admitted(judged: tuple[Cuts, list[Reject], BlobStore]) -> None:
    cuts, _, _ = judged
    rollouts = [sample for sample in cuts.samples if sample.kind == "rl"]
    assert {sample.admitted for sample in rollouts if sample.ops} == {True}
    assert {sample.admitted for sample in rollouts if not sample.ops} == {None}


def test_what_is_not_admitted_is_a_reject_with_a_reason(tmp_path: Path) -> None:
    cuts, rejects = stages(predecessor_run(WORLD, "careful"), tmp_path)
    refused = [one for one in rejects if one.reason.startswith("admission: ")]
    assert {one.reason for one in refused} <= {
        "admission: the state passes without a fix",
        "admission: the rebased fix does not pass",
    }
    assert "admission: the state passes without a fix" in {one.reason for one in refused}, "its last cut is solved"
    assert all(one.provenance == cuts.trajectory.provenance and one.detail for one in refused)


def test_where_nobody_has_hidden_tests_there_are_no_rollouts_of_perturbed_states(tmp_path: Path) -> None:
    run = predecessor_run(WORLD, "half_done")
    elsewhere = msgspec.structs.replace(run.provenance, source="swe_smith")
    cuts, rejects = stages(msgspec.structs.replace(run, provenance=elsewhere), tmp_path)
    assert {truth.still_solvable for cut in cuts.cuts for one in cut.perturbed for truth in one.truths} == {None}
    assert not [sample for sample in cuts.samples if sample.kind == "rl" and sample.ops]
    assert [sample for sample in cuts.samples if sample.kind == "reconstruction" and sample.ops]
    assert not [one for one in rejects if one.reason.startswith("admission")]
