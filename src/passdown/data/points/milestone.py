"""Milestones: something is done that a successor can build on."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.points.run import Found, Run
from passdown.data.points.signals import Signals
from passdown.data.records import Mark
from passdown.data.subtasks.tests import test_results
from passdown.model.pattern import lazy_pattern
from passdown.model.session import PlanUpdate

_NOTHING = lazy_pattern(r"nothing to commit|nothing added to commit|no changes added to commit|(?m:^(?:fatal|error): )")


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


def results_of(signals: Signals) -> dict[str, bool]:
    """Return what a step shows of tests: single ones where they are named, and each run as a whole, by its selector."""
    found: dict[str, bool] = {}
    for action in signals.done:
        if action.kind == "TEST":
            for result in signals.results.get(action.call_id, ()):
                found.update(test_results(result.text))
    for check in signals.checks:
        if check.ok is not None and check.tests:
            found[f"run:{check.tests}"] = check.ok
    return found


def _tests(run: Run) -> Iterator[Found]:
    known: dict[str, bool] = {}
    for at, signals in enumerate(run.signals):
        found = results_of(signals)
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


def commits(signals: Signals) -> bool:
    """Say whether a step made a commit."""
    for action in signals.done:
        if action.kind != "VCS" or action.target not in ("commit", "jj commit", "hg commit") or action.ok is False:
            continue
        results = signals.results.get(action.call_id)
        if action.ok or (
            results and results[0].outcome in ("ok", "unknown") and not _NOTHING.search(results[0].text[:4000])
        ):
            return True
    return False
