"""Pi's tools: what a call does, and how it ended. Pi reports both in text (`src/core/tools/bash.ts`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from passdown.agents.pi.records import DETAILS, Block, Details, Message, whole
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome, PlanItem

ACTIONS: dict[str, Action] = {
    "bash": "run", "edit": "edit", "write": "write", "read": "read",
    "ls": "search", "find": "search", "grep": "search", "multi_grep": "search",
    "subagent": "delegate", "task": "delegate", "agent": "delegate",
    "todo": "plan", "plan": "plan", "update_plan": "plan",
    "question": "ask", "questionnaire": "ask", "ask_user": "ask",
    "web_search": "web", "web_fetch": "web", "fetch": "web",
}  # fmt: skip
"""The built-in tools, and those of the extensions that ship with Pi."""

_EXIT = lazy_pattern(r"(?:\A|\n)Command exited with code (-?\d{1,10})\s*\Z")
_TIMEOUT = lazy_pattern(r"(?:\A|\n)Command timed out after \S+ seconds\s*\Z")
_REJECTED = lazy_pattern(
    r"\A(?:Blocked|Rejected|Denied|Declined|Cancelled) by (?:the )?user\b[.:,]?\s*"
    r"|\A(?:The )?[Uu]ser (?:rejected|denied|declined|blocked)\b[^\n:]{0,80}:?\s*"
)
_NO_DETAILS = Details()


class Ending(NamedTuple):
    """How a call ended, its exit code when known, and a person's words when they refused it."""

    outcome: Outcome
    exit_code: int | None = None
    reason: str = ""


def arguments_of(block: Block) -> dict[str, Any]:
    """Return a call's arguments; what is no object is kept under `input`."""
    if isinstance(block.arguments, dict):
        return block.arguments
    return {} if block.arguments is None else {"input": block.arguments}


def paths_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths a call names, as the agent wrote them."""
    for key in ("path", "file_path", "filePath"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
    return ()


def delegations(arguments: dict[str, Any]) -> list[tuple[str, str]]:
    """Return name and prompt of every subagent that a call of the subagent extension starts."""
    several = arguments.get("tasks") or arguments.get("chain")
    wanted = several if isinstance(several, list) else [arguments]
    found = []
    for item in wanted[:64]:
        if isinstance(item, dict):
            name, prompt = item.get("agent"), item.get("task") or item.get("prompt")
            found.append((name if isinstance(name, str) else "", prompt if isinstance(prompt, str) else ""))
    return found


def details_of(message: Message) -> Details:
    """Return what an extension added to a tool result, as far as it is understood."""
    raw = bytes(message.details)
    if b'"exitCode"' not in raw and b'"todos"' not in raw:
        return _NO_DETAILS
    try:
        return DETAILS.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _NO_DETAILS


def ending(message: Message, text: str) -> Ending:
    """Return how a call ended, from Pi's own words at the end of its output.

    The bash tool turns every non-zero exit into an error, so that its success is an exit of 0.
    """
    shell = message.tool_name == "bash"
    reported = whole(details_of(message).exit_code) if shell else None
    if not message.is_error:
        code = reported if reported is not None else 0 if shell else None
        return Ending("failed" if code else "ok", code)
    tail = text[-200:]
    if match := _EXIT.search(tail):
        return Ending("failed", int(match[1]))
    if _TIMEOUT.search(tail):
        return Ending("timeout")
    stripped = tail.rstrip()
    if stripped.endswith(("Command aborted", "Operation aborted")) or text.startswith("Skipped due to queued user"):
        return Ending("interrupted")
    if match := _REJECTED.match(text):
        return Ending("rejected", reason=text[match.end() :].strip())
    return Ending("failed", reported)


def plan_of(message: Message) -> tuple[PlanItem, ...] | None:
    """Return the todo list that a result of the todo extension carries, None when there is none."""
    todos = details_of(message).todos
    if todos is None:
        return None
    return tuple(PlanItem(text=todo.text, status="completed" if todo.done else "pending") for todo in todos)
