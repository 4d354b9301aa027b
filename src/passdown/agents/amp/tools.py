"""Amp's tools: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.dialogue import number, text_in, text_of
from passdown.io.log import whole
from passdown.model.session import Action, Outcome

ACTIONS: dict[str, Action] = {
    "Bash": "run", "shell_command": "run", "edit_file": "edit", "create_file": "write", "undo_edit": "edit",
    "apply_patch": "edit", "format_file": "edit", "multi_edit": "edit", "delete_file": "delete", "Read": "read",
    "look_at": "read", "Grep": "search", "glob": "search", "finder": "search", "codebase_search_agent": "search",
    "librarian": "search", "get_diagnostics": "search", "Task": "delegate", "oracle": "delegate", "todo_write": "plan",
    "todo_read": "plan", "read_web_page": "web", "web_search": "web",
}  # fmt: skip
PATHS = ("path", "file_path", "filePath", "paths", "files")

_STATUSES: dict[str, Outcome] = {
    "done": "ok", "error": "failed", "cancelled": "interrupted", "canceled": "interrupted",
    "rejected-by-user": "rejected", "in-progress": "running", "queued": "running",
}  # fmt: skip


class Ending(NamedTuple):
    """How a call ended."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""
    reason: str = ""


def ending(tool: str, run: Any) -> Ending:
    """Return how a call ended. `run` is what Amp keeps of it: `status`, and `result`, `error` or `progress`."""
    if not isinstance(run, dict):
        return Ending("unknown", None, text_of(run))
    outcome = _STATUSES.get(text_in(run, "status"), "unknown")
    result = run.get("result")
    code = None
    if isinstance(result, dict):
        code = whole(number(result.get("exitCode", result.get("exit_code"))))
    text = _shown(result) or _shown(run.get("error")) or _shown(run.get("progress"))
    if outcome == "ok" and code:
        outcome = "failed"
    elif outcome == "ok" and code is None and ACTIONS.get(tool) == "run":
        outcome = "unknown"
    return Ending(outcome, code, text, text_in(run, "reason", "toAllow") if outcome == "rejected" else "")


def _shown(value: Any) -> str:
    return text_in(value, "output", "content", "message", "text") or text_of(value)
