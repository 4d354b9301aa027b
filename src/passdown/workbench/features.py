"""feature_list.json (lesson 36), and the list of features with `passes` that Anthropic's harness article keeps."""

from __future__ import annotations

from typing import Any

from passdown.model.workbench import Task
from passdown.workbench.board import read_tasks, report_active
from passdown.workbench.document import MalformedError, Notes, kind_of, quoted
from passdown.workbench.shapes import text_of


def read_features(value: Any, notes: Notes) -> tuple[tuple[Task, ...], str]:
    """Return the features and the id of the active one. Raises `MalformedError` when there is no list of features."""
    record = value if isinstance(value, dict) else {}
    entries = record.get("features") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise MalformedError("artifact.bad_shape", f"must hold a list of features, but that is {kind_of(entries)}")
    harness = all(isinstance(entry, dict) and "passes" in entry for entry in entries)
    features = read_tasks(entries, notes, ids_expected=not harness)
    report_active(features, notes, "block")
    active = text_of(record, "active", notes).strip()
    if active and active not in {feature.id for feature in features}:
        notes.warn("features.unknown_active", f"the active feature {quoted(active)} is not in the list")
    return features, active
