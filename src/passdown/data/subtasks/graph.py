"""The subtask graph of a trajectory, and the labels at every cut. No model, no guess: rules over actions and files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from passdown.data.records import Edge, Graph, Subtask, SubtaskStatus, Trajectory
from passdown.data.replay.showing import is_tree_diff
from passdown.data.replay.virtual import Replay
from passdown.data.subtasks.hunks import FEW, Hunk, hunks_between, hunks_of_patch, status_of
from passdown.data.subtasks.work import NEVER, Work
from passdown.model.session import PlanUpdate, ToolCall, ToolResult

_PLAN: dict[str, SubtaskStatus] = {
    "completed": "done", "in_progress": "in_progress", "pending": "todo", "cancelled": "unknown",
}  # fmt: skip


def subtasks(trajectory: Trajectory, replay: Replay) -> Graph:
    """Return nodes, edges and the labels after 0, 1, … all steps.

    What counts as an edit is the final patch where the source has one, else every file that the run left changed,
    without scratch files.
    """
    run = _Run(trajectory, replay)
    nodes = tuple(run.nodes())
    columns = [run.labels(node) for node in nodes]
    statuses = tuple(zip(*columns, strict=True)) if columns else ((),) * (run.count + 1)
    return Graph(nodes=nodes, edges=tuple(run.edges(nodes, columns)), statuses=statuses)


class _Run:
    def __init__(self, trajectory: Trajectory, replay: Replay) -> None:
        self.trajectory = trajectory
        self.replay = replay
        self.work = Work(trajectory, replay)
        self.count = len(trajectory.steps)
        self.plans = [_plan(trajectory, index) for index in range(self.count)]
        self.hunks = self._hunks()

    # --- nodes -------------------------------------------------------------------------------------------------------

    def _hunks(self) -> dict[str, tuple[Hunk, ...]]:
        """Return the hunks of the files that have more than a few."""
        patch = self.trajectory.outcome.patch
        found = hunks_of_patch(patch) if patch else {**self._shown(), **dict(self._compared())}
        return {path: hunks for path, hunks in found.items() if len(hunks) > FEW and path in self.work.edited}

    def _shown(self) -> dict[str, tuple[Hunk, ...]]:
        """Return the hunks of files that the run itself showed in a diff, and did not change after that."""
        found: dict[str, tuple[Hunk, ...]] = {}
        committed = False
        for step in self.trajectory.steps:
            calls = {event.call_id: event for event in step.events if isinstance(event, ToolCall)}
            results = {event.call_id: event for event in step.events if isinstance(event, ToolResult)}
            for action in step.actions:
                committed = committed or (action.kind == "VCS" and action.target == "commit")
                call, result = calls.get(action.call_id), results.get(action.call_id)
                if committed or call is None or result is None or not is_tree_diff(call, result, action):
                    continue
                found.update(
                    (path, hunks) for path, hunks in hunks_of_patch(result.text).items()
                    if max(self.work.touched.get(path, ()), default=-1) < step.idx
                )  # fmt: skip
        return found

    def _compared(self) -> Iterator[tuple[str, tuple[Hunk, ...]]]:
        for path in self.work.edited:
            before, after = self.replay.content(0, path), self.replay.content(self.count, path)
            if before and after:
                yield path, hunks_between(before.decode("utf-8", "replace"), after.decode("utf-8", "replace"))

    def nodes(self) -> Iterator[Subtask]:
        work = self.work
        if work.repro[0] < NEVER:
            yield Subtask(id="repro", kind="repro")
        for package in sorted(work.installs):
            yield Subtask(id=f"install:{package}", kind="install", subject=package)
        for path in work.edited:
            if path not in self.hunks:
                yield Subtask(id=f"edit:{path}", kind="edit", subject=path)
            for number in range(len(self.hunks.get(path, ()))):
                yield Subtask(id=f"edit:{path}#{number}", kind="edit", subject=path, hunk=number)
        wanted = list(self.trajectory.outcome.fail_to_pass)
        for name in wanted or sorted({name for found in work.tests for name in found}):
            yield Subtask(id=f"test:{name}", kind="test", subject=name)
        texts = list(dict.fromkeys(text for plan in self.plans for text in plan))
        for number, text in enumerate(texts):
            yield Subtask(id=f"todo:{number}", kind="todo", subject=text)
        if work.checks:
            yield Subtask(id="verify", kind="verify")
        if work.submits:
            yield Subtask(id="submit", kind="submit")

    # --- edges -------------------------------------------------------------------------------------------------------

    def edges(self, nodes: tuple[Subtask, ...], columns: list[list[SubtaskStatus]]) -> Iterator[Edge]:
        begun = {node.id: _begun(column) for node, column in zip(nodes, columns, strict=True)}
        edits = sorted((node for node in nodes if node.kind == "edit"), key=lambda node: begun[node.id])
        if edits and self.work.repro[0] < begun[edits[0].id] - 1 < NEVER - 1:
            yield Edge(before="repro", after=edits[0].id)
        for package, index in sorted(self.work.installs.items()):
            if used := self._first_use(index, edits, nodes):
                yield Edge(before=f"install:{package}", after=used)
        for node in nodes:
            path = self._turned_by(node.subject) if node.kind == "test" else None
            for edit in edits if path is not None else ():
                if edit.subject == path:
                    yield Edge(before=edit.id, after=node.id)
        todos = [node.id for node in nodes if node.kind == "todo"]
        yield from (Edge(before=one, after=other, weak=True) for one, other in pairwise(todos))

    def _first_use(self, index: int, edits: list[Subtask], nodes: tuple[Subtask, ...]) -> str:
        """Return the first subtask that was worked at after a package was there."""
        names = {node.id for node in nodes}
        for step in self.trajectory.steps[index + 1 :]:
            for action in step.actions:
                script = self.work.script(action)
                if "repro" in names and action.kind in ("RUN", "TEST") and self._reproduces(step.idx, script):
                    return "repro"
                if edit := next((node for node in edits if node.subject in action.writes), None):
                    return edit.id
                if (action.kind in ("TEST", "BUILD") or script) and "verify" in names:
                    return "verify"
        return ""

    def _reproduces(self, index: int, script: str) -> bool:
        """Say whether a step is the reproduction, or runs its script again."""
        first = self.work.repro[0]
        again = (self.work.script(action) for action in self.trajectory.steps[first].actions) if script else ()
        return index == first or script in again

    def _turned_by(self, name: str) -> str | None:
        """Return the one file that was changed between a test's failure and its first pass after it."""
        failed: int | None = None
        for index, found in enumerate(self.work.tests):
            if found.get(name) is False:
                failed = index
            elif found.get(name) and failed is not None:
                paths = {path for path in self.replay.versions if self._changed_between(path, failed, index)}
                work = paths - {path for path in paths if path in self.work.scratch and path not in self.work.edited}
                return work.pop() if len(work) == 1 else None
        return None

    def _changed_between(self, path: str, after: int, until: int) -> bool:
        return any(after < k - 1 <= until for k in self.replay.changes(path))

    # --- labels ------------------------------------------------------------------------------------------------------

    def labels(self, node: Subtask) -> list[SubtaskStatus]:
        """Return a node's label after 0, 1, … all steps."""
        work = self.work
        match node.kind:
            case "edit":
                return self._edit(node.subject, node.hunk)
            case "test":
                return self._test(node.subject)
            case "install":
                return self._from(work.installs[node.subject])
            case "todo":
                return self._todo(node.subject)
            case "verify":
                return [self._verified(k) for k in range(self.count + 1)]
            case "repro":
                return self._from(work.repro[0], work.repro[1])
            case "submit":
                return self._from(work.submits[-1], work.submits[0])

    def _from(self, done: int, begun: int = NEVER) -> list[SubtaskStatus]:
        return [
            "done" if k > done else "in_progress" if begun < min(k, done) else "todo" for k in range(self.count + 1)
        ]

    def _edit(self, path: str, hunk: int | None) -> list[SubtaskStatus]:
        changes = {index + 1 for index in self.work.touched[path]}
        changes.update(version.k for version in self.replay.versions.get(path, ()))
        found: list[SubtaskStatus] = []
        for k in range(self.count + 1):
            found.append(self._edit_at(path, hunk, k) if not found or k in changes else found[-1])
        return found

    def _edit_at(self, path: str, hunk: int | None, k: int) -> SubtaskStatus:
        touches = self.work.touched[path]
        if not touches or touches[0] >= k:
            return "todo"
        content = self.replay.content(k, path)
        if hunk is not None:
            hunks = self.hunks[path]
            if content is not None:
                return status_of(hunks, hunk, content.decode("utf-8", "replace").split("\n"))
            if known := self.replay.lines(k, path):
                return hunks[hunk].status_of_known(known, hunks)
        now, end = self.replay.changed(k).get(path), self.work.final.get(path)
        if (now is not None and now != "?" and now == end) or self.work.is_last_change(path, k):
            return "done"
        return "in_progress"

    def _test(self, name: str) -> list[SubtaskStatus]:
        found: list[SubtaskStatus] = ["todo"]
        for results in self.work.tests:
            known = results.get(name)
            found.append(found[-1] if known is None else "done" if known else "in_progress")
        return found

    def _todo(self, text: str) -> list[SubtaskStatus]:
        found: list[SubtaskStatus] = ["unknown"]
        for plan in self.plans:
            found.append(plan.get(text, "unknown") if plan else found[-1])
        return found

    def _verified(self, k: int) -> SubtaskStatus:
        """Verified is a check that went well, the last one after the last change; before that one was under way."""
        checks = [check for check in self.work.checks if check.step < k]
        after = [check for check in checks if check[:2] > self.work.last]
        if after:
            return "done" if after[-1].well else "in_progress"
        return "in_progress" if any(check.step >= self.work.first for check in checks) else "todo"


def _begun(column: list[SubtaskStatus]) -> int:
    """Return the first cut at which a subtask is under way or done."""
    return next((k for k, status in enumerate(column) if status in ("in_progress", "done")), NEVER)


def _plan(trajectory: Trajectory, index: int) -> dict[str, SubtaskStatus]:
    """Return the plan as a step states it, empty when it states none."""
    found: dict[str, SubtaskStatus] = {}
    for event in trajectory.steps[index].events:
        if isinstance(event, PlanUpdate) and event.items:
            found = {item.text: _PLAN[item.status] for item in event.items}
    return found
