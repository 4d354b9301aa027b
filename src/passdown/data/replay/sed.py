"""The simple forms of `sed -i`: substitution, deletion, insertion, change, on all lines, a number, a range, a match."""

from __future__ import annotations

import re
from collections.abc import Callable

from passdown.model.pattern import lazy_pattern

_COMMAND = lazy_pattern(
    r"(?P<first>\d+|\$|/(?:[^/\\]|\\.)*/)?(?:,(?P<last>\d+|\$))?\s*(?P<name>[sdaic])(?P<rest>.*)", re.DOTALL
)
_FLAGS = lazy_pattern(r"[gI]*")
_MOST = 2_000_000
_LONGEST = 400
_LINE = 4000
_NESTED = lazy_pattern(r"\)[*+{]")
_OPEN = lazy_pattern(r"[*+]|,\}")


def apply_sed(text: str, script: str, *, extended: bool) -> str | None:
    """Return the text after one expression, None for a form that is not among the simple ones."""
    found = _COMMAND.fullmatch(script.strip())
    if found is None or len(text) > _MOST or len(script) > _LONGEST:
        return None
    ended = text.endswith("\n")
    lines = text.removesuffix("\n").split("\n")
    if max(map(len, lines)) > _LINE:
        return None
    try:
        chosen = _addressed(lines, found["first"], found["last"], extended)
        change = _change(found["name"], found["rest"], extended)
    except (re.error, ValueError):
        return None
    if chosen is None or change is None:
        return None
    made = [part for number, line in enumerate(lines, 1) for part in (change(line) if number in chosen else [line])]
    return "\n".join(made) + ("\n" if ended and made else "")


def _addressed(lines: list[str], first: str | None, last: str | None, extended: bool) -> set[int] | range | None:
    if first is None:
        return range(1, len(lines) + 1)
    if first.startswith("/"):
        wanted = _expression(first[1:-1], extended, 0)
        return None if last else {number for number, line in enumerate(lines, 1) if wanted.search(line)}
    begin = len(lines) if first == "$" else int(first)
    end = begin if last is None else len(lines) if last == "$" else int(last)
    return range(begin, max(begin, end) + 1)


def _change(name: str, rest: str, extended: bool) -> Callable[[str], list[str]] | None:
    if name == "d":
        return (lambda _line: []) if not rest.strip() else None
    if name == "s":
        return _substitution(rest, extended)
    added = rest.removeprefix("\\").removeprefix("\n").lstrip(" ").replace("\\\n", "\n").split("\n")
    if name == "a":
        return lambda line: [line, *added]
    return (lambda line: [*added, line]) if name == "i" else (lambda _line: added)


def _substitution(rest: str, extended: bool) -> Callable[[str], list[str]] | None:
    parts = _cut(rest)
    if parts is None or not _FLAGS.fullmatch(parts[2].strip()):
        return None
    flags = parts[2]
    pattern = _expression(parts[0], extended, re.IGNORECASE if "I" in flags else 0)
    replacement = _replacement(parts[1])
    return lambda line: pattern.sub(replacement, line, 0 if "g" in flags else 1).split("\n")


def _cut(rest: str) -> list[str] | None:
    """Cut `/old/new/flags` at its own mark."""
    mark, parts, position = rest[:1], [""], 1
    if not mark or mark.isalnum() or mark in "\\\n":
        return None
    while position < len(rest):
        letter = rest[position]
        if letter == "\\" and position + 1 < len(rest):
            following = rest[position + 1]
            parts[-1] += following if following == mark else letter + following
            position += 1
        elif letter == mark:
            parts.append("")
        else:
            parts[-1] += letter
        position += 1
    return parts if len(parts) == 3 else None


def _expression(text: str, extended: bool, flags: int) -> re.Pattern[str]:
    """Return a POSIX expression as Python's. Raises `ValueError` for what has no plain counterpart.

    What could take Python very long is refused too: the expression comes out of a recorded run.
    """
    made = text if extended else _from_basic(text)
    if "[[:" in text or "\\<" in text or "\\>" in text or _NESTED.search(made) or len(_OPEN.findall(made)) > 3:
        raise ValueError(text)
    return re.compile(made, flags)


def _from_basic(text: str) -> str:
    made, position = "", 0
    while position < len(text):
        letter = text[position]
        if letter == "[":
            end = text.find("]", position + 2)
            end = len(text) - 1 if end < 0 else end
            made += text[position : end + 1].replace("\\", "\\\\")
            position = end
        elif letter == "\\" and position + 1 < len(text):
            position += 1
            made += text[position] if text[position] in "(){}+?|" else "\\" + text[position]
        else:
            made += "\\" + letter if letter in "(){}+?|" else letter
        position += 1
    return made


def _replacement(text: str) -> Callable[[re.Match[str]], str]:
    pieces = re.findall(r"\\(?:\n|.)|&|[^\\&]+", text)

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
