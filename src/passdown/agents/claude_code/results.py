"""How a tool call of Claude Code ended. The log does not say so directly: the text and the structured twin do."""

from __future__ import annotations

from typing import NamedTuple

from passdown.agents.claude_code.records import Twin
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Outcome

_EXIT = lazy_pattern(r"(?:Error: )?Exit code (\d{1,10})(?:\r?\n|$)")
_REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected tool use",
    "Permission to use ",
    "Permission for this action has been denied",
)
_STOPPED = (
    "[Request interrupted by user",
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled: parallel tool call",
    "<tool_use_error>Error: Interrupted by user",
)
_SAID = "the user said:\n"
_NOTE = "\n\nNote: The user's next message may contain a correction"
_CLARIFY = "The user wants to clarify these questions."


class Ending(NamedTuple):
    """How a call ended: outcome, exit code when known, and a person's words when it was rejected."""

    outcome: Outcome
    exit_code: int | None = None
    reason: str = ""


def ending_of(text: str, twin: Twin | None, *, error: bool, shell: bool, denied: bool) -> Ending:
    """Read how a call ended.

    `error` is the result's own flag, `shell` says that it was a command, `denied` that the row names a denial.
    """
    if error or denied:
        return _failure(text, denied=denied)
    if twin is not None:
        if twin.interrupted is True:
            return Ending("interrupted")
        if isinstance(twin.background_task_id, str) or twin.is_async is True or twin.status == "async_launched":
            return Ending("running")
        if shell and twin.return_code_interpretation:
            # grep, diff, find and test answer with exit 1, which the program does not call an error
            return Ending("failed", 1)
    return Ending("ok", 0 if shell else None)


def _failure(text: str, *, denied: bool) -> Ending:
    if denied or text.startswith(_REJECTED) or "but you haven't granted it yet" in text[:2000]:
        return Ending("rejected", None, _reason(text))
    if text.startswith(_STOPPED):
        return Ending("interrupted")
    code = _EXIT.match(text)
    exit_code = int(code[1]) if code else None
    if "Command timed out after" in text[:300]:
        return Ending("timeout", exit_code)
    return Ending("failed", exit_code)


def _reason(text: str) -> str:
    _, said, reason = text.partition(_SAID)
    reason = reason.partition(_NOTE)[0].strip()
    return "" if not said or reason.startswith(_CLARIFY) else reason
