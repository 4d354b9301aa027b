"""Scripted runs in worlds: predecessors from the start, successors from the tree that a cut left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from passdown.data.records import Outcome, Provenance, Trajectory
from passdown.data.trajectory import assemble
from passdown.data.worlds.actor import Actor
from passdown.data.worlds.desk import Desk, as_bytes, desk
from passdown.data.worlds.model import World
from passdown.data.worlds.skills import (
    careful,
    explorer,
    half_done,
    hasty,
    looper,
    planner,
    regression,
    reviewed,
    successors,
    wrong_file,
)  # fmt: skip
from passdown.data.worlds.table import SOURCE, build_world
from passdown.data.worlds.verify import Verdict, verify
from passdown.errors import UsageError

LICENCE = "Apache-2.0"
_PATCH = "git add -A -N . && git diff {base}"

PREDECESSORS: dict[str, Callable[[Actor], None]] = {
    "careful": careful.work,
    "hasty": hasty.work,
    "wrong_file": wrong_file.work,
    "looper": looper.work,
    "half_done": half_done.work,
    "regression": regression.work,
    "planner": planner.work,
    "explorer": explorer.work,
    "reviewed": reviewed.work,
}
SUCCESSORS: dict[str, Callable[[Actor], None]] = {"careful": successors.careful, "shortest": successors.shortest}


class Run(NamedTuple):
    """A run with what a trajectory does not hold: `trees[k]`, the files after `k` complete steps, and the verdict."""

    trajectory: Trajectory
    trees: tuple[Mapping[str, bytes], ...]
    verdict: Verdict


class Continued(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands in `extras` of a run: its world and skill, and for a successor whose run it goes on with, from which
    cut, and which state of the files it found there (a `state_id`, empty when nobody said)."""

    world: str
    skill: str
    seed: int = 0
    continues: str = ""
    k: int = 0
    state: str = ""
    shortest: bool = False


def predecessor_run(world_id: str, skill: str, seed: int = 0) -> Trajectory:
    """Return the trajectory of a scripted run, really done and judged. Raises `UsageError` for an unknown name."""
    return recorded_run(world_id, skill, seed).trajectory


def recorded_run(world_id: str, skill: str, seed: int = 0) -> Run:
    """Return the same run with the files after every step."""
    world = build_world(world_id)
    work = _known(PREDECESSORS, skill)
    told = Continued(world=world_id, skill=skill, seed=seed)
    return _run(world, work, told, None, world.task, {})


def successor_run(
    trajectory: Trajectory, k: int, tree: Mapping[str, bytes], skill: str = "careful", state: str = "",
    staged: Mapping[str, bytes] | None = None,
) -> Trajectory:  # fmt: skip
    """Return the trajectory of a scripted successor that goes on from `tree`, the files after `k` steps of a run.

    Its `extras` say what it continues. `state` names the tree, where a cut has several; `staged` is what git's index
    holds that the tree does not. Raises `UsageError` for a trajectory that is of no world.
    """
    world = build_world(trajectory.instance_id)
    work = _known(SUCCESSORS, skill)
    told = Continued(
        world=world.id, skill=f"successor-{skill}", seed=k, continues=trajectory.trajectory_id, k=k, state=state,
        shortest=skill == "shortest",
    )  # fmt: skip
    task = f"{world.task}\n\nSomebody has begun with this; go on from the files as they are."
    return _run(world, work, told, tree, task, staged or {}).trajectory


def _known(table: Mapping[str, Callable[[Actor], None]], skill: str) -> Callable[[Actor], None]:
    if skill not in table:
        raise UsageError(f"no skill called {skill[:60]!r}", next_step=f"Known: {', '.join(table)}.")
    return table[skill]


def _run(
    world: World, work: Callable[[Actor], None], told: Continued, tree: Mapping[str, bytes] | None, task: str,
    staged: Mapping[str, bytes],
) -> Run:  # fmt: skip
    with desk(world.id, world.files) as place:
        commit = place.commit(world.history)
        if tree is not None:
            if staged:
                place.stage({**tree, **staged}, sorted(staged))
            place.put(as_bytes(tree))
        actor = Actor(world, place, skill=told.skill, seed=told.seed, commit=commit, task=task)
        work(actor)
        files = place.tree()
        patch = _patch(place, commit)
    verdict = verify(files, world)
    outcome = Outcome(
        resolved=verdict.resolved, exit="submitted", patch=patch, fail_to_pass=world.fail_to_pass,
        pass_to_pass=world.pass_to_pass,
    )  # fmt: skip
    name = f"{told.world}-{told.skill}-{told.seed}"
    if told.continues:
        name = f"{told.continues.removeprefix(f'{SOURCE}-')}-{told.k}-{told.skill}"
        name += f"-{told.state[:12]}" * bool(told.state)
    trajectory = assemble(
        actor.events, Provenance(source=SOURCE, source_version="1", licence=LICENCE), trajectory_id=f"{SOURCE}-{name}",
        instance_id=world.id, repo=f"{SOURCE}/{world.kernel}", base_commit=commit, task_text=task, outcome=outcome,
        extras=msgspec.json.encode(told).decode(),
    )  # fmt: skip
    return Run(trajectory, tuple(actor.trees), verdict)


def _patch(place: Desk, commit: str) -> str:
    return place.run(_PATCH.format(base=commit)).text
