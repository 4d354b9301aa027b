"""POSIX expressions, and the replacements of `sed`, in Python's terms: the plain ones, and no others."""

from __future__ import annotations

import re
from collections.abc import Callable

from passdown.model.pattern import lazy_pattern

_NESTED = lazy_pattern(r"\)[*+{?]")
_OPEN = lazy_pattern(r"[*+]|,\}")
_INTERVAL = lazy_pattern(r"\{\d{1,3}(?:,\d{0,3})?\}")
_PIECE = lazy_pattern(r"\\(?:\n|.)|&|[^\\&]+")
_SPECIAL = "(){}+?|"
_KEPT_ESCAPES = "wWsSb123456789"
_PUNCTUATION = lazy_pattern(r"[^\w\s]")


def expression(text: str, *, extended: bool, flags: int) -> re.Pattern[str]:
    """Return a POSIX expression as Python's. Raises `ValueError` for what has no plain counterpart.

    Alternatives have none: POSIX takes the longest, Python the first. What could take Python very long is refused
    too, since the expression comes out of a recorded run.
    """
    made = _translated(text, extended)
    if not made or _NESTED.search(made) or len(_OPEN.findall(made)) > 3:
        raise ValueError(text)
    return re.compile(made, flags)


def _translated(text: str, extended: bool) -> str:
    made, at = "", 0
    while at < len(text):
        letter = text[at]
        if letter == "[":
            piece, at = _bracket(text, at)
        elif letter == "\\":
            piece, at = _escaped(text, at, extended)
        elif letter in _SPECIAL and not extended:
            piece, at = "\\" + letter, at + 1
        elif letter == "{":
            piece, at = _interval(text, at)
        elif _is_odd(text, at, letter):
            raise ValueError(text)
        else:
            piece, at = letter, at + 1
        made += piece
    return made


def _is_odd(text: str, at: int, letter: str) -> bool:
    """Say whether a letter means something else in Python at its place, or something else in each dialect."""
    begins = at == 0 or text[at - 1] in "(^"
    return (
        letter in "|\n"
        or (letter in "*+?" and begins)
        or (letter == "^" and at > 0)
        or (letter == "$" and at + 1 < len(text))
    )


def _bracket(text: str, at: int) -> tuple[str, int]:
    """Return `[…]`: a backslash in it is only a letter, and a `]` at its beginning too."""
    start = at + 1 + (text[at + 1 : at + 2] == "^")
    end = text.find("]", start + 1)
    if end < 0 or "[:" in text[at:end] or "[." in text[at:end] or "[=" in text[at:end]:
        raise ValueError(text)
    inner = text[start:end]
    if "\\" in inner.removesuffix("\\") and any(f"\\{letter}" in inner for letter in "nt]\\"):
        raise ValueError(text)
    escaped = inner.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("&&", "&\\&")
    return text[at:start] + escaped + "]", end + 1


def _escaped(text: str, at: int, extended: bool) -> tuple[str, int]:
    following = text[at + 1 : at + 2]
    if following in _SPECIAL and following and not extended:
        if following == "{":
            end = text.find("\\}", at)
            if end < 0 or not _INTERVAL.fullmatch(f"{{{text[at + 2 : end]}}}"):
                raise ValueError(text)
            return f"{{{text[at + 2 : end]}}}", end + 2
        if following in "|}" or (following in "+?" and at == 0):
            raise ValueError(text)
        return following, at + 2
    if following and (following in _KEPT_ESCAPES or _PUNCTUATION.fullmatch(following)) and following not in "<>`'":
        return "\\" + following, at + 2
    raise ValueError(text)


def _interval(text: str, at: int) -> tuple[str, int]:
    found = _INTERVAL.match(text, at)
    if found is None or at == 0:
        raise ValueError(text)
    return found[0], found.end()


def replacement(text: str) -> Callable[[re.Match[str]], str]:
    """Return what a match becomes. Raises `ValueError` for `\\U` and the like."""
    pieces = _PIECE.findall(text)
    if "".join(pieces) != text or any(
        piece[0] == "\\" and piece[1].isalpha() and piece[1] not in "nt" for piece in pieces
    ):
        raise ValueError(text)

    def replace(found: re.Match[str]) -> str:
        made = ""
        for piece in pieces:
            if piece == "&":
                made += found[0]
            elif piece[0] == "\\" and piece[1:].isdigit():
                made += found[int(piece[1:])] or ""
            elif piece[0] == "\\":
                made += {"n": "\n", "t": "\t"}.get(piece[1:], piece[1:])
            else:
                made += piece
        return made

    return replace
