"""The simple forms of `sed -i`: substitution, deletion, insertion, change, on all lines, a number, a range, a match."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from passdown.data.replay.contents import UNKNOWN, Content, Lines, spliced
from passdown.data.replay.sed_pattern import expression, replacement
from passdown.model.pattern import lazy_pattern

_COMMAND = lazy_pattern(
    r"(?P<first>\d+|\$|/(?:[^/\\]|\\.)*/)?(?:,(?P<last>\d+|\$))?\s*(?P<name>[sdaic])(?P<rest>.*)", re.DOTALL
)
_FLAGS = lazy_pattern(r"[gI]*")
_MOST = 2_000_000
_LONGEST = 400
_LINE = 4000


class Command(NamedTuple):
    """One command: where (`begin` to `end`, -1 for the last line; or `wanted`; or everywhere), and what it does there.

    `change` gives the lines that stand for one line.
    """

    name: str
    begin: int | None
    end: int | None
    wanted: re.Pattern[str] | None
    change: Callable[[str], list[str]]

    def chooses(self, number: int, line: str, count: int) -> bool:
        """Say whether the command is for a line of a file of `count` lines."""
        if self.wanted is not None:
            return self.wanted.search(line) is not None
        if self.begin is None:
            return True
        begin = count if self.begin < 0 else self.begin
        end = begin if self.end is None else count if self.end < 0 else self.end
        return begin <= number <= max(begin, end)


def _command(script: str, extended: bool) -> Command | None:
    """Return a script's one command, None for a form that is not among the simple ones."""
    found = _COMMAND.fullmatch(script.strip())
    if found is None or len(script) > _LONGEST:
        return None
    first, last, name = found["first"], found["last"], found["name"]
    if (first is None and last is not None) or first == "0":
        return None
    try:
        wanted = _pattern(first[1:-1].replace("\\/", "/"), extended) if first and first[0] == "/" else None
        change = _change(name, found["rest"], extended)
    except (re.error, ValueError):
        return None
    if change is None or (last is not None and (wanted is not None or name == "c")):
        return None
    if wanted is not None:
        return Command(name, None, None, wanted, change)
    return Command(name, _number(first), _number(last), None, change)


def _pattern(text: str, extended: bool, flags: int = 0) -> re.Pattern[str]:
    return expression(text, extended=extended, flags=flags)


def _number(address: str | None) -> int | None:
    return None if address is None else -1 if address == "$" else int(address)


def apply_sed(text: str, script: str, *, extended: bool) -> str | None:
    """Return the text after one expression, None for a form that is not among the simple ones."""
    command = _command(script, extended)
    if command is None or len(text) > _MOST:
        return None
    if not text:
        return text
    ended = text.endswith("\n")
    lines = text.removesuffix("\n").split("\n")
    if max(map(len, lines)) > _LINE or (not ended and command.name in "aic"):
        return None
    made: list[str] = []
    try:
        for number, line in enumerate(lines, 1):
            made += command.change(line) if command.chooses(number, line, len(lines)) else [line]
    except (re.error, IndexError):
        return None
    return "\n".join(made) + ("\n" if ended and made else "")


def sed_on_lines(content: Lines, script: str, *, extended: bool) -> Content:
    """Return what is known of a file's lines after one expression; unknown when what stands behind may have moved."""
    command = _command(script, extended)
    if command is None or -1 in (command.begin, command.end) or any(len(x) > _LINE for x in content.known.values()):
        return UNKNOWN
    if command.name == "s":
        return _substituted(content, command)
    if command.begin is None:
        return UNKNOWN
    begin, end = command.begin, max(command.begin, command.end or 0)
    if command.name == "d":
        return spliced(content, begin, end, [])
    if begin != end:
        return UNKNOWN
    added = [line for line in command.change("\0") if line != "\0"]
    match command.name:
        case "a":
            return spliced(content, begin + 1, begin, added)
        case "i":
            return spliced(content, begin, begin - 1, added)
        case _:
            return spliced(content, begin, begin, added)


def _substituted(content: Lines, command: Command) -> Content:
    made: dict[int, str] = {}
    for number, line in content.known.items():
        changed = command.change(line) if command.chooses(number, line, 0) else [line]
        if len(changed) != 1:
            return UNKNOWN
        made[number] = changed[0]
    return Lines(made)


def _change(name: str, rest: str, extended: bool) -> Callable[[str], list[str]] | None:
    if name == "d":
        return (lambda _line: []) if not rest.strip() else None
    if name == "s":
        return _substitution(rest, extended)
    added = _added(rest)
    if added is None:
        return None
    if name == "a":
        return lambda line: [line, *added]
    return (lambda line: [*added, line]) if name == "i" else (lambda _line: added)


def _added(rest: str) -> list[str] | None:
    """Return the lines of `a text`, of `a\\` and text on the next line, or of `a\\text`, which keeps its indent."""
    text = rest.lstrip(" \t")
    if text.startswith("\\"):
        text = text[1:].lstrip(" \t").removeprefix("\n") if text[1:].lstrip(" \t")[:1] == "\n" else text[1:]
    text = text.replace("\\\n", "\n")
    return None if not text or "\\" in text else text.split("\n")


def _substitution(rest: str, extended: bool) -> Callable[[str], list[str]] | None:
    parts = _cut(rest)
    if parts is None or not _FLAGS.fullmatch(parts[2].strip()):
        return None
    flags = parts[2]
    pattern = _pattern(parts[0], extended, re.IGNORECASE if "I" in flags else 0)
    becomes = replacement(parts[1])
    return lambda line: pattern.sub(becomes, line, 0 if "g" in flags else 1).split("\n")


def _cut(rest: str) -> list[str] | None:
    """Cut `/old/new/flags` at its own mark."""
    mark, parts, position = rest[:1], [""], 1
    if not mark or mark.isalnum() or mark in "\\\n":
        return None
    while position < len(rest):
        letter = rest[position]
        if letter == "\\" and position + 1 < len(rest):
            following = rest[position + 1]
            if following == mark and mark in ".*[]^$+?(){}|&":
                return None
            parts[-1] += following if following == mark else letter + following
            position += 1
        elif letter == mark:
            parts.append("")
        else:
            parts[-1] += letter
        position += 1
    return parts if len(parts) == 3 else None
