"""Milestones: something is done that a successor can build on."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.points.run import Found, Run
from passdown.data.points.signals import commits
from passdown.data.records import Mark
from passdown.model.session import PlanUpdate


def marks(run: Run) -> Iterator[Found]:
    """Yield the milestones of a run."""
    yield from _tests(run)
    yield from _files(run)
    yield from _plan(run)
    for at, signals in enumerate(run.signals):
        if commits(signals):
            yield Found(at + 1, Mark(detector="commit", kind="milestone", steps=(at,)))
        if any(check.news for check in signals.checks):
            yield Found(at + 1, Mark(detector="validation_result", kind="milestone", steps=(at,)))


def _tests(run: Run) -> Iterator[Found]:
    known: dict[str, bool] = {}
    for at, found in enumerate(run.tests):
        if not found:
            continue
        mended = [name for name, ok in found.items() if ok and known.get(name) is False]
        if mended and not any(known.get(name) and not ok for name, ok in found.items()):
            mark = Mark(detector="test_transition", kind="milestone", steps=(at,), detail=mended[0][:200])
            yield Found(at + 1, mark)
        known.update(found)


def _files(run: Run) -> Iterator[Found]:
    if run.trajectory.outcome.resolved is False:
        return
    for path, steps in run.edits.items():
        if path in run.final:
            detail = path[:200]
            mark = Mark(
                detector="file_complete", kind="milestone", steps=(steps[-1],), detail=detail, oracle_select=True
            )
            yield Found(steps[-1] + 1, mark)


def _plan(run: Run) -> Iterator[Found]:
    open_items: set[str] = set()
    for at, signals in enumerate(run.signals):
        ticked: list[str] = []
        for event in signals.step.events:
            if isinstance(event, PlanUpdate) and event.items:
                ticked += [item.text for item in event.items if item.status == "completed" and item.text in open_items]
                open_items = {item.text for item in event.items if item.status in ("pending", "in_progress")}
        if ticked:
            mark = Mark(detector="todo_ticked", kind="milestone", steps=(at,), detail=ticked[0][:200])
            yield Found(at + 1, mark)
