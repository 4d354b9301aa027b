"""Find every point at which a trajectory can be cut."""

from __future__ import annotations

from passdown.data.points.run import CONTEXT_BUDGET, Files, Run
from passdown.data.points.table import FAMILIES, family
from passdown.data.records import Graph, Mark, Point, PointKind, Trajectory

PRIORITY: tuple[PointKind, ...] = ("review", "delegation", "turn", "error", "milestone", "mid")
"""Which kind a point with several is of. The first three are events that nothing else shows."""

_LOOKS = frozenset(("READ", "SEARCH", "VCS"))


def detect(trajectory: Trajectory, replay: Files, graph: Graph, *, budget: int = CONTEXT_BUDGET) -> tuple[Point, ...]:
    """Return the points of a trajectory in order of `k`, with all that was found at each.

    Left out are cuts before anything was looked at or changed, and after the work was handed in. `budget` is the
    context limit, in tokens, for cuts at shares of it.
    """
    run = Run(trajectory, replay, graph, budget)
    possible = _possible(run)
    found: dict[int, dict[tuple[str, str], Mark]] = {}
    for name in FAMILIES:
        for k, mark in family(name)(run):
            if k in possible:
                found.setdefault(k, {}).setdefault((mark.detector, mark.detail), mark)
    return tuple(_point(trajectory.trajectory_id, k, tuple(found[k].values())) for k in sorted(found))


def _possible(run: Run) -> frozenset[int]:
    possible: set[int] = set()
    touched = handed_in = False
    for at, signals in enumerate(run.signals):
        if not touched:
            touched = any(
                action.kind in _LOOKS or action.target.startswith("agent:") for action in signals.done
            ) or bool(signals.edits)  # fmt: skip
        if signals.step.role == "user" or signals.done:
            handed_in = any(action.kind == "SUBMIT" for action in signals.done)
        if touched and not handed_in:
            possible.add(at + 1)
    return frozenset(possible)


def _point(trajectory_id: str, k: int, marks: tuple[Mark, ...]) -> Point:
    kinds = {mark.kind for mark in marks}
    kind = next(kind for kind in PRIORITY if kind in kinds)
    ahead = all(mark.oracle_select for mark in marks if mark.kind == kind)
    return Point(trajectory_id=trajectory_id, k=k, kind=kind, marks=marks, oracle_select=ahead)
