"""Cursor's tools, by their names of all ages: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome, PlanItem, PlanStatus

ACTIONS: dict[str, Action] = {
    "Shell": "run", "run_terminal_cmd": "run", "run_terminal_command": "run", "Bash": "run", "terminal": "run",
    "StrReplace": "edit", "search_replace": "edit", "edit_file": "edit", "Edit": "edit", "MultiEdit": "edit",
    "ApplyPatch": "edit", "apply_patch": "edit", "EditNotebook": "edit", "edit_notebook": "edit",
    "Write": "write", "write": "write", "create_file": "write", "Delete": "delete", "delete_file": "delete",
    "Read": "read", "read_file": "read", "ReadFile": "read", "ReadLints": "read", "read_lints": "read",
    "Grep": "search", "grep": "search", "Glob": "search", "glob_file_search": "search", "file_search": "search",
    "LS": "search", "list_dir": "search", "codebase_search": "search", "SemanticSearch": "search",
    "WebSearch": "web", "web_search": "web", "WebFetch": "web", "Task": "delegate", "Subagent": "delegate",
    "task": "delegate", "TodoWrite": "plan", "todo_write": "plan", "CreatePlan": "plan", "create_plan": "plan",
    "AskQuestion": "ask", "ask_question": "ask",
}  # fmt: skip
"""What each tool does. One that is not here (an MCP server's) is `other`."""

_STATUS: dict[str, PlanStatus] = {
    "pending": "pending", "in_progress": "in_progress", "completed": "completed", "cancelled": "cancelled",
}  # fmt: skip
_EXIT = lazy_pattern(r"(?mi)^(?:Exit code: |Command failed with exit code |The command exited with code )(-?\d{1,10})")
_REJECTED = lazy_pattern(
    r"(?i)(?:rejected|denied|declined|skipped) by (?:the )?user|user (?:chose to )?(?:rejected|reject|skip)"
)
_STOPPED = lazy_pattern(r"(?i)\b(?:aborted|interrupted|cancelled by the user)\b")
_TIMEOUT = lazy_pattern(r"(?i)timed out")
_BACKGROUND = lazy_pattern(r"(?i)(?:running|moved|started|continues?) (?:to run )?(?:in|to) (?:the )?background")
_PATCHED = lazy_pattern(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.{1,4096}?)[ \t\r]*$")


class Ending(NamedTuple):
    """How a call ended, and its exit code where the result says it."""

    outcome: Outcome
    exit_code: int | None = None


def paths_of(tool: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths a call names, as the agent wrote them."""
    if tool in ("ApplyPatch", "apply_patch"):
        patch = next((arguments[key] for key in ("patch", "input") if isinstance(arguments.get(key), str)), "")
        return tuple(dict.fromkeys(_PATCHED.findall(patch[:200_000])[:500]))
    for key in ("path", "file_path", "target_file", "target_notebook", "target_directory", "relative_workspace_path"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
    return ()


def ending(tool: str, text: str, *, error: bool) -> Ending:
    """Return how a call ended, from the text of its result. `error` is what the result itself says."""
    head = text[:1000]
    if error and _REJECTED.search(head):
        return Ending("rejected")
    if ACTIONS.get(tool) == "run":
        if (match := _EXIT.search(head) or _EXIT.search(text[-400:])) is not None:
            code = int(match[1])
            return Ending("failed" if code else "ok", code)
        if _REJECTED.search(head):
            return Ending("rejected")
        if _BACKGROUND.search(head):
            return Ending("running")
        if error:
            return Ending("timeout" if _TIMEOUT.search(head) else "interrupted" if _STOPPED.search(head) else "failed")
        return Ending("unknown")
    return Ending("failed" if error else "ok")


def todos(arguments: dict[str, Any], before: tuple[PlanItem, ...], ids: dict[str, int]) -> tuple[PlanItem, ...] | None:
    """Return the list after a call that writes it whole or, with `merge`, in part; None when it writes none.

    `ids` tells the places of the items by their ids, and is kept up to date.
    """
    listed = arguments.get("todos")
    if not isinstance(listed, list):
        return None
    items = list(before) if arguments.get("merge") is True else []
    if not items:
        ids.clear()
    for entry in listed[:500]:
        if not isinstance(entry, dict):
            continue
        name, text = str(entry.get("id", ""))[:80], entry.get("content")
        place = ids.get(name) if name else None
        known = items[place] if place is not None and place < len(items) else None
        status = _STATUS.get(str(entry.get("status")), known.status if known is not None else "pending")
        if known is not None and place is not None:
            items[place] = PlanItem(text=text if isinstance(text, str) and text else known.text, status=status)
        elif isinstance(text, str) and text and len(items) < 1000:
            if name:
                ids[name] = len(items)
            items.append(PlanItem(text=text, status=status))
    return tuple(items)
