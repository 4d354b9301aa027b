"""Private key blocks: whole ones, ones cut off before their end, and the tail of one whose beginning is missing."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.model.pattern import lazy_pattern
from passdown.redact.assignments import Span

_BEGIN = lazy_pattern(r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----|PuTTY-User-Key-File-\d: ")
_END = lazy_pattern(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]{40,64}")
_BODY = lazy_pattern(r"[A-Za-z0-9+/]{16}")
_NEXT_LINE = lazy_pattern(r"[ \t]*(?:\r?\n|\\+r?\\*n)\W{0,16}\w")
_BREAK = lazy_pattern(r"\r?\n|\\+r?\\*n")
_PREFIX = lazy_pattern(r"[ \t]*(?:\d{1,6}[ \t:|→]+|[+\-> |\t]{0,4})")
_BODY_LINE = lazy_pattern(r"[ \t]*(?:\d{1,6}[ \t:|→]+|[+\-> |\t]{0,4})[A-Za-z0-9+/=]{1,76}[ \t\r]*")
_LONGEST_TAIL = 1 << 14
_LONGEST_KEY = 1 << 16


def pem_spans(text: str) -> Iterator[Span]:
    """Yield private keys. A beginning without an end covers all that follows, unless it is a mere mention."""
    position, limit, end = 0, len(text), _END.search(text)
    while begin := _BEGIN.search(text, position):
        position = begin.end()
        if end is not None and end.start() < position:
            end = _END.search(text, position)
        if end is not None and end.start() - position < _LONGEST_KEY:
            if _BODY.search(text, position, end.start()):
                position = end.end()
                yield Span(begin.start(), position, "private_key", 0)
        elif _BODY.search(text, position, position + 400) or _NEXT_LINE.match(text, position):
            yield Span(begin.start(), len(text), "private_key", 0)
            limit = begin.start()
            break
    yield from _headless(text, limit)


def _headless(text: str, limit: int) -> Iterator[Span]:
    """The rest of a key whose BEGIN line was cut off: the lines of base64 right before an END."""
    covered = 0
    for end in _END.finditer(text, 0, limit):
        floor = max(covered, end.start() - _LONGEST_TAIL)
        covered = end.end()
        breaks = [(floor, floor), *((line.start(), line.end()) for line in _BREAK.finditer(text, floor, end.start()))]
        if not _PREFIX.fullmatch(text, breaks[-1][1], end.start()):
            continue
        start, below = end.start(), breaks[-1][0]
        for line_break, line_start in reversed(breaks[:-1]):
            if not _BODY_LINE.fullmatch(text, line_start, below):
                break
            start, below = line_start, line_break
        if start < end.start():
            yield Span(start, end.end(), "private_key", 0)
