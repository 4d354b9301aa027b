"""Scripted runs really act and end where their skill says; the replay of their files is what was on the disk."""

from __future__ import annotations

import os
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path

import msgspec
import pytest

from passdown.data.actions.keys import key
from passdown.data.filters.split import group_of
from passdown.data.records import Reject, Trajectory
from passdown.data.replay.virtual import replay
from passdown.data.sources.parts import Part
from passdown.data.sources.table import read_source
from passdown.data.sources.worlds import parts_of
from passdown.data.worlds.run import (
    PREDECESSORS,
    SUCCESSORS,
    Continued,
    Run,
    predecessor_run,
    recorded_run,
    successor_run,
)
from passdown.data.worlds.table import WORLDS, build_world
from passdown.data.worlds.verify import verify
from passdown.errors import UsageError
from passdown.model.session import PlanUpdate, ToolResult

FIRST = WORLDS[0]
SKILLS = tuple(PREDECESSORS)
SOLVES = {"careful", "wrong_file", "regression", "planner", "reviewed"}
_EACH = [(world, skill) for world in WORLDS for skill in SKILLS]
_SOME = [(world, SKILLS[number % len(SKILLS)]) for number, world in enumerate(WORLDS[::2])]
RUNS = _EACH if os.environ.get("PASSDOWN_EVERY_WORLD") else _SOME
"""Half of the worlds, each with another skill: all pairs take minutes. `PASSDOWN_EVERY_WORLD=1` tries every pair."""


@lru_cache(maxsize=4)
def run_of(world: str, skill: str) -> Run:
    return recorded_run(world, skill)


@pytest.mark.parametrize(("world_id", "skill"), RUNS)
def test_a_run_ends_where_its_skill_says_and_replay_knows_every_file(world_id: str, skill: str) -> None:
    run = run_of(world_id, skill)
    assert run.verdict.resolved == (skill in SOLVES)
    assert run.trajectory.outcome.resolved == run.verdict.resolved
    assert not run.verdict.error
    _replay_is_exact(run)
    CHECKS[skill](run)


def _replay_is_exact(run: Run) -> None:
    base = {path: text.encode() for path, text in build_world(run.trajectory.instance_id).files.items()}
    replayed = replay(run.trajectory, base)
    assert len(run.trees) == len(run.trajectory.steps) + 1
    for k, tree in enumerate(run.trees):
        changed = replayed.changed(k)
        assert set(changed) == {path for path in {*base, *tree} if base.get(path) != tree.get(path)}, k
        for path in {*base, *tree}:
            assert replayed.content(k, path) == tree.get(path), (k, path)
        assert replayed.exact(k)


def _careful(run: Run) -> None:
    kinds = [action.kind for step in run.trajectory.steps for action in step.actions]
    first = kinds.index("EDIT") if "EDIT" in kinds else kinds.index("CREATE")
    assert "TEST" in kinds[:first]
    assert "TEST" in kinds[first:]


def _hasty(run: Run) -> None:
    assert "TEST" not in {action.kind for step in run.trajectory.steps for action in step.actions}


def _wrong_file(run: Run) -> None:
    written = {path for step in run.trajectory.steps for action in step.actions for path in action.writes}
    kept = {line.split(" b/")[1] for line in run.trajectory.outcome.patch.splitlines() if line.startswith("diff --git")}
    assert kept == set(build_world(run.trajectory.instance_id).reference)
    assert written - kept, "a file was changed that is not in the final diff"


def _looper(run: Run) -> None:
    steps = [[key(action) for action in step.actions] for step in run.trajectory.steps]
    windows = [list(chain.from_iterable(steps[at : at + 6])) for at in range(len(steps))]
    assert any(window.count(name) >= 3 for window in windows for name in window)


def _half_done(run: Run) -> None:
    *first, last = build_world(run.trajectory.instance_id).subtasks
    passed = set(run.verdict.passed)
    assert passed >= {test for part in first for test in part.tests}
    assert not passed >= set(last.tests)
    assert "notes.txt" in run.trees[-1]


def _explorer(run: Run) -> None:
    parts = build_world(run.trajectory.instance_id).subtasks
    done, left = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    assert set(run.verdict.passed) >= {test for part in done for test in part.tests}
    assert all(not set(run.verdict.passed) >= set(part.tests) for part in left)
    kinds = [action.kind for step in run.trajectory.steps for action in step.actions]
    changes = [place for place, kind in enumerate(kinds) if kind in ("EDIT", "CREATE")]
    assert changes[0] > len(kinds) // 2, "it reads for more than half of its time"


def _regression(run: Run) -> None:
    results = [event for step in run.trajectory.steps for event in step.events if isinstance(event, ToolResult)]
    assert any("FAILED" in result.text for result in results)
    world = build_world(run.trajectory.instance_id)
    (trap,) = world.traps
    broken = next(tree for tree in run.trees if trap.bad.encode() in tree[trap.path])
    assert trap.good.encode() in run.trees[-1][trap.path]
    assert not verify(broken, world).resolved


def _planner(run: Run) -> None:
    plans = [event for step in run.trajectory.steps for event in step.events if isinstance(event, PlanUpdate)]
    assert {item.status for item in plans[0].items} == {"pending"}
    assert {item.status for item in plans[-1].items} == {"completed"}
    assert any("PLAN.md" in tree for tree in run.trees)
    assert "PLAN.md" not in run.trees[-1]


def _reviewed(run: Run) -> None:
    (at,) = [step.idx for step in run.trajectory.steps if step.role == "user" and step.idx]
    assert not verify(run.trees[at], build_world(run.trajectory.instance_id)).resolved


CHECKS = {
    "careful": _careful, "hasty": _hasty, "wrong_file": _wrong_file, "looper": _looper, "half_done": _half_done,
    "explorer": _explorer, "regression": _regression, "planner": _planner, "reviewed": _reviewed,
}  # fmt: skip


def test_a_run_is_the_same_each_time() -> None:
    run, again = recorded_run(FIRST, "reviewed", 3), recorded_run(FIRST, "reviewed", 3)
    assert run == again
    text = msgspec.json.encode(run.trajectory).decode()
    assert "passdown-world-" not in text
    assert run.trajectory.outcome.patch.startswith("diff --git")


def test_worlds_of_one_program_are_on_one_side_of_the_split() -> None:
    runs = [predecessor_run(world, "hasty") for world in (FIRST, WORLDS[1], WORLDS[4])]
    one, same, other = (group_of(run) for run in runs)
    assert one == same != other


def test_seeds_change_what_is_said() -> None:
    assert predecessor_run(FIRST, "hasty", 1).content_hash != predecessor_run(FIRST, "hasty", 2).content_hash


@pytest.mark.parametrize("skill", SUCCESSORS)
@pytest.mark.parametrize("before", ["half_done", "hasty", "regression"])
def test_a_successor_goes_on_from_the_tree_that_is_there(before: str, skill: str) -> None:
    world = WORLDS[(7 * len(before) + len(skill)) % len(WORLDS)]
    run = run_of(world, before)
    k = len(run.trajectory.steps) * 2 // 3
    successor = successor_run(run.trajectory, k, run.trees[k], skill)
    told = msgspec.json.decode(successor.extras, type=Continued)
    assert successor.outcome.resolved
    assert (told.continues, told.k) == (run.trajectory.trajectory_id, k)
    assert told.shortest == (skill == "shortest")
    kinds = [action.kind for step in successor.steps for action in step.actions]
    assert kinds.index("READ") < kinds.index("EDIT"), "it looks before it changes anything"
    assert kinds[0] == "VCS", "and at what is changed before all else"


def test_a_successor_finds_what_git_has_staged() -> None:
    run = run_of(FIRST, "half_done")
    k = len(run.trajectory.steps) * 2 // 3
    tree = run.trees[k]
    path = next(path for path in sorted(tree) if path.endswith(".py"))
    successor = successor_run(run.trajectory, k, tree, staged={path: b"raise SystemExit\n"})
    said = [event.text for step in successor.steps[:4] for event in step.events if isinstance(event, ToolResult)]
    assert any(f"MM {path}" in text and "-raise SystemExit" in text for text in said)
    assert successor.outcome.resolved


def test_a_list_of_worlds_is_a_source(tmp_path: Path) -> None:
    listed = tmp_path / "worlds.txt"
    listed.write_text(f"# two runs\n{FIRST} careful\n{FIRST} hasty 4\n\nnowhere careful\n{FIRST} careful x\n")
    runs = list(read_source(listed, "worlds"))
    assert [type(run) for run in runs] == [Trajectory, Trajectory, Reject, Reject]
    assert [run.provenance.row for run in runs if run.provenance] == [2, 3, 5, 6]
    assert {run.provenance.licence for run in runs if run.provenance} == {"Apache-2.0"}


def test_a_long_list_falls_into_parts_that_make_the_same_runs(tmp_path: Path) -> None:
    listed = tmp_path / "worlds.txt"
    listed.write_text("*\n")
    parts = parts_of(listed)
    assert len(parts) > 4, "for several processes"
    assert parts[-1].end == len(WORLDS) * len(SKILLS)
    assert [(one.end, other.begin) for one, other in pairwise(parts)] == [(one.end, one.end) for one in parts[:-1]]
    listed.write_text(f"{FIRST} hasty\nnowhere\n{FIRST} hasty 2\n")
    whole = list(read_source(listed, "worlds"))
    cut = [Part(begin=0, end=1), Part(begin=1, end=3)]
    assert [run for part in cut for run in read_source(listed, "worlds", part=part)] == whole


def test_unknown_skills_are_told() -> None:
    with pytest.raises(UsageError):
        predecessor_run(FIRST, "brilliant")
