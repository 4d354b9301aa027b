"""scope_contract.json (lessons 36 and 42), active or closed."""

from __future__ import annotations

from typing import Any

from passdown.model.workbench import Contract
from passdown.workbench.aliases import ALIASES
from passdown.workbench.document import Notes, quoted
from passdown.workbench.shapes import integer, record_of, text_of, texts_of

REQUIRED = ("task_id", "goal", "allowed_files", "forbidden_files", "acceptance_criteria", "rollback_plan")
"""What a complete contract holds."""


def is_contract(value: Any) -> bool:
    """Say whether a file under `closed/` is a contract: by its acceptance commands, which no report has."""
    return isinstance(value, dict) and (
        any(name in value for name in ALIASES["acceptance_criteria"]) or "allowed_files" in value
    )


def read_contract(value: Any, notes: Notes) -> Contract:
    """Return the contract, reporting what a complete one would have. Raises `MalformedError` for a null list."""
    record = record_of(value)
    missing = [name for name in REQUIRED if not any(alias in record for alias in ALIASES.get(name, (name,)))]
    rollback = text_of(record, "rollback_plan", notes)
    if not rollback.strip() and "rollback_plan" not in missing:
        missing.append("rollback_plan")
    if missing:
        notes.warn("contract.incomplete", f"lacks {', '.join(missing)}")
    return Contract(
        task_id=text_of(record, "task_id", notes).strip(),
        goal=text_of(record, "goal", notes),
        allowed_files=texts_of(record, "allowed_files", notes, null="refuse"),
        forbidden_files=texts_of(record, "forbidden_files", notes, null="refuse"),
        acceptance_criteria=texts_of(record, "acceptance_criteria", notes, null="refuse"),
        rollback_plan=rollback,
        approvals_required=texts_of(record, "approvals_required", notes),
        time_budget_minutes=_minutes(record, notes),
        network_egress=None if record.get("network_egress") is None else texts_of(record, "network_egress", notes),
        docs_paths_soft=texts_of(record, "docs_paths_soft", notes),
        branch=text_of(record, "branch", notes),
        path=notes.path,
    )


def _minutes(record: dict[str, Any], notes: Notes) -> int | None:
    value = record.get("time_budget_minutes")
    minutes = integer(value)
    if value is not None and (minutes is None or minutes < 0):
        notes.warn("artifact.bad_field", f"time_budget_minutes is no number of minutes: {quoted(value)}")
        return None
    return minutes
