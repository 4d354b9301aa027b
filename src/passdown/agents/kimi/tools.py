"""Kimi's tools, of both programs: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome, PlanItem, PlanStatus

ACTIONS: dict[str, Action] = {
    "Bash": "run", "Shell": "run", "CMD": "run", "Edit": "edit", "StrReplaceFile": "edit", "PatchFile": "edit",
    "Write": "write", "WriteFile": "write", "Read": "read", "ReadFile": "read", "ReadMediaFile": "read",
    "Grep": "search", "Glob": "search", "WebSearch": "web", "SearchWeb": "web", "FetchURL": "web",
    "TodoList": "plan", "SetTodoList": "plan", "EnterPlanMode": "plan", "ExitPlanMode": "plan",
    "Agent": "delegate", "AgentSwarm": "delegate", "Task": "delegate", "AskUserQuestion": "ask",
}  # fmt: skip
"""What each tool does. One that is not here (an MCP server's, a skill) is `other`."""

DELEGATES = frozenset({"Agent", "AgentSwarm", "Task"})
_STATUS: dict[str, PlanStatus] = {
    "pending": "pending", "todo": "pending", "in_progress": "in_progress", "done": "completed",
    "completed": "completed", "cancelled": "cancelled",
}  # fmt: skip
_EXIT = lazy_pattern(r"(?:Command failed with exit code: |Process exited with code )(-?\d{1,10})")
_TIMEOUT = "killed by timeout"
_STOPPED = ("Interrupted by user", "Aborted", "Tool execution was interrupted", "Tool call was interrupted")
_REJECTED = lazy_pattern(r"(?i)rejected by (?:the )?user|user (?:has )?rejected|the user denied")
_REASON = lazy_pattern(r"(?i)(?:user(?:'s)? feedback|the user said)[:\s]\s*(.{1,4000})", 16)
_RUNNING = lazy_pattern(r"(?m)^task_id: ([\w.-]{1,128})\s*$")
_GOES_ON = lazy_pattern(r"(?m)^status: (?:running|pending|started)\s*$|Background task started|moved to background")


class Ending(NamedTuple):
    """How a call ended; `task` names the background task that goes on."""

    outcome: Outcome
    exit_code: int | None = None
    reason: str = ""
    task: str = ""


def arguments_of(arguments: Any) -> dict[str, Any]:
    """Return a call's arguments, which are an object or the JSON text of one."""
    if isinstance(arguments, dict):
        return arguments
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        try:
            decoded = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            decoded = None
        if isinstance(decoded, dict):
            return decoded
    return {} if arguments in (None, "") else {"input": arguments}


def paths_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the path a call names, as the agent wrote it."""
    for key in ("path", "file_path", "directory"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
    return ()


def ending(tool: str, text: str, *, error: bool, refusal: str | None) -> Ending:
    """Return how a call ended. `refusal` is what a person said when they refused it, None when they did not."""
    head, tail = text[:1000], text[-1000:]
    if refusal is not None or (error and _REJECTED.search(head)):
        found = None if refusal else _REASON.search(head)
        return Ending("rejected", None, refusal or (found[1].strip() if found else ""))
    if not error:
        if tool in ("Bash", "Shell", *DELEGATES) and _GOES_ON.search(head) and (task := _RUNNING.search(head)):
            return Ending("running", task=task[1])
        return Ending("ok", 0 if ACTIONS.get(tool) == "run" else None)
    if ACTIONS.get(tool) == "run":
        if _TIMEOUT in tail:
            return Ending("timeout")
        if codes := _EXIT.findall(tail) or _EXIT.findall(head):
            return Ending("failed", int(codes[-1]))
    if any(mark in tail or head.startswith(mark) for mark in _STOPPED):
        return Ending("interrupted")
    return Ending("failed")


def todos(value: Any) -> tuple[PlanItem, ...] | None:
    """Return a todo list, None when it is none."""
    if not isinstance(value, list):
        return None
    items = []
    for entry in value[:500]:
        if isinstance(entry, dict):
            title = entry.get("title", entry.get("content"))
            if isinstance(title, str):
                items.append(PlanItem(text=title, status=_STATUS.get(str(entry.get("status")), "pending")))
    return tuple(items)
