"""OpenCode's tools: what a call does, and how it ended (`packages/opencode/src/tool/`)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from passdown.agents.opencode.records import BAD, METADATA, Metadata, State, Todo, whole
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome, PlanItem, PlanStatus

ACTIONS: dict[str, Action] = {
    "bash": "run", "shell": "run",
    "edit": "edit", "multiedit": "edit", "patch": "edit", "apply_patch": "edit", "write": "write",
    "read": "read", "glob": "search", "grep": "search", "list": "search", "lsp": "search", "codesearch": "search",
    "todowrite": "plan", "todoread": "plan", "plan_enter": "plan", "plan_exit": "plan",
    "task": "delegate", "question": "ask", "webfetch": "web", "websearch": "web",
}  # fmt: skip

_PATCHED = lazy_pattern(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_MOVED = lazy_pattern(r"^\*\*\* Move to: (.+)$", re.MULTILINE)
_REJECTED = lazy_pattern(
    r"The user rejected permission|The user has specified a rule which prevents|The user dismissed"
    r"|\b[Uu]ser (?:rejected|denied|declined)\b|\A(?:Rejected|Denied) by (?:the )?user"
)
_FEEDBACK = lazy_pattern(r"with (?:the following )?feedback: ", re.IGNORECASE)
_TIMEOUT = lazy_pattern(r"terminated command after exceeding timeout|\btimed out after \d")
_STATUSES: dict[str, PlanStatus] = {
    "pending": "pending", "in_progress": "in_progress", "completed": "completed", "cancelled": "cancelled",
}  # fmt: skip
_NO_METADATA = Metadata()


class Ending(NamedTuple):
    """How a call ended, its exit code when reported, and a person's words when they refused it."""

    outcome: Outcome
    exit_code: int | None = None
    reason: str = ""


def action_of(tool: str, arguments: dict[str, Any]) -> Action:
    """Return what a call does; a patch that only deletes files is a deletion."""
    action = ACTIONS.get(tool, "other")
    if tool == "apply_patch" and (found := _PATCHED.findall(_patch(arguments))):
        kinds = {kind for kind, _ in found}
        return "delete" if kinds == {"Delete"} else "write" if kinds == {"Add"} else "edit"
    return action


def arguments_of(state: State) -> dict[str, Any]:
    """Return a call's arguments; what is no object is kept under `input`."""
    if isinstance(state.input, dict):
        return state.input
    return {} if state.input is None else {"input": state.input}


def _patch(arguments: dict[str, Any]) -> str:
    text = arguments.get("patchText")
    return text if isinstance(text, str) else ""


def paths_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the paths a call names, as the agent wrote them."""
    if patch := _patch(arguments):
        paths = [path.strip() for _, path in _PATCHED.findall(patch)]
        return tuple(dict.fromkeys(paths + [path.strip() for path in _MOVED.findall(patch)]))
    for key in ("filePath", "path", "filepath"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
    return ()


def metadata_of(state: State) -> Metadata:
    """Return what the tool added to its result, as far as it is understood."""
    raw = bytes(state.metadata)
    if len(raw) < 3:
        return _NO_METADATA
    try:
        return METADATA.decode(raw)
    except BAD:
        return _NO_METADATA


def changed_paths(metadata: Metadata) -> tuple[str, ...]:
    """Return the files that the result itself says were changed."""
    files = [item.relative_path or item.file_path for item in metadata.files or ()]
    return tuple(path for path in [metadata.filepath, *files] if path)


def ending(tool: str, state: State, metadata: Metadata, *, closed: bool) -> Ending | None:
    """Return how a call ended, None when nothing came back.

    A command that fails is `completed` all the same, and one that ran out of time has no exit code. `closed` says that
    the answer around the call is over, so that a call still running in it was cut off.
    """
    if state.status == "running":
        return Ending("interrupted" if closed else "running")
    if state.status == "error":
        return _error(state.error or "", metadata)
    if state.status != "completed":
        return Ending("interrupted") if closed and state.status == "pending" else None
    code = whole(metadata.exit)
    if ACTIONS.get(tool) == "run":
        tail = (state.output or "")[-600:]
        if code is None or code:
            if _TIMEOUT.search(tail):
                return Ending("timeout", code)
            if "User aborted the command" in tail:
                return Ending("interrupted", code)
        if code is None:
            return Ending("unknown")
    if code or tool == "invalid":
        return Ending("failed", code)
    return Ending("ok", code)


def _error(text: str, metadata: Metadata) -> Ending:
    code = whole(metadata.exit)
    if _REJECTED.search(text[:2000]):
        feedback = _FEEDBACK.split(text, maxsplit=1)
        return Ending("rejected", code, feedback[1].strip() if len(feedback) > 1 else "")
    if metadata.interrupted or text.startswith(("Tool execution aborted", "Tool execution was interrupted")):
        return Ending("interrupted", code)
    if _TIMEOUT.search(text[-600:]):
        return Ending("timeout", code)
    return Ending("failed", code)


def plan_of(todos: list[Todo]) -> tuple[PlanItem, ...]:
    """Return a todo list as plan items."""
    return tuple(PlanItem(text=todo.content, status=_STATUSES.get(todo.status, "pending")) for todo in todos)
