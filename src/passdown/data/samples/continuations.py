"""What a successor does after a cut: the predecessor's own tail, with or without looking first, or another's run."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from passdown.data.actions.keys import key
from passdown.data.records import Action, Continuation, Cut, Snapshot, Step, Trajectory
from passdown.data.replay.snapshot import state_id

INSPECTIONS = 3
"""Reads that are put before a tail at most."""
_LOOKS = frozenset({"READ", "SEARCH"})
_CHANGES = frozenset({"EDIT", "CREATE", "DELETE"})
_REPEATS = 3


class Continues(msgspec.Struct, frozen=True):
    """What a successor's run says of itself in `extras`: whose work it went on with, from which cut and tree."""

    continues: str
    k: int
    shortest: bool = False
    state: str = ""


def continuations(
    trajectory: Trajectory, cut: Cut, successors: Iterable[Trajectory] = (), snapshot: Snapshot | None = None
) -> list[Continuation]:
    """Return every continuation that is allowed at a cut, the preferred ones first.

    A trajectory's own tail counts only when its outcome says that it solved the task; a person's tail always does,
    since it is what was kept. Runs of `successors` count when they say that they go on from this very cut, and solved.
    Where operators left another state (`snapshot`), only runs that began with those files and that index count: what
    was answered in a tail would not be true there.
    """
    own = state_id(cut.snapshot) if cut.snapshot else ""
    given = state_id(snapshot) if snapshot else own
    states = ("", own) if given == own else (given,)
    found = [
        Continuation(
            kind="shortest_verified" if said.shortest else "rollout", trajectory_id=run.trajectory_id,
            start=next((step.idx for step in run.steps if step.role == "agent"), 0), stop=len(run.steps),
            masked=masked_steps(run.steps),
        )
        for run in successors
        if (said := continued_by(run)) is not None and run.outcome.resolved and said.state in states
        and (said.continues, said.k) == (trajectory.trajectory_id, cut.point.k)
    ]  # fmt: skip
    return found if differs(cut, snapshot) else [*found, *_own(trajectory, cut.point.k)]


def differs(cut: Cut, snapshot: Snapshot | None) -> bool:
    """Say whether operators left another state than that of the cut: in its files, in git or beside them."""
    if snapshot is None or snapshot == cut.snapshot:
        return False
    before = cut.snapshot
    return before is None or (before.snapshot_id, before.volatile) != (snapshot.snapshot_id, snapshot.volatile)


def continued_by(run: Trajectory) -> Continues | None:
    """Return what a run says it goes on with, None for one that begins by itself."""
    if '"continues"' not in run.extras:
        return None
    try:
        return msgspec.json.decode(run.extras, type=Continues)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def _own(trajectory: Trajectory, k: int) -> list[Continuation]:
    tail = trajectory.steps[k:]
    if not any(step.actions for step in tail):
        return []
    whole = Continuation(
        kind="self_tail", trajectory_id=trajectory.trajectory_id, start=k, stop=len(trajectory.steps),
        masked=tuple(k + index for index in masked_steps(tail)),
    )  # fmt: skip
    if trajectory.predecessor == "human":
        return [replace(whole, kind="human_tail")]
    if not trajectory.outcome.resolved:
        return []
    looks = inspection(trajectory.steps, k)
    return [*([replace(whole, kind="self_tail_inspected", inspection=looks)] if looks else []), whole]


def inspection(steps: tuple[Step, ...], k: int) -> tuple[int, ...]:
    """Return steps before the cut that only read what the tail goes on to change, and whose files stood still since.

    What such a step saw is what the successor would see, so that it can stand at the beginning of a tail.
    """
    wanted = {path for step in steps[k:] for action in step.actions if action.ok is not False for path in action.writes}
    touched: set[str] = set()
    found: list[int] = []
    for step in reversed(steps[:k]):
        read = {path for action in step.actions for path in action.reads}
        if _only_looks(step.actions) and read & wanted and not read & touched:
            found.append(step.idx)
            wanted -= read
        touched.update(path for action in step.actions for path in action.writes)
        if len(found) == INSPECTIONS:
            break
    return tuple(sorted(found))


def _only_looks(actions: tuple[Action, ...]) -> bool:
    return bool(actions) and all(action.kind in _LOOKS and action.ok is not False for action in actions)


def masked_steps(steps: tuple[Step, ...]) -> tuple[int, ...]:
    """Return the places, in `steps`, of those that failed or went in a circle: context, but nothing to learn.

    A failing test is no failed step: to run it was right.
    """
    masked: list[int] = []
    recent: list[str] = []
    for place, step in enumerate(steps):
        own = [key(action) for action in step.actions]
        failed = any(action.ok is False and action.kind in _CHANGES for action in step.actions)
        looping = any(recent[-6:].count(name) >= _REPEATS - 1 for name in own)
        if failed or looping:
            masked.append(place)
        recent.extend(own)
    return tuple(masked)
