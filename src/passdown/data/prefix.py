"""Cut a trajectory: what was known after k steps, without anything that came later."""

from __future__ import annotations

from passdown.data.records import Prefix, Trajectory


def cut(trajectory: Trajectory, k: int) -> Prefix:
    """Return the first `k` steps, without outcome, split or tail. Raises `ValueError` outside 1..len(steps)."""
    if not 1 <= k <= len(trajectory.steps):
        raise ValueError(f"a cut lies between 1 and {len(trajectory.steps)} steps, not at {k}")
    return Prefix(
        trajectory_id=trajectory.trajectory_id, k=k, steps=trajectory.steps[:k], provenance=trajectory.provenance,
        repo=trajectory.repo, base_commit=trajectory.base_commit, task_text=trajectory.task_text,
        scaffold=trajectory.scaffold, model=trajectory.model, root=trajectory.root,
        predecessor=trajectory.predecessor, tools=trajectory.tools,
    )  # fmt: skip
