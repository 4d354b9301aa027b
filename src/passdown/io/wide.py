"""Long texts that a single character would make wide: Python takes two or four bytes for each of all their characters.

One emoji in 12.8 million letters makes 51 MB of them. In a text that would become so large, what lies beyond Latin-1
is replaced by a question mark; a text that is mostly written so has fewer characters, and is left alone.
"""

from __future__ import annotations

import re

from passdown.model.pattern import lazy_pattern

MAX_TEXT = 24_000_000
"""Bytes that Python may take for one text of a line."""
LONG = MAX_TEXT // 4
"""A line of fewer bytes holds no text that takes more, whatever its characters."""

_TEXT = lazy_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_ESCAPE = lazy_pattern(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_WIDER = lazy_pattern(rb"[\xc4-\xf4]")
_WIDER_ESCAPE = lazy_pattern(rb"\\u(?!00)")
_WIDEST = lazy_pattern(rb"[\xf0-\xf4]")
_WIDEST_ESCAPE = lazy_pattern(rb"\\u[dD][89abAB]")
_CHARACTER = lazy_pattern(
    rb"\\u(?!00)[0-9a-fA-F]{4}|[\xc4-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|(\\.)",
    re.DOTALL,
)
_CONTINUED = bytes(range(0x80, 0xC0))


def narrowed(line: bytes) -> bytes:
    """Return a line of JSON in which no text takes Python more than `MAX_TEXT` for what a few of its characters are."""
    if len(line) < LONG or _width(line) == 1:
        return line
    long = [match.span() for match in _TEXT.finditer(line) if match.end() - match.start() >= LONG]
    for start, end in reversed(long):
        if _size(line[start:end]) > MAX_TEXT:
            line = b"".join((line[:start], _narrow(line, start, end), line[end:]))
    return line


def _width(text: bytes) -> int:
    """Return how many bytes Python takes for each character of a text."""
    raw = not text.isascii()
    if (raw and _WIDEST.search(text)) or _WIDEST_ESCAPE.search(text):
        return 4
    return 2 if (raw and _WIDER.search(text)) or _WIDER_ESCAPE.search(text) else 1


def _size(text: bytes) -> int:
    """Return how many bytes Python takes for a text that is wide."""
    width = _width(text)
    if width == 1:
        return 0
    escaped = sum(match.end() - match.start() - 1 for match in _ESCAPE.finditer(text))
    return width * (len(text.translate(None, _CONTINUED)) - escaped)


def _narrow(line: bytes, start: int, end: int) -> bytearray:
    made, done = bytearray(), start
    for match in _CHARACTER.finditer(line, start, end):
        if match.start(1) < 0:
            made += memoryview(line)[done : match.start()]
            made += b"?"
            done = match.end()
    made += memoryview(line)[done:end]
    return made
