"""The reconstruction target: the state of the work as JSON, out of what was observed and nothing else."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.data.records import Cut, Graph, Snapshot, Subtask, SubtaskStatus, Volatile

QUESTION = (
    "Before you go on: state the present state of the work as JSON with the keys changed_files, cwd, done, "
    "in_progress, last_test_status, packages_delta, processes, tmp_files, todo. "
    'Write "unknown" where nothing was observed.'
)
_SHOWN = 200
_LISTS = {"packages_delta": "package", "processes": "process", "tmp_files": "tmp_file"}


def question(snapshot: Snapshot | None) -> str:
    """Return what is asked for, below what a look at the tree shows: it can tell what notes leave out or have wrong."""
    if snapshot is None:
        return QUESTION
    gone = [f"D\t{file.path}" for file in snapshot.delta if not file.blob and not _outside(file.path)]
    there = [f"?\t{path}" for path in _changed(snapshot) if f"D\t{path}" not in gone]
    shown = "\n".join(sorted([*gone, *there], key=lambda line: line[2:])[:_SHOWN]) or "(nothing)"
    return f"What differs from the base commit (D: gone, ?: new or changed):\n\n{shown}\n\n{QUESTION}"


def target(cut: Cut, graph: Graph, snapshot: Snapshot | None = None, *, notes: bool = True) -> str:
    """Return the canonical JSON (sorted keys) of the state at a cut; what nobody observed is "unknown".

    `snapshot` is the tree as the successor finds it, where that is not the cut's own. Without `notes` of the session
    before, only what a look at the tree tells can be known: to ask for more would teach to invent it.
    """
    labels = graph.statuses[cut.point.k] if cut.point.k < len(graph.statuses) else ()
    snapshot = snapshot or cut.snapshot
    observed = [one for one in (snapshot.volatile if snapshot else ()) if one.provenance == "observed"]
    installed = {one.key for one in observed if one.kind == "package"}
    known = [
        (node, label) for node, label in zip(graph.nodes, labels, strict=False)
        if node.kind != "install" or node.subject in installed
    ]  # fmt: skip
    state: dict[str, Any] = {
        status: sorted(_name(node) for node, label in known if _seen(node, label, status))
        for status in ("done", "in_progress", "todo")
    }
    state["changed_files"] = _changed(snapshot) if snapshot else "unknown"
    state["last_test_status"] = _tests(cut)
    state["cwd"] = next((one.value or one.key for one in reversed(observed) if one.kind == "cwd"), "unknown")
    for name, kind in _LISTS.items():
        state[name] = _values(observed, kind) or "unknown"
    if not notes:
        state = {name: value if name == "changed_files" else "unknown" for name, value in state.items()}
    return msgspec.json.encode(state, order="sorted").decode()


def _changed(snapshot: Snapshot) -> list[str]:
    paths = {*(file.path for file in snapshot.delta), *snapshot.dirty}
    return sorted(path for path in paths if not _outside(path))


def _outside(path: str) -> bool:
    return path.startswith(("/", "~"))


def _name(node: Subtask) -> str:
    """Return what a node is called in words that a successor can have read: an item of a plan has no number there."""
    return node.subject if node.kind == "todo" and node.subject else node.id


def _seen(node: Subtask, label: SubtaskStatus, status: str) -> bool:
    """Say whether a label may be asked for: edits are not, since only the end shows which of them were done.

    That a test is still to pass is known of the end as well; a test that passed was observed.
    """
    return label == status and (node.kind == "todo" or (node.kind in ("test", "install") and label == "done"))


def _values(observed: list[Volatile], kind: str) -> list[str]:
    return sorted({f"{one.key} {one.value}".strip() for one in observed if one.kind == kind})


def _tests(cut: Cut) -> str:
    """Return what the views state of the tests: the last observed result, as any of them has it."""
    results = [fact for view in cut.views for fact in view.facts if fact.type == "test_result"]
    known = [fact for fact in results if fact.status == "observed"]
    return max(known, key=lambda fact: fact.step).value if known else "unknown"
