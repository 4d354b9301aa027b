"""What a call's observation shows of a file's lines."""

from __future__ import annotations

from typing import NamedTuple

from passdown.data.records import Action
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall, ToolResult

_NUMBERED = lazy_pattern(r"\s*(\d{1,6})(?:[\t:→]|\s?\| ?)(.*)")
_WRAPPED = lazy_pattern(
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited|Original token count|Total output)[^\n]*\n)+Output:\n"
)
_SED = lazy_pattern(r"(?:^|&&\s*)(?:cd \S+ && )?sed -n '?(\d+)(?:,(\d+))?p'? \S+\s*$")
_CAT = lazy_pattern(r"(?:^|&&\s*)cat (?:--\s+)?[^\s|<>;&*?-][^\s|<>;&*?]*\s*$")
_HEAD = lazy_pattern(r"(?:^|&&\s*)head (?:-n\s*|-)(\d+) [^\s|<>;&]+\s*$")
_CUT = lazy_pattern(r"(?i)truncated|lines (?:omitted|elided)|more lines?|<response clipped>|\[\.\.\.|…")
_MOST = 20_000


class Shown(NamedTuple):
    """Lines of a file by number, and whether they are all of it."""

    path: str
    lines: dict[int, str]
    whole: bool


def shown(call: ToolCall, result: ToolResult, action: Action, alone: bool) -> Shown | None:
    """Return the lines of a file that an observation shows, None when that cannot be told for certain.

    `alone` says that the call does nothing else, so that its output is this file's.
    """
    if not alone or action.ok is False or len(action.reads) != 1 or not result.text:
        return None
    path = action.reads[0]
    wrapped = _WRAPPED.match(result.text)
    text = result.text[wrapped.end() :] if wrapped else result.text
    if numbered := _numbered(text):
        return Shown(path, numbered, whole=False)
    if call.action != "run" or _CUT.search(text):
        return None
    lines = text.removesuffix("\n").split("\n")
    command = call.command.strip()
    if len(lines) > _MOST or lines[-1:] == [""]:
        return None
    if _CAT.search(command):
        return Shown(path, dict(enumerate(lines, 1)), whole=True)
    if found := _SED.search(command):
        return Shown(path, dict(enumerate(lines, int(found[1]))), whole=False)
    if found := _HEAD.search(command):
        return Shown(path, dict(enumerate(lines, 1)), whole=len(lines) < int(found[1]))
    return None


def _numbered(text: str) -> dict[int, str]:
    """Return the longest run of lines that are numbered one after the other, empty when there is hardly any."""
    found: dict[int, str] = {}
    expected = None
    rows = text.split("\n")
    for row in rows[:_MOST]:
        match = _NUMBERED.match(row)
        if match is None or (expected is not None and int(match[1]) != expected):
            if len(found) >= 3:
                break
            if match is None:
                found, expected = {}, None
                continue
            found = {}
        number = int(match[1])
        found[number] = match[2]
        expected = number + 1
    return found if len(found) >= 3 else {}
