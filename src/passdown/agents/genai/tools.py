"""The tools of Gemini CLI, and of Qwen Code, which grew out of it: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome, PlanItem, PlanStatus

ACTIONS: dict[str, Action] = {
    "run_shell_command": "run", "shell": "run", "replace": "edit", "edit": "edit", "smart_edit": "edit",
    "notebook_edit": "edit", "write_file": "write", "read_file": "read", "read_many_files": "read",
    "list_directory": "search", "glob": "search", "search_file_content": "search", "grep_search": "search",
    "ripgrep": "search", "lsp": "search", "tool_search": "search", "web_fetch": "web", "google_web_search": "web",
    "web_search": "web", "write_todos": "plan", "todo_write": "plan", "exit_plan_mode": "plan",
    "enter_plan_mode": "plan", "ask_user": "ask", "ask_user_question": "ask", "task": "delegate", "agent": "delegate",
    "delegate_to_agent": "delegate", "codebase_investigator": "delegate", "generalist": "delegate",
    "cli_help": "delegate", "browser_agent": "delegate", "invoke_agent": "delegate",
}  # fmt: skip

_PLAN: dict[str, PlanStatus] = {
    "pending": "pending", "in_progress": "in_progress", "completed": "completed", "cancelled": "cancelled",
    "blocked": "pending",
}  # fmt: skip
_EXIT = lazy_pattern(r"(?m)^Exit Code: (-?\d{1,10})[ \t\r]*$")
_TRAILER = ("Process Group PGID: ", "Background PIDs: ", "Signal: ", "Exit Code: ", "Error: ")
_OUTPUT = lazy_pattern(r"(?:<untrusted_context>\s*)?Output: ")
_HOOK = lazy_pattern(r"(?s)<hook_context>(?:(?!</?hook_context>).)*+</hook_context>")
_TIMEOUT = ("Command was automatically cancelled because it exceeded the timeout", "Command timed out after")
_REJECTED = lazy_pattern(
    r"\[Operation Cancelled\] Reason: User denied execution|User (?:did not allow|denied|rejected|declined)\b"
    r"|Tool execution denied by user|The user (?:denied|rejected|declined)\b"
)
_REASON = lazy_pattern(r"(?:[Ff]eedback|[Rr]eason given|[Uu]ser said): (.{1,2000})")
_BACKGROUND = lazy_pattern(
    r"(?:Command (?:moved to|started in|is running in) (?:the )?background|Background (?:command|shell) started)"
)


class Ending(NamedTuple):
    """How a call ended, its exit code when it is said, and a person's words when they refused it."""

    outcome: Outcome
    exit_code: int | None = None
    reason: str = ""


def arguments_of(arguments: Any) -> dict[str, Any]:
    """Return a call's arguments; what is no object is kept under `input`."""
    if isinstance(arguments, dict):
        return arguments
    return {} if arguments is None else {"input": arguments}


def paths_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths a call names, as the agent wrote them."""
    for key in ("file_path", "absolute_path", "path", "dir_path", "notebook_path", "paths", "include"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
        if isinstance(value, list):
            return tuple(item for item in value[:500] if isinstance(item, str))
    return ()


def said(response: Any) -> tuple[str, bool]:
    """Return the text of a function's response, and whether it is an error."""
    if isinstance(response, dict):
        if (error := response.get("error")) is not None:
            return (error if isinstance(error, str) else str(error)), True
        for key in ("output", "result", "content"):
            if isinstance(value := response.get(key), str):
                return value, False
        return "", False
    return (response, False) if isinstance(response, str) else ("", False)


def ending(tool: str, status: str, text: str, *, error: bool) -> Ending:
    """Return how a call ended. A command's own failure is no error of the tool: its exit code stands in the text."""
    if match := _REJECTED.search(text[:400]):
        reason = _REASON.search(text[match.end() : match.end() + 4000])
        return Ending("rejected", None, reason[1].strip() if reason else "")
    bare = _HOOK.sub("", text[:2000]) if len(text) <= 2000 else text[:2000]
    if any(mark in bare for mark in _TIMEOUT):
        return Ending("timeout")
    if status in ("cancelled", "canceled") or text.startswith(("[Operation Cancelled]", "Command was cancelled")):
        return Ending("interrupted")
    if ACTIONS.get(tool) == "run":
        if _BACKGROUND.search(bare):
            return Ending("running")
        return _of_command(text, failed=error or status == "error")
    return Ending("failed" if error or status == "error" else "ok")


def _of_command(text: str, *, failed: bool) -> Ending:
    tail = _HOOK.sub("\n", text[-6000:])[-1000:]
    trailer = _trailer(tail)
    codes = _EXIT.findall(trailer or tail)
    if codes:
        return Ending("failed" if int(codes[-1]) else "ok", int(codes[-1]))
    if "Signal: " in trailer and "Signal: (none)" not in trailer:
        return Ending("failed")
    # What begins in this way has its exit code written below it whenever that is not 0.
    return Ending("failed") if failed else Ending("ok", 0 if _OUTPUT.match(text) else None)


def _trailer(tail: str) -> str:
    """Return the lines that the program writes below a command's output."""
    lines = tail.rstrip().removesuffix("</untrusted_context>").rstrip().split("\n")
    start = len(lines)
    while start and lines[start - 1].startswith(_TRAILER):
        start -= 1
    return "\n".join(lines[start:])


def todos_of(arguments: dict[str, Any]) -> tuple[PlanItem, ...] | None:
    """Return the list that a call of the todo tool sets, None when it sets none."""
    todos = arguments.get("todos")
    if not isinstance(todos, list):
        return None
    items = []
    for todo in todos[:500]:
        if isinstance(todo, dict):
            text = todo.get("description") or todo.get("content") or todo.get("task")
            if isinstance(text, str):
                items.append(PlanItem(text=text, status=_PLAN.get(str(todo.get("status")), "pending")))
    return tuple(items)
