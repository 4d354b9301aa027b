"""Droid's tools: what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome, PlanItem, PlanStatus

ACTIONS: dict[str, Action] = {
    "Execute": "run", "Shell": "run", "Bash": "run", "Edit": "edit", "MultiEdit": "edit", "ApplyPatch": "edit",
    "Create": "write", "Write": "write", "Read": "read", "view_file": "read", "LS": "search", "Grep": "search",
    "Glob": "search", "WebSearch": "web", "FetchUrl": "web", "TodoWrite": "plan", "ExitSpecMode": "plan",
    "Task": "delegate", "AskUser": "ask",
}  # fmt: skip
"""What each tool does. One that is not here (an MCP server's, a skill) is `other`."""

_STATUS: dict[str, PlanStatus] = {
    "pending": "pending", "in_progress": "in_progress", "completed": "completed", "cancelled": "cancelled",
}  # fmt: skip
_TODO = lazy_pattern(r"(?m)^[ \t]*(?:\d{1,4}\.|[-*])[ \t]*\[([a-z_ x]{0,20})\][ \t]*(\S.{0,2000})$")
_EXIT = lazy_pattern(r"(?:\(exit code: |[Ee]xit code:? |exited with code )(-?\d{1,10})")
_TIMEOUT = lazy_pattern(r"(?i)timed out|timeout exceeded")
_STOPPED = lazy_pattern(
    r"(?i)(?:request|tool|execution|operation|command)[^.\n]{0,40} (?:was )?(?:cancelled|canceled|aborted|interrupted)"
)
_REJECTED = lazy_pattern(
    r"(?i)(?:rejected|denied|declined|cancelled) by (?:the )?user|user (?:rejected|denied|declined|cancelled)"
)
_REASON = lazy_pattern(r"(?i)(?:feedback|reason|user said):[ \t]*(\S.{0,4000})", 16)
_PATCHED = lazy_pattern(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.{1,4096}?)[ \t\r]*$")


class Ending(NamedTuple):
    """How a call ended, the exit code when it is said, and a person's words when they refused it."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""
    reason: str = ""


def paths_of(tool: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths a call names, as the agent wrote them."""
    if tool == "ApplyPatch":
        patch = arguments.get("input", arguments.get("patch"))
        return tuple(dict.fromkeys(_PATCHED.findall(patch[:200_000])[:500])) if isinstance(patch, str) else ()
    for key in ("file_path", "path", "directory_path", "folder"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
    return ()


def text_of(content: Any) -> str:
    """Return the text of a result, which is a string, a list of blocks, or what a command left."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        found = [block.get("text") for block in content[:1000] if isinstance(block, dict)]
        return "\n".join(text for text in found if isinstance(text, str))
    if isinstance(content, dict):
        parts = [content.get(key) for key in ("stdout", "stderr", "output", "text", "message", "content")]
        return "\n".join(part for part in parts if isinstance(part, str) and part)
    return ""


def ending(tool: str, content: Any, *, error: bool) -> Ending:
    """Return how a call ended, from what came back."""
    text = text_of(content)
    shell = ACTIONS.get(tool) == "run"
    code = content.get("exitCode", content.get("exit_code")) if isinstance(content, dict) else None
    if isinstance(code, int) and not isinstance(code, bool):
        return Ending("failed" if code else "ok", code, text)
    head = text[:400]
    said = error or head.startswith(("Error:", "Error "))
    if said and _REJECTED.search(head):
        found = _REASON.search(text[:4000])
        return Ending("rejected", None, text, found[1].strip() if found else "")
    if shell and (codes := _EXIT.findall(head if said else text[-400:])):
        number = int(codes[0] if said else codes[-1])
        return Ending("failed" if number else "ok", number, text)
    if not said:
        return Ending("ok", None, text)
    if shell and _TIMEOUT.search(head):
        return Ending("timeout", None, text)
    return Ending("interrupted" if _STOPPED.search(head) else "failed", None, text)


def todos(value: Any) -> tuple[PlanItem, ...] | None:
    """Return a todo list, which is a list of items or a numbered text, None when it is none."""
    if isinstance(value, dict):
        value = value.get("todos")
    if isinstance(value, str):
        return (
            tuple(
                PlanItem(text=text.strip(), status="completed" if mark.strip() == "x" else _STATUS.get(mark, "pending"))
                for mark, text in _TODO.findall(value[:200_000])[:500]
            )
            or None
        )
    if not isinstance(value, list):
        return None
    named = [
        (item.get("content", item.get("text")), str(item.get("status")))
        for item in value[:500]
        if isinstance(item, dict)
    ]
    return tuple(
        PlanItem(text=text, status=_STATUS.get(status, "pending")) for text, status in named if isinstance(text, str)
    )
