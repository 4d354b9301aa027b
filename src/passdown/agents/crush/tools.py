"""Crush's tools (`internal/agent/tools/`): what a call does, and how it ended."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.dialogue import decoded, part_of, text_in
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome

ACTIONS: dict[str, Action] = {
    "bash": "run", "job_output": "other", "job_kill": "other", "edit": "edit", "multiedit": "edit", "write": "write",
    "view": "read", "grep": "search", "glob": "search", "ls": "search", "rg": "search", "sourcegraph": "search",
    "diagnostics": "search", "references": "search", "agent": "delegate", "agentic_fetch": "delegate",
    "fetch": "web", "download": "web", "web_fetch": "web", "web_search": "web", "todos": "plan",
}  # fmt: skip
PATHS = ("file_path", "path", "filePath")

_EXIT = lazy_pattern(r"(?m)^Exit code (-?\d{1,10})\s*(?:<cwd>[^<\n]{0,4096}</cwd>\s*)?\Z")
_DENIED = lazy_pattern(r"\A\s*(?:[Uu]ser denied permission|[Pp]ermission denied)\b")
_CANCELLED = lazy_pattern(r"\A\s*(?:Tool execution canceled by user|Request cancelled by user|context canceled)")


class Ending(NamedTuple):
    """How a call ended."""

    outcome: Outcome
    exit_code: int | None = None


def ending(tool: str, result: dict[str, Any]) -> Ending:
    """Return how a call ended. A command's exit code stands below its output, and only when it is not 0."""
    text, failed = text_in(result, "content"), result.get("is_error") is True
    if failed and _DENIED.search(text[:200]):
        return Ending("rejected")
    if failed and _CANCELLED.search(text[:200]):
        return Ending("interrupted")
    if ACTIONS.get(tool) != "run":
        return Ending("failed" if failed else "ok")
    if "Command was aborted before completion" in text[-600:]:
        return Ending("interrupted")
    if match := _EXIT.search(text[-5000:]):
        code = int(match[1])
        return Ending("failed" if code else "ok", code)
    metadata = part_of({"of": decoded(result.get("metadata"))}, "of")
    if metadata.get("background") is True and text_in(metadata, "shell_id"):
        return Ending("running")
    return Ending("failed") if failed else Ending("ok", 0)
