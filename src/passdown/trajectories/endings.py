"""How a tool call ended, by the text the model saw: most trajectories say it in no other way."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from passdown.io.log import BAD
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Action, Outcome

_HEAD = 400
_TAIL = 600

_CODE_FIRST = lazy_pattern(
    r"\s*(?:<returncode>\s*(-?\d{1,10})\s*</returncode>|Exit code:? (-?\d{1,10})\b|"
    r"(?:Process|Command|Script) (?:exited|finished|completed) with (?:exit )?code:? (-?\d{1,10})\b)"
)
_CODE_LAST = lazy_pattern(
    r"\[(?:The command completed|Command finished) with exit code (-?\d{1,10})\.?\]|"
    r"(?m:^(?:Exit Code|exit code|Process exited with code):? (-?\d{1,10})\s*$)"
)
_BEFORE = len("[The command completed with e")
_TIMED_OUT = lazy_pattern(
    r"(?i)\bEXECUTION TIMED OUT\b|timed out (?:after|and has been killed)|was cancelled because it took more than|"
    r"(?:command|process) timed out"
)
_RUNNING = lazy_pattern(r"has no new output after|still running|process is still")
_REFUSED = lazy_pattern(
    r"(?i)\s*(?:ERROR:|Error:|Ran into \[Errno|Invalid `|No replacement was performed|No match found|<error>|"
    r"Your proposed edit has introduced new syntax error|Usage: |Error executing|Failed to |EACCES|ENOENT|"
    r"File not found|<tool_use_error>|Parameter `|The path )"
)
_WRAPPED = lazy_pattern(r"(?:OBSERVATION:\n|Observation: |EXECUTION RESULT of \[[^\]\n]{1,80}\]:\n)")
_JSON = lazy_pattern(r'\s*\{\s*"returncode":')
_OUTPUT = lazy_pattern(r"\s*<returncode>\s*-?\d{1,10}\s*</returncode>\s*<output>\n?")


class Ending(NamedTuple):
    """How a call ended, its exit code where the text says it, and the text."""

    outcome: Outcome
    exit_code: int | None = None
    text: str = ""


def unwrapped(text: str) -> str:
    """Return a result's text without the words that a harness puts before it."""
    match = _WRAPPED.match(text)
    return text[match.end() :] if match else text


def bare(text: str) -> str:
    """Return a command's output without the tags, or the JSON, that mini-swe-agent puts around it."""
    if _JSON.match(text):
        return _output_in(text)
    match = _OUTPUT.match(text)
    return text[match.end() :].rstrip().removesuffix("</output>").rstrip("\n") if match else text


def _output_in(text: str) -> str:
    """Return the output that JSON holds beside the exit code, with the harness's words on why there is none."""
    try:
        read = msgspec.json.decode(text)
    except BAD:
        return text
    if not isinstance(read, dict) or not isinstance(read.get("output"), str):
        return text
    said = read.get("exception_info")
    return "\n".join(part for part in (read["output"].rstrip("\n"), said) if isinstance(part, str) and part)


def is_wrapped(text: str) -> bool:
    """Say whether a message begins with the words that a harness puts before a tool's result."""
    return _WRAPPED.match(text) is not None or _CODE_FIRST.match(text) is not None


def ending(action: Action, text: str, *, failed: bool | None = None, code: int | None = None) -> Ending:
    """Return how a call ended. `failed` and `code` are what the log itself says, where it does.

    A command whose exit code nobody wrote down has an unknown outcome; any other call that was not refused is ok.
    """
    if code is None:
        code = _code_in(text)
    if code is not None and code < 0:
        code = None
        failed = _unfinished(text) is None or None
    if code is None and failed is not False and action in ("run", "other") and (cut := _unfinished(text)) is not None:
        return Ending(cut, None, text)
    if code is not None:
        return Ending("failed" if code else "ok", code, text)
    if failed is not None:
        return Ending("failed" if failed else "ok", None, text)
    if action == "run":
        return Ending("unknown", None, text)
    return Ending("failed" if _REFUSED.match(text[:_HEAD]) else "ok", None, text)


def _code_in(text: str) -> int | None:
    match = _CODE_FIRST.match(text[:_HEAD])
    if match is None and (exits := (tail := text[-_TAIL:]).find("xit")) >= 0:  # all hold it, and begin little before it
        match = next(reversed(list(_CODE_LAST.finditer(tail, max(0, exits - _BEFORE)))), None)
    written = next((group for group in match.groups() if group), None) if match else None
    return int(written) if written is not None else None


def _unfinished(text: str) -> Outcome | None:
    """Return how a command that has no code stands, where the text says that it was cut off or goes on."""
    for part in (text[:_HEAD], text[-_TAIL:]):
        plain = part.lower()
        if ("timed out" in plain or "was cancelled" in plain) and _TIMED_OUT.search(part):
            return "timeout"
    tail = text[-_TAIL:]
    return "running" if ("still" in tail or "no new output" in tail) and _RUNNING.search(tail) else None
