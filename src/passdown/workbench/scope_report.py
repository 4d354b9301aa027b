"""The scope report, in its full form and in the archived one (lesson 36), which has no list of forbidden writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from passdown.model.workbench import ScopeReport
from passdown.workbench.contract import is_contract
from passdown.workbench.document import Notes
from passdown.workbench.shapes import findings_of, flag, paths_of, record_of, text_of


def is_scope_report(value: Any) -> bool:
    """Say whether a file is a scope report: it has findings, or lists of writes, and is no contract."""
    if not isinstance(value, dict) or is_contract(value):
        return False
    return "findings" in value or any(name in value for name in ("forbidden_writes", "off_scope_writes", "off_scope"))


def read_scope_report(value: Any, notes: Notes, root: Path) -> ScopeReport:
    """Return the report. `forbidden_known` says whether it had a list of forbidden writes at all."""
    record = record_of(value)
    return ScopeReport(
        task_id=text_of(record, "task_id", notes).strip(),
        in_scope_writes=paths_of(record, "in_scope_writes", notes, root),
        off_scope_writes=paths_of(record, "off_scope_writes", notes, root),
        forbidden_writes=paths_of(record, "forbidden_writes", notes, root),
        soft_off_scope_writes=paths_of(record, "soft_off_scope_writes", notes, root),
        forbidden_known="forbidden_writes" in record,
        findings=findings_of(record, notes),
        passed=flag(record, "passed", notes),
        path=notes.path,
    )
