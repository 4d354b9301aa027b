"""Every world is admitted by running it both ways; scripted runs really act, and are the same each time."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec
import pytest

from passdown.data.records import Reject, Trajectory
from passdown.data.sources.table import read_source
from passdown.data.worlds.run import PREDECESSORS, SUCCESSORS, Continued, predecessor_run, recorded_run, successor_run
from passdown.data.worlds.table import KERNELS, WORLDS, all_worlds, build_world, kernel_called
from passdown.data.worlds.verify import verify
from passdown.errors import UsageError

FIRST = WORLDS[0]


@pytest.mark.parametrize("world_id", WORLDS)
def test_the_reference_solves_a_world_and_nothing_does_not(world_id: str) -> None:
    world = build_world(world_id)
    before = verify(world.files, world)
    after = verify({**world.files, **world.reference}, world)
    assert not before.error
    assert set(before.failed) == set(world.fail_to_pass)
    assert set(before.passed) == set(world.pass_to_pass)
    assert after.resolved
    assert after.failed == ()


def test_worlds_differ_and_have_parts() -> None:
    worlds = list(all_worlds())
    assert [variant.id for kernel in KERNELS for variant in kernel_called(kernel).variants] == [
        variant for variants in KERNELS.values() for variant in variants
    ]
    assert len({world.task for world in worlds}) == len(worlds)
    for world in worlds:
        assert 2 <= len(world.subtasks) <= 5
        assert sum(len(part.swaps) for part in world.subtasks) >= 2
        assert not set(world.hidden) & set(world.files)
        assert world.visible
        names = [*world.fail_to_pass, *world.pass_to_pass]
        assert len(set(names)) == len(names)
        seen: set[str] = set()
        for part in world.subtasks:
            assert set(part.after) <= seen
            seen.add(part.id)
        for path, text in {**world.files, **world.hidden}.items():
            assert "@pkg@" not in path + text
            if path.endswith(".py"):
                ast.parse(text)


def test_half_of_the_reference_is_not_enough() -> None:
    world = build_world(FIRST)
    path = next(iter(world.reference))
    assert not verify({**world.files, path: world.reference[path]}, world).resolved


def test_files_that_cannot_be_imported_are_not_a_solution() -> None:
    world = build_world(FIRST)
    broken = {path: "raise SystemExit(0)\n" if path.endswith(".py") else text for path, text in world.files.items()}
    verdict = verify(broken, world)
    assert not verdict.resolved
    assert verdict.passed == ()


@pytest.mark.parametrize("skill", PREDECESSORS)
def test_a_run_is_the_same_each_time_and_its_trees_follow_its_steps(skill: str) -> None:
    run = recorded_run(FIRST, skill, 3)
    again = recorded_run(FIRST, skill, 3)
    assert run.trajectory == again.trajectory
    assert run.trees == again.trees
    assert len(run.trees) == len(run.trajectory.steps) + 1
    assert run.verdict.resolved == (skill in ("careful", "wrong_file", "regression"))
    assert run.trajectory.outcome.resolved == run.verdict.resolved
    assert run.trajectory.outcome.patch.startswith("diff --git")
    text = msgspec.json.encode(run.trajectory).decode()
    assert "passdown-world-" not in text
    kinds = [action.kind for step in run.trajectory.steps for action in step.actions]
    assert "EDIT" in kinds
    assert ("TEST" in kinds) == (skill != "hasty")


def test_seeds_change_what_is_said() -> None:
    assert predecessor_run(FIRST, "careful", 1).content_hash != predecessor_run(FIRST, "careful", 2).content_hash


@pytest.mark.parametrize("skill", SUCCESSORS)
@pytest.mark.parametrize("before", ["half_done", "hasty", "regression"])
def test_a_successor_goes_on_from_the_tree_that_is_there(before: str, skill: str) -> None:
    run = recorded_run(FIRST, before)
    k = len(run.trajectory.steps) * 2 // 3
    successor = successor_run(run.trajectory, k, run.trees[k], skill)
    told = msgspec.json.decode(successor.extras, type=Continued)
    assert successor.outcome.resolved
    assert (told.continues, told.k) == (run.trajectory.trajectory_id, k)
    assert told.kind == ("shortest_verified" if skill == "shortest" else "rollout")


def test_a_list_of_worlds_is_a_source(tmp_path: Path) -> None:
    listed = tmp_path / "worlds.txt"
    listed.write_text(f"# two runs\n{FIRST} careful\n{FIRST} hasty 4\n\nnowhere careful\n{FIRST} careful x\n")
    runs = list(read_source(listed, "worlds"))
    assert [type(run) for run in runs] == [Trajectory, Trajectory, Reject, Reject]
    assert [run.provenance.row for run in runs if run.provenance] == [2, 3, 5, 6]
    assert {run.provenance.licence for run in runs if run.provenance} == {"Apache-2.0"}


def test_unknown_names_are_told() -> None:
    with pytest.raises(UsageError):
        build_world("nowhere-a")
    with pytest.raises(UsageError):
        predecessor_run(FIRST, "brilliant")
