"""Hermes' tools: what a call does, and how it ended. Results are JSON texts."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.dialogue import decoded, number, text_in
from passdown.io.log import whole
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome

ACTIONS: dict[str, Action] = {
    "terminal": "run", "execute_code": "other", "process": "other", "write_file": "write", "patch": "edit",
    "read_file": "read", "search_files": "search", "session_search": "search", "todo": "plan",
    "delegate_task": "delegate", "clarify": "ask", "web_search": "web", "web_extract": "web",
}  # fmt: skip
PATHS = ("path", "file_path", "paths")

_DENIED = lazy_pattern(r"(?i)\b(?:denied|rejected|declined) by (?:the )?user\b|\buser (?:denied|rejected|declined)\b")
_TIMEOUT = lazy_pattern(r"(?i)\btimed out after \d")
_INTERRUPTED = lazy_pattern(r"(?i)\[(?:command|tool execution|operation) (?:was )?(?:interrupted|cancelled|skipped)")


class Ending(NamedTuple):
    """How a call ended; `text` is what the tool put out."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""


def ending(tool: str, content: str) -> Ending:
    """Return how a call ended."""
    result: Any = decoded(content) if content.lstrip().startswith("{") else None
    if not isinstance(result, dict):
        if _INTERRUPTED.search(content[:400]):
            return Ending("interrupted", None, content)
        return Ending("unknown" if ACTIONS.get(tool) == "run" else "ok", None, content)
    error = text_in(result, "error")
    text = text_in(result, "output", "content", "result") or error or content
    if _DENIED.search(error[:1000]):
        return Ending("rejected", None, text)
    code = whole(number(result.get("exit_code", result.get("returncode"))))
    if _INTERRUPTED.search(text[-400:]) or result.get("status") == "interrupted":
        return Ending("interrupted", code, text)
    if ACTIONS.get(tool) == "run":
        return _command(result, code, text, error)
    failed = bool(error) or result.get("success") is False or bool(code)
    return Ending("failed" if failed else "ok", code, text)


def _command(result: dict[str, Any], code: int | None, text: str, error: str) -> Ending:
    if code == 124 and _TIMEOUT.search(text[-400:] + error[:400]):
        return Ending("timeout", code, text)
    if "session_id" in result and "pid" in result:
        return Ending("running", None, text)
    if code is None:
        return Ending("failed" if error else "unknown", None, text)
    return Ending("failed" if code else "ok", code, text)
