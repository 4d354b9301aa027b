"""Claude Code's tools: what each does, its command and its paths."""

from __future__ import annotations

from typing import Any

from passdown.model.session import Action

ACTIONS: dict[str, Action] = {
    "Bash": "run", "PowerShell": "run", "bash": "run",
    "Edit": "edit", "MultiEdit": "edit", "NotebookEdit": "edit",
    "Write": "write",
    "Read": "read", "NotebookRead": "read",
    "Grep": "search", "Glob": "search", "LS": "search",
    "Task": "delegate", "Agent": "delegate",
    "TodoWrite": "plan", "TaskCreate": "plan", "TaskUpdate": "plan", "TaskList": "plan", "TaskGet": "plan",
    "TodoRead": "plan", "ExitPlanMode": "plan", "exit_plan_mode": "plan", "EnterPlanMode": "plan",
    "WebFetch": "web", "WebSearch": "web",
    "AskUserQuestion": "ask",
}  # fmt: skip
"""What each tool does. A tool that is not here (one of an MCP server, a skill) is `other`."""

PLAN_TOOLS = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})
EXIT_PLAN = frozenset({"ExitPlanMode", "exit_plan_mode"})


def paths_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the files and folders a call names, as the agent wrote them."""
    values = [arguments[name] for name in ("file_path", "notebook_path", "path") if name in arguments]
    return tuple(value for value in values if isinstance(value, str) and value) if values else ()


def command_of(arguments: dict[str, Any]) -> str:
    """Return a shell call's command line."""
    command = arguments.get("command")
    return command if isinstance(command, str) else ""
