"""The reconstruction target: the state of the work as JSON, out of what was observed and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from passdown.data.perturb.notes import SHORTEST, mentions
from passdown.data.records import Cut, Fact, Graph, Snapshot, Subtask, SubtaskStatus, Truth, View
from passdown.data.replay.snapshot import is_outside
from passdown.data.views.facts import KEY
from passdown.data.views.preamble import parts
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line

QUESTION = (
    "Before you go on: state the present state of the work as JSON with the keys changed_files, cwd, done, "
    "in_progress, last_test_status, packages_delta, processes, tmp_files, todo. "
    'Write "unknown" where nothing was observed.'
)
_SHOWN = 200
_EARLIER, _ASKED = frozenset({"stale_note", "truncate_trace"}), frozenset({"todo", "test_result"})
_PLAN: dict[SubtaskStatus, str] = {"done": "completed", "in_progress": "in_progress", "todo": "pending"}
_INTO = lazy_pattern(r"^cd [^&;|\n]+ && ")
_LISTS = {"packages_delta": "package", "processes": "process", "tmp_files": "tmp_file"}


def question(snapshot: Snapshot | None) -> str:
    """Return what is asked for, below what a look at the tree shows: it can tell what notes leave out or have wrong."""
    if snapshot is None:
        return QUESTION
    gone = [f"D\t{file.path}" for file in snapshot.delta if not file.blob and not is_outside(file.path)]
    there = [f"?\t{path}" for path in _changed(snapshot) if f"D\t{path}" not in gone]
    shown = "\n".join(sorted([*gone, *there], key=lambda line: line[2:])[:_SHOWN]) or "(nothing)"
    return f"What differs from the base commit (D: gone, ?: new or changed):\n\n{shown}\n\n{QUESTION}"


def target(cut: Cut, graph: Graph, snapshot: Snapshot | None = None, view: View | None = None) -> str:
    """Return the canonical JSON (sorted keys) of the state at a cut; what nobody observed is "unknown".

    `snapshot` is the tree as the successor finds it, where that is not the cut's own. With a `view`, what its notes do
    not tell and no look at the tree shows is "unknown" as well: to ask for it would teach to invent it.
    """
    told = _Told(view)
    snapshot = snapshot or cut.snapshot
    observed = [one for one in (snapshot.volatile if snapshot else ()) if one.provenance == "observed"]
    installed = {one.key for one in observed if one.kind == "package"}
    known = [
        (node, label) for node, label in _labels(cut, graph)
        if (node.kind != "install" or node.subject in installed) and told.holds(node, label)
    ]  # fmt: skip
    items = {
        status: sorted(_name(node) for node, label in known if _seen(node, label, status))
        for status in ("done", "in_progress", "todo")
    }
    state: dict[str, Any] = items if told.all or any(items.values()) else dict.fromkeys(items, "unknown")
    state["changed_files"] = _changed(snapshot) if snapshot else "unknown"
    state["last_test_status"] = told.shortened(told.result() if not told.all else _tests(cut)) or "unknown"
    cwd = next((one.value or one.key for one in reversed(observed) if one.kind == "cwd"), "")
    state["cwd"] = cwd if cwd and told.names(cwd) else "unknown"
    for name, kind in _LISTS.items():
        known_by = [(one, told.shown(one.key)) for one in observed if one.kind == kind]
        state[name] = sorted({f"{key} {one.value}".strip() for one, key in known_by if key}) or "unknown"
    return msgspec.json.encode(state, order="sorted").decode()


def contradicts(view: View, cut: Cut, graph: Graph, truths: Iterable[Truth] = ()) -> bool:
    """Say whether a view's notes tell another state than the true one, of what no look at the tree shows.

    Nobody could then answer: to learn the true answer would be to learn to guess against the notes. `truths` are the
    answer keys of what was done to them: notes that end early still tell how things stood before.
    """
    if any(truth.op in _EARLIER and any(fact.type in _ASKED for fact in truth.facts_removed) for truth in truths):
        return True
    told = _Told(view)
    if told.result() and told.result() != _tests(cut):
        return True
    plan = {fact.key: fact.value for fact in view.facts if fact.type == "todo"}
    return any(
        node.kind == "todo" and plan.get(one_line(node.subject, KEY), _PLAN.get(label)) != _PLAN.get(label)
        for node, label in _labels(cut, graph)
    )


def tells_more(view: View) -> bool:
    """Say whether the notes of a view can tell more of the state than a look at the tree shows."""
    return view.name != "repo" and any(fact.type in ("todo", "test_result", "env") for fact in view.facts)


def shows_changes(snapshot: Snapshot | None) -> bool:
    """Say whether a look at the tree shows that anything was changed."""
    return snapshot is not None and bool(_changed(snapshot))


class _Told:
    """What the notes of a view tell. Without a view everything is told."""

    def __init__(self, view: View | None) -> None:
        self.all = view is None
        self._notes = parts(view.text).notes if view is not None else ""
        self._facts = view.facts if view is not None and view.name != "repo" else ()

    def names(self, text: str) -> bool:
        """Say whether the notes name something. That the shell is at the top of the tree is nowhere told."""
        return self.all or (len(text) >= SHORTEST and mentions(self._notes, text))

    def shown(self, key: str) -> str:
        """Return how the notes name something, empty where they do not: of a command they leave out its `cd`."""
        return next((way for way in (key, _INTO.sub("", key)) if self.names(way)), "")

    def holds(self, node: Subtask, label: SubtaskStatus) -> bool:
        """Say whether the notes state what became of a subtask: of a plan's item by its own state."""
        if self.all or node.kind != "todo":
            return self.names(node.subject or node.id)
        return self.plan.get(one_line(node.subject, KEY)) == _PLAN.get(label)

    @cached_property
    def plan(self) -> dict[str, str]:
        """Return the items of a plan that the notes state, with the state of each."""
        return {fact.key: fact.value for fact in self._facts if fact.type == "todo" and self.names(fact.key)}

    def result(self) -> str:
        """Return the last result of tests that the notes state, empty when there is none."""
        return _last(self._facts)

    def shortened(self, result: str) -> str:
        """Return a result without the details that the notes do not have."""
        word, _, detail = result.partition(": ")
        return result if not detail or self.names(detail) else word


def _labels(cut: Cut, graph: Graph) -> list[tuple[Subtask, SubtaskStatus]]:
    labels = graph.statuses[cut.point.k] if cut.point.k < len(graph.statuses) else ()
    return list(zip(graph.nodes, labels, strict=False))


def _changed(snapshot: Snapshot) -> list[str]:
    paths = {*(file.path for file in snapshot.delta), *snapshot.dirty}
    return sorted(path for path in paths if not is_outside(path))


def _name(node: Subtask) -> str:
    """Return what a node is called in words that a successor can have read: an item of a plan has no number there."""
    return node.subject if node.kind == "todo" and node.subject else node.id


def _seen(node: Subtask, label: SubtaskStatus, status: str) -> bool:
    """Say whether a label may be asked for: edits are not, since only the end shows which of them were done.

    That a test is still to pass is known of the end as well; a test that passed was observed.
    """
    return label == status and (node.kind == "todo" or (node.kind in ("test", "install") and label == "done"))


def _tests(cut: Cut) -> str:
    """Return what the views state of the tests: the last observed result, as any of them has it; empty without one."""
    return _last(fact for view in cut.views for fact in view.facts)


def _last(facts: Iterable[Fact]) -> str:
    results = [fact for fact in facts if fact.type == "test_result" and fact.status == "observed"]
    return max(results, key=lambda fact: fact.step).value if results else ""
