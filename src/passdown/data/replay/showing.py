"""What a call's observation shows of files' lines."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from passdown.data.records import Action
from passdown.data.replay.plain_views import plain_view
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall, ToolResult

_NUMBERED = lazy_pattern(r"\s*(\d{1,6})(?:[\t:→|]|\s\| ?)(.*)")
_SPACED = lazy_pattern(r"<(?:file|content)>\s*\d+[:|] ")
_WRAPPED = lazy_pattern(
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited|Original token count|Total output)[^\n]*\n)+Output:\n"
)
_SED = lazy_pattern(r"(?:^|&&\s*)(?:cd \S+ && )?sed -n ['\"]?(\d+)(?:,(\d+))?p['\"]? \S+\s*$")
_PIPED_SED = lazy_pattern(r"(?:^|&&\s*)cat \S+ \| sed -n ['\"]?(\d+)(?:,(\d+))?p['\"]?\s*$")
_CAT = lazy_pattern(r"(?:^|&&\s*)cat (?:--\s+)?[^\s|<>;&*?-][^\s|<>;&*?]*\s*$")
_HEAD = lazy_pattern(r"(?:^|&&\s*)head (?:-n\s*|-)(\d+) [^\s|<>;&]+\s*$")
_CUT = lazy_pattern(
    r"(?i)truncated|lines (?:omitted|elided)|more lines?|<response clipped>|\[\.\.\.|… ?\+?\d|(?m:^ *…)"
    r"|output of your last command was too|<note>|characters elided"
)
_TOTAL = lazy_pattern(r"\((\d{1,6}) lines total|\(End of file - total (\d{1,6}) lines\)")
_RANGES = frozenset({"offset", "limit", "view_range", "start_line", "end_line", "line_number", "start", "end", "pages"})
_FULL = 2000
"""Lines, and characters of a line, from which on `Read` shows a file cut."""
_DIFF = lazy_pattern(
    r"(?:^|&&\s*)git (?:--no-pager )?diff(?: HEAD| --no-color| -U\d)?(?: --)?(?: [^-\s|<>;&~^][^\s|<>;&~^]*)*\s*$"
)
_FILE = lazy_pattern(r"\+\+\+ (?:b/)?([^\t\r\n]+)")
_HUNK = lazy_pattern(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_MOST = 20_000


class Shown(NamedTuple):
    """Lines of a file by number, and whether they are all of it."""

    path: str
    lines: dict[int, str]
    whole: bool


def shown(call: ToolCall, result: ToolResult, action: Action, path: str) -> Shown | None:
    """Return the lines of the file `path` that an observation shows, None when that cannot be told for certain.

    The call is to do nothing else, so that its output is this file's.
    """
    if not result.text:
        return None
    wrapped = _WRAPPED.match(result.text)
    text = _without_returns(result.text[wrapped.end() :] if wrapped else result.text)
    if action.kind == "READ" and (plain := plain_view(call, text, path)) is not None:
        return Shown(path, plain[0], whole=plain[1])
    if numbered := _numbered(text):
        whole = action.kind == "READ" and _is_all(call, text, numbered)
        if not whole and not numbered[max(numbered)].strip():
            numbered.popitem()  # the end of an excerpt may be the tool's own
        return Shown(path, numbered, whole=whole)
    if call.action != "run" or action.kind != "READ" or _CUT.search(text):
        return None
    text = result.text[wrapped.end() :] if wrapped else result.text  # here the first line is the file's
    lines = text.removesuffix("\n").split("\n")
    command = call.command.strip()
    if len(lines) > _MOST or lines == [""]:
        return None
    if lines[-1] == "":
        lines.pop()  # whether a last empty line is the file's nobody can tell
        if not (_SED.search(command) or _PIPED_SED.search(command)):
            return None
    if _CAT.search(command):
        return Shown(path, dict(enumerate(lines, 1)), whole=True)
    if found := _SED.search(command) or _PIPED_SED.search(command):
        return Shown(path, dict(enumerate(lines, int(found[1]))), whole=False)
    if found := _HEAD.search(command):
        return Shown(path, dict(enumerate(lines, 1)), whole=len(lines) < int(found[1]))
    return None


def _without_returns(text: str) -> str:
    """Return a text without the carriage returns that a terminal put before each line end.

    They are a terminal's where a line of the tool's own, the first, ends so; else they may be the file's.
    """
    first = text.split("\n", 1)[0]
    own = first.endswith("\r") and _NUMBERED.match(first) is None
    return text.replace("\r\n", "\n") if own and first[:1] not in ("", "\r") else text


def _is_all(call: ToolCall, text: str, numbered: dict[int, str]) -> bool:
    """Say whether numbered lines are the whole file: as many as it has, or a view without a range or a cut."""
    if 1 not in numbered:
        return False
    if total := _TOTAL.search(text[:2000]) or _TOTAL.search(text[-200:]):
        return len(numbered) == int(total[1] or total[2])
    if call.tool == "Read" and call.action == "read":
        whole = len(numbered) < _FULL and max(map(len, numbered.values())) < _FULL
        return whole and _RANGES.isdisjoint(call.arguments) and text.lstrip()[:1] == "1"
    whole = call.arguments.get("command") == "view" and not call.arguments.get("view_range")
    return whole and text.lstrip().startswith("Here's the result of running `cat -n`") and not _CUT.search(text)


def _numbered(text: str) -> dict[int, str]:
    """Return the first run of lines that are numbered one after the other, empty when there is hardly any."""
    found: dict[int, str] = {}
    expected = None
    spaced = _SPACED.search(text[:400]) is not None
    for row in text.split("\n", _MOST)[:_MOST]:
        match = _NUMBERED.match(row)
        if match is None or (expected is not None and int(match[1]) != expected):
            if len(found) >= 3:
                break
            found, expected = {}, None
            if match is None:
                continue
        number = int(match[1])
        found[number] = match[2].removeprefix(" ") if spaced else match[2]
        expected = number + 1
    return found if len(found) >= 3 else {}


def is_tree_diff(call: ToolCall, result: ToolResult, action: Action) -> bool:
    """Say whether an observation is a whole diff of the working tree: of `git diff`, or on a submission."""
    plain = action.kind == "VCS" and action.target == "diff" and _DIFF.search(call.command.strip()) is not None
    return (plain or action.kind == "SUBMIT") and "diff --git " in result.text and not _CUT.search(result.text)


def shown_by_diff(call: ToolCall, result: ToolResult, action: Action) -> Iterator[Shown]:
    """Yield the lines that a diff of the working tree shows as they are now."""
    if not is_tree_diff(call, result, action):
        return
    path, lines, number, left = "", dict[int, str](), 0, 0
    for row in _without_returns(result.text[result.text.index("diff --git ") :]).split("\n"):
        if left > 0 and row[:1] in (" ", "+", ""):
            lines[number] = row[1:]
            number, left = number + 1, left - 1
        elif left > 0 and row[:1] in ("-", "\\"):
            continue
        elif hunk := _HUNK.match(row):
            number, left = int(hunk[1]), int(hunk[2] or 1)
        elif row.startswith(("diff --git ", "+++ ")):
            if path and lines:
                yield Shown(path, lines, whole=False)
            lines, left = {}, 0
            found = _FILE.match(row)
            path = posixpath.normpath(found[1]) if found and found[1] != "/dev/null" else ""
    if path and lines:
        yield Shown(path, lines, whole=False)
