"""Cut a trajectory: what was known after k steps, without anything that came later."""

from __future__ import annotations

from passdown.data.records import Prefix, Step, Trajectory
from passdown.data.requests import first_request
from passdown.model.session import UserMessage


def cut(trajectory: Trajectory, k: int) -> Prefix:
    """Return the first `k` steps, without outcome, split or tail. Raises `ValueError` outside 1..len(steps)."""
    if not 1 <= k <= len(trajectory.steps):
        raise ValueError(f"a cut lies between 1 and {len(trajectory.steps)} steps, not at {k}")
    return Prefix(
        trajectory_id=trajectory.trajectory_id, k=k, steps=trajectory.steps[:k], provenance=trajectory.provenance,
        repo=trajectory.repo, base_commit=trajectory.base_commit, task_text=_task(trajectory, k),
        scaffold=trajectory.scaffold, model=trajectory.model, root=trajectory.root,
        predecessor=trajectory.predecessor, tools=trajectory.tools,
    )  # fmt: skip


def _task(trajectory: Trajectory, k: int) -> str:
    """Return the task as it was known by then: a run that begins with a greeting is told later what to do."""
    task = trajectory.task_text
    if _is_said(task, trajectory.steps[:k]) or not _is_said(task, trajectory.steps[k:]):
        return task
    return first_request(trajectory.steps[:k])


def _is_said(text: str, steps: tuple[Step, ...]) -> bool:
    return any(isinstance(event, UserMessage) and event.text == text for step in steps for event in step.events)
