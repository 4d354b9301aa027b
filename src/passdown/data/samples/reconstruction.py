"""The reconstruction target: the state of the work as JSON, out of what was observed and nothing else."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.data.records import Cut, Graph, Subtask, SubtaskStatus, Volatile

QUESTION = (
    "Before you go on: state the present state of the work as JSON with the keys changed_files, cwd, done, "
    "in_progress, last_test_status, packages_delta, processes, tmp_files, todo. "
    'Write "unknown" where nothing was observed.'
)
_LISTS = {"packages_delta": "package", "processes": "process", "tmp_files": "tmp_file"}


def target(cut: Cut, graph: Graph) -> str:
    """Return the canonical JSON (sorted keys) of the state at a cut; what nobody observed is "unknown"."""
    labels = graph.statuses[cut.point.k] if cut.point.k < len(graph.statuses) else ()
    state: dict[str, Any] = {
        status: sorted(node.id for node, label in zip(graph.nodes, labels, strict=False) if _seen(node, label, status))
        for status in ("done", "in_progress", "todo")
    }
    snapshot = cut.snapshot
    state["changed_files"] = (
        sorted({*(file.path for file in snapshot.delta), *snapshot.dirty}) if snapshot else "unknown"
    )
    state["last_test_status"] = _tests(cut)
    observed = [one for one in (snapshot.volatile if snapshot else ()) if one.provenance == "observed"]
    state["cwd"] = next((one.value or one.key for one in reversed(observed) if one.kind == "cwd"), "unknown")
    for name, kind in _LISTS.items():
        state[name] = _values(observed, kind) or "unknown"
    return msgspec.json.encode(state, order="sorted").decode()


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
