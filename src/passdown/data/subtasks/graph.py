"""The subtask graph of a trajectory, and the labels at every cut. No model, no guess: rules over actions and files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Protocol

from passdown.data.records import Edge, Graph, Subtask, SubtaskStatus, Trajectory
from passdown.data.subtasks.tests import observed
from passdown.model.pattern import lazy_pattern
from passdown.model.session import PlanUpdate

_REPRO = lazy_pattern(r"(?i)(?:^|[ /_])(?:repro\w*|reproduce\w*)(?:[._/]|$)")
_SCRATCH = lazy_pattern(r"(?i)(?:.*/)?(?:repro|reproduce|scratch|tmp|debug)[^/]*|/.*")
_PATCHED = lazy_pattern(r"(?m)^\+\+\+ b/(.+)$")
_PLAN: dict[str, SubtaskStatus] = {
    "completed": "done", "in_progress": "in_progress", "pending": "todo", "cancelled": "unknown",
}  # fmt: skip


class Files(Protocol):
    """What is needed of a replay."""

    def changed(self, k: int) -> dict[str, str]:
        """Return path → content digest, '' for gone, '?' for not known, of the files changed by then."""

    def last_change(self, path: str) -> int | None:
        """Return the index of the last step that changed a file."""


def subtasks(trajectory: Trajectory, replay: Files) -> Graph:
    """Return nodes, edges and the labels after 0, 1, … all steps.

    What counts as an edit is the final patch where the source has one, else every file that the run left changed,
    without scratch files.
    """
    run = _Run(trajectory, replay)
    nodes = tuple(run.nodes())
    return Graph(nodes=nodes, edges=tuple(run.edges(nodes)), statuses=tuple(run.statuses(nodes)))


class _Run:
    def __init__(self, trajectory: Trajectory, replay: Files) -> None:
        self.trajectory = trajectory
        self.replay = replay
        steps = trajectory.steps
        self.final = replay.changed(len(steps))
        self.tests = [observed(step) for step in steps]
        self.first_write: dict[str, int] = {}
        self.installs: dict[str, int] = {}
        self.ran: dict[str, int] = {}
        self.plans = [_plan(trajectory, index) for index in range(len(steps))]
        for step in steps:
            self._note(step.idx)

    def _note(self, index: int) -> None:
        for action in self.trajectory.steps[index].actions:
            for path in action.writes:
                self.first_write.setdefault(path, index)
            if action.kind == "INSTALL" and action.ok is not False and action.target:
                self.installs.setdefault(action.target, index)
            if action.kind == "SUBMIT":
                self.ran.setdefault("submit", index)
            if action.kind == "RUN" and _REPRO.search(f"{action.target} {action.detail}"):
                self.ran.setdefault("repro", index)

    # --- nodes -------------------------------------------------------------------------------------------------------

    def edited(self) -> list[str]:
        """Return the files whose change is the work."""
        if self.trajectory.outcome.patch:
            return sorted(set(_PATCHED.findall(self.trajectory.outcome.patch)))
        return [path for path in self.final if not _SCRATCH.fullmatch(path)]

    def nodes(self) -> Iterator[Subtask]:
        if "repro" in self.ran:
            yield Subtask(id="repro", kind="repro")
        for package in sorted(self.installs):
            yield Subtask(id=f"install:{package}", kind="install", subject=package)
        for path in self.edited():
            yield Subtask(id=f"edit:{path}", kind="edit", subject=path)
        wanted = list(self.trajectory.outcome.fail_to_pass)
        for name in wanted or sorted({name for found in self.tests for name in found}):
            yield Subtask(id=f"test:{name}", kind="test", subject=name)
        texts = list(dict.fromkeys(text for plan in self.plans for text in plan))
        for number, text in enumerate(texts):
            yield Subtask(id=f"todo:{number}", kind="todo", subject=text)
        if any(self.tests):
            yield Subtask(id="verify", kind="verify")
        if "submit" in self.ran:
            yield Subtask(id="submit", kind="submit")

    # --- edges -------------------------------------------------------------------------------------------------------

    def edges(self, nodes: tuple[Subtask, ...]) -> Iterator[Edge]:
        edits = [node for node in nodes if node.kind == "edit" and node.subject in self.first_write]
        edits.sort(key=lambda node: self.first_write[node.subject])
        if edits and self.ran.get("repro", 1 << 30) < self.first_write[edits[0].subject]:
            yield Edge(before="repro", after=edits[0].id)
        for package, index in sorted(self.installs.items()):
            used = next((node for node in edits if self.first_write[node.subject] > index), None)
            if used:
                yield Edge(before=f"install:{package}", after=used.id)
        for node in nodes:
            path = self._turned_by(node.subject) if node.kind == "test" else None
            if path is not None and any(edit.subject == path for edit in edits):
                yield Edge(before=f"edit:{path}", after=node.id)
        todos = [node.id for node in nodes if node.kind == "todo"]
        yield from (Edge(before=one, after=other, weak=True) for one, other in pairwise(todos))

    def _turned_by(self, name: str) -> str | None:
        """Return the one file that was changed between a test's failure and its first pass after it."""
        failed: int | None = None
        for index, found in enumerate(self.tests):
            if found.get(name) is False:
                failed = index
            elif found.get(name) and failed is not None:
                between = self.trajectory.steps[failed + 1 : index + 1]
                paths = {path for step in between for action in step.actions for path in action.writes}
                return paths.pop() if len(paths) == 1 else None
        return None

    # --- labels ------------------------------------------------------------------------------------------------------

    def statuses(self, nodes: tuple[Subtask, ...]) -> Iterator[tuple[SubtaskStatus, ...]]:
        last: dict[str, bool] = {}
        plan: dict[str, SubtaskStatus] = {}
        for k in range(len(self.trajectory.steps) + 1):
            if k:
                last.update(self.tests[k - 1])
                plan = self.plans[k - 1] or plan
            state = self.replay.changed(k)
            yield tuple(self._label(node, k, state, last, plan) for node in nodes)

    def _label(
        self, node: Subtask, k: int, state: dict[str, str], last: dict[str, bool], plan: dict[str, SubtaskStatus]
    ) -> SubtaskStatus:
        match node.kind:
            case "edit":
                return self._edit(node.subject, k, state)
            case "test":
                known = last.get(node.subject)
                return "todo" if known is None else "done" if known else "in_progress"
            case "install":
                return "done" if self.installs[node.subject] < k else "todo"
            case "todo":
                return plan.get(node.subject, "unknown")
            case "verify":
                return self._verified(k)
            case _:
                return "done" if self.ran[node.kind] < k else "todo"

    def _edit(self, path: str, k: int, state: dict[str, str]) -> SubtaskStatus:
        touched = self.first_write.get(path, 1 << 30) < k
        if not touched:
            return "todo"
        now, end = state.get(path), self.final.get(path)
        if now is not None and now != "?" and now == end:
            return "done"
        changed = self.replay.last_change(path)
        return "done" if changed is not None and changed < k else "in_progress"

    def _verified(self, k: int) -> SubtaskStatus:
        """Verified is a green run after the last edit that the work needed; a run before it was under way."""
        edits = [index for path in self.edited() if (index := self.replay.last_change(path)) is not None]
        begun = max(edits, default=-1)
        for index in range(begun + 1, k):
            if self.tests[index] and all(self.tests[index].values()):
                return "done"
        return "in_progress" if any(self.tests[:k]) else "todo"


def _plan(trajectory: Trajectory, index: int) -> dict[str, SubtaskStatus]:
    """Return the plan as a step states it, empty when it states none."""
    found: dict[str, SubtaskStatus] = {}
    for event in trajectory.steps[index].events:
        if isinstance(event, PlanUpdate) and event.items:
            found = {item.text: _PLAN[item.status] for item in event.items}
    return found
