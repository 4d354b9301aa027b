"""The names a field goes by: the canonical one first, then what else the lessons and their readers write."""

from __future__ import annotations

from typing import Any, Final

ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "acceptance_criteria": ("acceptance_criteria", "acceptance", "acceptance_commands", "done_when"),
    "active_task_id": ("active_task_id", "task_id"),
    "task_id": ("task_id", "id", "active_task_id", "active", "feature_id"),
    "changed_files": ("changed_files", "touched", "touched_files", "files_touched", "edited_files"),
    "touched_files": ("touched_files", "touched", "files_touched", "edited_files", "changed_files"),
    "in_scope_writes": ("in_scope_writes", "in_scope"),
    "off_scope_writes": ("off_scope_writes", "off_scope", "files_outside_scope"),
    "soft_off_scope_writes": ("soft_off_scope_writes", "soft_off_scope"),
    "severity": ("severity", "violationSeverity", "status"),
    "passed": ("passed", "ok"),
    "reason": ("reason", "override_reason"),
    "why": ("why", "reason", "rationale"),
    "choice": ("choice", "decision"),
    "rejected": ("rejected", "rejected_options", "alternatives"),
    "user_id": ("user_id", "overridden_by"),
    "finding_code": ("finding_code", "code"),
    "blockers": ("blockers", "risks"),
    "next_action": ("next_action", "next_step", "nextAction"),
    "exit_code": ("exit_code", "returncode", "exit", "status"),
    "started_at": ("started_at", "ts", "timestamp", "written_at"),
    "goal": ("goal", "description", "title"),
    "slug": ("slug", "rule", "id"),
}
"""Canonical name to every accepted name, in order of preference."""

SEVERITIES: Final[dict[str, str]] = {
    "block": "block",
    "error": "block",
    "fail": "block",
    "warn": "warn",
    "warning": "warn",
    "info": "info",
    "pass": "",
}
"""A finding's severity as written to passdown's; empty drops the finding."""

STATUSES: Final[dict[str, str]] = {
    "todo": "todo",
    "pending": "todo",
    "in_progress": "in_progress",
    "done": "done",
    "completed": "done",
    "blocked": "blocked",
}
"""A task's status as written (lower case, underscores) to the board's four."""


def pick(record: dict[str, Any], name: str) -> tuple[str, Any]:
    """Return the name under which `record` holds the field, and its value; `("", None)` when it has none."""
    for alias in ALIASES.get(name, (name,)):
        if alias in record:
            return alias, record[alias]
    return "", None
