"""Goose's tools, with or without the name of their extension before them: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.dialogue import number, part_of, text_in, text_of
from passdown.io.log import whole
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome

ACTIONS: dict[str, Action] = {
    "shell": "run", "edit": "edit", "edit_file": "edit", "write": "write", "write_file": "write", "read": "read",
    "read_file": "read", "view": "read", "load": "read", "tree": "search", "analyze": "search", "search": "search",
    "todo_write": "plan", "todo_read": "plan", "delegate": "delegate", "subagent": "delegate",
    "dynamic_task__create_task": "delegate", "subagent__execute_task": "delegate", "web_scrape": "web", "fetch": "web",
}  # fmt: skip
PATHS = ("path", "file_path", "paths")

_EDITOR: dict[str, Action] = {"view": "read", "write": "write", "create": "write", "undo_edit": "edit"}
_DECLINED = "The user has declined to run this tool"
_INTERRUPTED = lazy_pattern(r"(?i)interrupted by the user|tool call was cancelled|\bcancelled by (?:the )?user")
_TIMEOUT = lazy_pattern(r"(?i)\btimed out after \d")
_EXIT = lazy_pattern(r"(?i)\b(?:exit(?:ed)?(?: with)?(?: (?:code|status))?:?|with code) (-?\d{1,10})\b[^\n]{0,40}\s*\Z")


class Ending(NamedTuple):
    """How a call ended."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""


def bare(tool: str) -> str:
    """Return a tool's name without that of the extension it belongs to."""
    return tool if tool in ACTIONS else tool.rsplit("__", 1)[-1]


def action_of(tool: str, arguments: dict[str, Any]) -> Action:
    """Return what a call does; the text editor does what its `command` says."""
    name = bare(tool)
    if name == "text_editor":
        return _EDITOR.get(text_in(arguments, "command"), "edit")
    return ACTIONS.get(name, "other")


def ending(action: Action, result: Any) -> Ending:
    """Return how a call ended. `result` has a `status`, and a `value` (its content) or an `error`."""
    held = result if isinstance(result, dict) else {}
    if text_in(held, "status") == "error" or "error" in held:
        text = text_in(held, "error") or text_in(held.get("error"), "message")
        if _TIMEOUT.search(text[-400:]):
            return Ending("timeout", None, text)
        return Ending("interrupted" if _INTERRUPTED.search(text[:400]) else "failed", None, text)
    value = held.get("value", result)
    inner = value if isinstance(value, dict) else {}
    text = text_of(inner.get("content", value))
    if _DECLINED in text[:200]:
        return Ending("rejected", None, text)
    structured = part_of(inner, "structuredContent")
    code = whole(number(structured.get("exit_code", structured.get("exitCode"))))
    failed = inner.get("isError") is True or bool(structured.get("timed_out"))
    if action == "run":
        if code is None and (match := _EXIT.search(text[-300:])):
            code = int(match[1])
        if structured.get("timed_out") or (failed and _TIMEOUT.search(text[-400:])):
            return Ending("timeout", code, text)
        if code is None and not failed:
            return Ending("unknown", None, text)
    return Ending("failed" if failed or code else "ok", code, text)
