"""OpenHands' tools: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from passdown.agents.openhands.records import text_of
from passdown.io.log import whole
from passdown.model.session import Action, Outcome, PlanItem, PlanStatus

ACTIONS: dict[str, Action] = {
    "terminal": "run", "execute_bash": "run", "bash": "run", "run": "run", "execute_powershell": "run",
    "task_tracker": "plan", "task_tracking": "plan", "grep": "search", "glob": "search",
    "apply_patch": "edit", "edit": "edit", "edit_file": "edit", "write": "write", "read": "read",
    "task": "delegate", "delegate": "delegate", "browse": "web", "browse_interactive": "web", "fetch": "web",
}  # fmt: skip
_EDITORS = frozenset({"file_editor", "str_replace_editor", "planning_file_editor", "str_replace_based_edit_tool"})
_EDITS: dict[str, Action] = {
    "view": "read", "create": "write", "str_replace": "edit", "insert": "edit", "undo_edit": "edit",
}  # fmt: skip
_PLAN: dict[str, PlanStatus] = {"todo": "pending", "in_progress": "in_progress", "done": "completed"}


class Ending(NamedTuple):
    """How a call ended, its exit code when it is said, and the text the model saw."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""


def action_of(tool: str, arguments: dict[str, Any]) -> Action:
    """Return what a call does."""
    if tool in _EDITORS:
        return _EDITS.get(str(arguments.get("command")), "edit")
    if tool.startswith(("browser_", "tavily_")):
        return "web"
    return ACTIONS.get(tool, "other")


def arguments_of(action: Any, written: Any) -> dict[str, Any]:
    """Return a call's arguments: those it was run with, else those the model wrote."""
    if isinstance(action, dict):
        return {key: value for key, value in action.items() if key != "kind" and value is not None}
    if isinstance(written, str):
        try:
            written = msgspec.json.decode(written)
        except (msgspec.DecodeError, RecursionError):
            return {"input": written}
    return written if isinstance(written, dict) else {}


def command_of(action: Action, arguments: dict[str, Any]) -> str:
    """Return the shell text of a call that begins a command; input for a running one is none."""
    command = arguments.get("command")
    if action != "run" or arguments.get("is_input") in (True, "true") or not isinstance(command, str):
        return ""
    return command


def goes_on(tool: str, arguments: dict[str, Any]) -> bool:
    """Say whether a call goes on with the command that is running: it waits for it, or gives it input."""
    return action_of(tool, arguments) == "run" and not command_of("run", arguments).strip()


def paths_of(action: Action, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the path a call names, as the agent wrote it."""
    path = arguments.get("path") if action != "run" else None
    return (path,) if isinstance(path, str) and path else ()


def ending(observation: dict[str, Any]) -> Ending:
    """Return how a call ended, from the observation it left."""
    text = text_of(observation.get("content")) or text_of(observation.get("output"))
    failed = observation.get("is_error") is True
    if isinstance(error := observation.get("error"), str) and error:
        text, failed = text or error, True
    metadata = observation.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    code = _number(observation.get("exit_code", observation.get("exitCode")))
    code = _number(metadata.get("exit_code")) if code is None else code
    if code is not None and code < 0:
        suffix = metadata.get("suffix")
        return _unfinished(text + (suffix if isinstance(suffix, str) else ""), text, failed=failed)
    if code is not None:
        return Ending("failed" if code else "ok", code, text)
    return Ending("failed" if failed else "ok", None, text)


def _unfinished(said: str, text: str, *, failed: bool) -> Ending:
    """The code is -1 where a command has not come to its end, or never began."""
    tail = said[-1000:]
    if "timed out after" in tail:
        return Ending("timeout", None, text)
    if "has no new output after" in tail or "still running" in tail or "process is still" in tail:
        return Ending("running", None, text)
    return Ending("failed" if failed else "unknown", None, text)


def _number(value: Any) -> int | None:
    return whole(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def plan_of(tasks: Any) -> tuple[PlanItem, ...] | None:
    """Return the list of the task tracker, None when it is none."""
    if not isinstance(tasks, list):
        return None
    named = [(task.get("title"), str(task.get("status"))) for task in tasks[:500] if isinstance(task, dict)]
    return tuple(
        PlanItem(text=title, status=_PLAN.get(status, "pending")) for title, status in named if isinstance(title, str)
    )
