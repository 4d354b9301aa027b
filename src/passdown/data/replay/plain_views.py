"""Views of files by tools that show the text as it is, or number it as a list: pi, Gemini CLI, Qwen Code, Copilot."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolCall

_MORE = lazy_pattern(r"\n*\[(?:\d+ more lines in file|Showing lines )[^\n\]]*\]\s*\Z")
_NUMBERED = lazy_pattern(r"\s*L?\d{1,6}[\t:→|.]")
_LISTED = lazy_pattern(r"(\d{1,6})\. ?(.*)")
_CUT = lazy_pattern(r"(?i)\btruncated\b|\[Image|image/")
_HOOKED = lazy_pattern(r"\n\n<hook_context>(?:(?!</?hook_context>)[\s\S])*</hook_context>\s*\Z")
_NO_TEXT = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".pdf", ".zip", ".ipynb")
_RANGES = ("offset", "limit", "start_line", "end_line", "view_range")
_MOST = 20_000


def plain_view(call: ToolCall, text: str, path: str) -> tuple[dict[int, str], bool] | None:
    """Return the lines that a view shows and whether they are all of the file; None for a tool of another kind."""
    if call.action != "read" or path.lower().endswith(_NO_TEXT) or _CUT.search(text[:300]):
        return None
    if call.tool == "view":
        return _listed(call, text)
    if call.tool not in ("read", "read_file") or text[:1] == "<" or _NUMBERED.match(text):
        return None
    if call.tool == "read_file" and any(call.arguments.get(name) is not None for name in _RANGES):
        return None
    return _as_it_is(call, _HOOKED.sub("", text))


def _as_it_is(call: ToolCall, text: str) -> tuple[dict[int, str], bool] | None:
    cut = _MORE.search(text)
    shown = text[: cut.start()] if cut else text.removesuffix("\n")
    first = _whole(call.arguments.get("offset"), 1)
    lines = shown.split("\n")
    if first < 1 or len(lines) > _MOST or not shown:
        return None
    if call.tool == "read_file" and not text.endswith("\n") and "" in lines:
        end = len(lines) - lines[::-1].index("") - 1  # what stands behind may be a hook's words
        return dict(enumerate(lines[:end], 1)), False
    return dict(enumerate(lines, first)), first == 1 and cut is None and call.arguments.get("limit") is None


def _listed(call: ToolCall, text: str) -> tuple[dict[int, str], bool] | None:
    found: dict[int, str] = {}
    last = 0
    for row in text.split("\n", _MOST)[:_MOST]:
        match = _LISTED.fullmatch(row.removesuffix("\r"))
        if match is None or (found and int(match[1]) != last + 1):
            return None
        last = int(match[1])
        found[last] = match[2]
    return found, 1 in found and call.arguments.get("view_range") is None


def _whole(value: object, otherwise: int) -> int:
    if isinstance(value, int):
        return value or otherwise
    return int(value) or otherwise if isinstance(value, str) and value.isdecimal() and len(value) < 8 else otherwise
