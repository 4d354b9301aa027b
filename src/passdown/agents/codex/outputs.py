"""How a tool call ended, read from what the model was given back.

Codex writes the exit code into the text, in several shapes: `Exit code: N` (shell_command, apply_patch), `Process
exited with code N` and `Process running with session ID N` (exec_command, write_stdin), a JSON object with
`metadata.exit_code` (up to 0.4x), and `Script completed` or `Script failed` (code mode). Only these headers are read,
never the program's own output after them.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome

_LINES = (
    r"\s*(?:(?:Chunk ID|Command|Total output lines|Original token count): [^\n]*\n"
    r"|Wall time:? (?P<wall>[\d.]+)[^\n]*\n)*"
)
_HEADER = lazy_pattern(
    _LINES + r"(?:(?:Process exited with code|Exit code:) (?P<exit>-?\d+)"
    r"|Process running with session ID (?P<process>[^\s]+)"
    r"|Script (?:running with cell ID (?P<cell>[^\s]+)|(?P<script>completed|failed|terminated))"
    r"|(?P<aborted>aborted(?: by user)?\b)"
    r"|(?P<plain>Output:\n))"
)
_COMMON = lazy_pattern(
    r"(?:Chunk ID: [^\n]*\nWall time: ([\d.]+) seconds\nProcess exited with code|Exit code:) (-?\d{1,10})\n"
    r"(?:Wall time: ([\d.]+) seconds\n)?"
)
"""The two most frequent headers, in the form that is quickest to match."""

_WALL = lazy_pattern(r"Wall time:? ([\d.]+)")
_TIMED_OUT = lazy_pattern(r"(?:\A|Output:\n)\s*(?:command )?timed out after \d+")
_REJECTED = lazy_pattern(
    r"""\s*(?:(?:exec\ command|patch|command|apply_patch)\ )?rejected\ by\ (?:the\ )?user(?P<reason>.*)
    |[^\n]*Rejected\("(?:exec\ command\ )?rejected\ by\ user(?P<quoted>[^"]*)"\)""",
    re.VERBOSE | re.DOTALL,
)
_FAILED = lazy_pattern(
    r"""\s*(?:apply_patch\ verification\ failed|patch\ verification\ failed|exec_command\ failed|write_stdin\ failed
    |failed\ to\ |Failed\ to\ |unsupported\ |execution\ error|tool\ call\ error|Error:|error:|err:|Script\ error
    |Command\ blocked\ by|This\ action\ was\ rejected|invalid\ |Unknown\ process\ id|collab\ |agent\ with\ id\ )""",
    re.VERBOSE,
)
_HEAD = 2048
_LONGEST = 1 << 50

STATUS: dict[str, Outcome] = {"declined": "rejected", "Declined": "rejected", "in_progress": "running"}
"""Statuses of completed items that say more than their exit code."""


class Ended(Struct, frozen=True, gc=False):
    """How a call ended. `process` is the session id (or cell id) of what is still running."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""
    duration_ms: int | None = None
    reason: str = ""
    process: str = ""


class _Metadata(Struct):
    exit_code: int | None = None
    duration_seconds: float | None = None


class _Wrapped(Struct):
    output: str
    metadata: _Metadata


_WRAPPED = msgspec.json.Decoder(_Wrapped)


def text_of(output: Any) -> tuple[str, bool | None]:
    """Return an output's text, and what its `success` flag says when it has one."""
    if isinstance(output, str):
        return output, None
    if isinstance(output, list):
        return "".join(_part(part) for part in output), None
    if isinstance(output, dict):
        success = output.get("success")
        body = output.get("content", output.get("text", ""))
        text = body if isinstance(body, str) else text_of(body)[0] if isinstance(body, list) else ""
        return text, success if isinstance(success, bool) else None
    return "", None


def _part(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def read_output(output: Any, action: Action) -> Ended:
    """Return how a call ended, from its output alone."""
    if type(output) is str and (match := _COMMON.match(output)):
        wall, code, later_wall = match.groups()
        duration = milliseconds(wall or later_wall)
        return Ended("ok", 0, output, duration) if code == "0" else _exited(match, int(code), output, duration)
    text, success = text_of(output)
    if match := _HEADER.match(text):
        wall = match["wall"]
        if wall is None and (found := _WALL.search(text, match.end(), match.end() + 80)):
            wall = found[1]
        return _from_header(match, text, milliseconds(wall))
    if text.startswith('{"') and (wrapped := _unwrap(text)):
        code = wrapped.metadata.exit_code
        return Ended(
            outcome_of(code, timed_out=bool(_TIMED_OUT.match(wrapped.output))),
            code,
            wrapped.output,
            milliseconds(wrapped.metadata.duration_seconds),
        )
    if match := _REJECTED.match(text, 0, _HEAD):
        return Ended("rejected", None, text, reason=(match["reason"] or match["quoted"] or "").strip(" :.\n"))
    if success is False or _FAILED.match(text, 0, _HEAD):
        return Ended("failed", None, text)
    if _TIMED_OUT.match(text, 0, _HEAD):
        return Ended("timeout", None, text)
    return Ended("unknown" if action == "run" and success is None else "ok", None, text)


def _from_header(match: re.Match[str], text: str, duration: int | None) -> Ended:
    if (exit_text := match["exit"]) is not None:
        return _exited(match, int(exit_text[:12]), text, duration)
    if process := match["process"] or match["cell"]:
        return Ended("running", None, text, duration, process=process)
    if match["aborted"]:
        return Ended("interrupted", None, text, duration)
    if script := match["script"]:
        return Ended("ok" if script == "completed" else "failed", None, text, duration)
    failed = _FAILED.match(text, match.end(), match.end() + _HEAD) if match["wall"] is None else None
    return Ended("failed" if failed else "ok", None, text, duration)


def _exited(match: re.Match[str], code: int, text: str, duration: int | None) -> Ended:
    late = code == 124 and _TIMED_OUT.search(text, match.end(), match.end() + _HEAD) is not None
    return Ended(outcome_of(code, timed_out=late), code, text, duration)


def _unwrap(text: str) -> _Wrapped | None:
    try:
        return _WRAPPED.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def outcome_of(code: int | None, *, timed_out: bool = False) -> Outcome:
    """Return the outcome an exit code means."""
    if timed_out:
        return "timeout"
    return "unknown" if code is None else "ok" if code == 0 else "failed"


def milliseconds(seconds: str | bytes | float | None) -> int | None:
    """Return seconds, as an output tells them, in milliseconds; None for what is no number."""
    if seconds is None:
        return None
    try:
        duration = int(float(seconds) * 1000 + 0.5)
    except (ValueError, OverflowError):
        return None
    return min(duration, _LONGEST)
