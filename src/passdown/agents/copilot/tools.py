"""Copilot's tools: what a call does, and how it ended. `success` is the tool's: a command's exit code is elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from passdown.agents.copilot.records import Ended, Problem
from passdown.io.log import whole
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome

ACTIONS: dict[str, Action] = {
    "bash": "run", "powershell": "run", "shell": "run", "local_shell": "run", "read_bash": "run",
    "read_powershell": "run", "write_bash": "run", "write_powershell": "run", "stop_bash": "other",
    "stop_powershell": "other", "list_bash": "other", "list_powershell": "other",
    "edit": "edit", "str_replace": "edit", "insert": "edit", "apply_patch": "edit", "multi_edit": "edit",
    "create": "write", "write": "write", "view": "read", "read_agent": "read", "show_file": "read",
    "grep": "search", "glob": "search", "rg": "search", "search_code": "search", "lsp": "search",
    "task": "delegate", "write_agent": "delegate", "update_todo": "plan", "exit_plan_mode": "plan",
    "ask_user": "ask", "web_fetch": "web", "web_search": "web", "fetch": "web",
}  # fmt: skip
"""The built-in tools. `sql` keeps the session's todo list, and is a plan only where it changes one."""

STARTS = frozenset({"bash", "powershell", "shell", "local_shell"})
"""The tools that begin a command. The others ask about one that runs."""

_EXIT = lazy_pattern(
    r"<(?:shellId: \S{1,80} completed|command with (?:shellId|id): \S{1,80} (?:completed|exited)|exited|completed)"
    r" with exit code (-?\d{1,10})>\s*\Z"
)
_RUNNING = lazy_pattern(
    r"<command (?:with (?:shellId|id): (\S{1,80}) is still running|started in (?:the )?(?:detached )?background with "
    r"(?:shellId|id): ([^\s>]{1,80}))[^>]*>\s*\Z"
)
_FEEDBACK = lazy_pattern(r"(?i)user(?:'s)? feedback:?\s*|the user (?:said|responded)[^:\n]{0,40}:\s*")
_PATCHED = lazy_pattern(
    r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.{1,4096}?)[ \t\r]*$|^\*\*\* Move to: (.{1,4096}?)[ \t\r]*$"
)


class Ending(NamedTuple):
    """How a call ended; `shell` names the command that is still running."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""
    reason: str = ""
    shell: str = ""


def arguments_of(arguments: Any) -> dict[str, Any]:
    """Return a call's arguments, which are an object, the JSON text of one, or the text of a patch."""
    if isinstance(arguments, dict):
        return arguments
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        try:
            decoded = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, RecursionError):
            decoded = None
        if isinstance(decoded, dict):
            return decoded
    return {} if arguments is None else {"input": arguments}


def paths_of(tool: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths a call names, as the agent wrote them."""
    if tool == "apply_patch":
        patch = arguments.get("input") or arguments.get("patch")
        named = _PATCHED.findall(patch[:200_000]) if isinstance(patch, str) else []
        return tuple(dict.fromkeys(named[:500]))
    for key in ("path", "file_path", "filePath", "paths"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
        if isinstance(value, list):
            return tuple(item for item in value[:500] if isinstance(item, str))
    return ()


def text_of(content: Any) -> str:
    """Return the text of a result, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [block.get("text") for block in content[:1000] if isinstance(block, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return ""


def ending(tool: str, ended: Ended, refusal: str | None) -> Ending:
    """Return how a call ended. `refusal` is what a person said when they were asked and said no, None otherwise."""
    text = text_of(ended.result.content) if ended.result is not None else ""
    problem = ended.error if isinstance(ended.error, Problem) else Problem(message=ended.error)
    if ended.success is False:
        text = text or problem.message or ""
        if refusal is not None or problem.code == "rejected":
            match = _FEEDBACK.search(text[:4000])
            said = refusal or (text[match.end() :].strip() if match else "")
            return Ending("rejected", None, text, said)
        if problem.code in ("aborted", "cancelled", "interrupted"):
            return Ending("interrupted", None, text)
        return Ending("timeout" if problem.code == "timeout" else "failed", None, text)
    if ACTIONS.get(tool) != "run":
        return Ending("unknown" if ended.success is None else "ok", None, text)
    return _command(tool, ended, text)


def _command(tool: str, ended: Ended, text: str) -> Ending:
    tail = text[-400:]
    if match := _RUNNING.search(tail):
        return Ending("running", None, text, shell=match[1] or match[2])
    code = whole(ended.shell_execution.exit_code) if ended.shell_execution is not None else None
    if code is None and ended.tool_telemetry is not None and ended.tool_telemetry.metrics is not None:
        code = whole(ended.tool_telemetry.metrics.exit_code)
    if code is None and (match := _EXIT.search(tail)):
        code = int(match[1])
    if code is None:
        # A tool that only asked about a command has done so; whether a command of its own went well is not said.
        return Ending("unknown" if tool in STARTS else "ok", None, text)
    return Ending("failed" if code else "ok", code, text)
