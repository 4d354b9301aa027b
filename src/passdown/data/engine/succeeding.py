"""Runs that really go on from the cuts of a run which did not solve its task, where its world is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from passdown.data.export.state import known_of, staged_in
from passdown.data.filters.result import dropped
from passdown.data.perturb.admission import tree_of
from passdown.data.perturb.scene import Blobs
from passdown.data.records import Cut, Cuts, Reject, Sample, Snapshot, Trajectory
from passdown.data.replay.snapshot import state_id
from passdown.errors import UsageError


def check_successors(names: Sequence[str]) -> None:
    """Raise `UsageError` for a name that no scripted successor has."""
    from passdown.data.worlds.run import SUCCESSORS

    for name in names:
        if name not in SUCCESSORS:
            raise UsageError(f"no successor called {name[:40]!r}", next_step=f"One of: {', '.join(SUCCESSORS)}.")


def succeed(cuts: Cuts, names: Sequence[str], blobs: Blobs) -> Iterator[Trajectory | Reject]:
    """Yield a run of each named successor from the tree at every cut, and of the first from those operators made of it.

    A run is real: it begins with the snapshot's files in a folder, and hidden tests say whether it solved the task. One
    that did not is a reject. Of other sources than our worlds there are none, nor of runs that solved their task.
    """
    known = known_of(cuts.trajectory) if names else None
    if known is None or cuts.trajectory.outcome.resolved:
        return
    from passdown.data.worlds.run import successor_run

    for cut in cuts.cuts:
        own = state_id(cut.snapshot) if cut.snapshot else ""
        for snapshot in _trees(cut):
            if snapshot.dirty or not snapshot.exact:
                yield dropped("build", cuts.trajectory, "no successor: the tree at its cut is not known")
                continue
            staged = staged_in(snapshot, blobs)
            if staged is None:
                yield dropped("build", cuts.trajectory, "no successor: git is in a state that cannot be made")
                continue
            tree, state = tree_of(snapshot, known.base, blobs), state_id(snapshot)
            for name in names if state == own else names[:1]:
                run = successor_run(cuts.trajectory, cut.point.k, tree, name, state, staged)
                if run.outcome.resolved:
                    yield replace(run, split=cuts.trajectory.split)
                else:
                    yield dropped("build", cuts.trajectory, "a successor did not solve the task", run.trajectory_id)


def _trees(cut: Cut) -> list[Snapshot]:
    """Return every tree that a successor can find at a cut, each once."""
    found = [cut.snapshot, *(one.snapshot for one in cut.perturbed)]
    return list({state_id(snapshot): snapshot for snapshot in found if snapshot is not None}.values())


def named_in(samples: Sequence[Sample], runs: Sequence[Trajectory]) -> tuple[Trajectory, ...]:
    """Return the runs that samples go on with."""
    names = {sample.continuation.trajectory_id for sample in samples if sample.continuation}
    return tuple(run for run in runs if run.trajectory_id in names)
