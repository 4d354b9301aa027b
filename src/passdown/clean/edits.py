"""Edits that mend a finding: collected while the checks look, carried out only when one is asked for by its name."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from passdown.model.digest import sha256
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import BoardStatus

NAME = lazy_pattern(r"[0-9a-f]{8}")


class LineEdit(Struct, frozen=True):
    """Lines `first` to `last` (1-based) of a file, as they read, and what stands there instead."""

    first: int
    last: int
    old: tuple[str, ...]
    new: tuple[str, ...] = ()


class FileEdit(Struct, frozen=True):
    """Lines of one file that change."""

    path: str
    lines: tuple[LineEdit, ...]


class StatusEdit(Struct, frozen=True):
    """An item of a board or feature list that gets another status."""

    path: str
    item: str
    status: BoardStatus


Edit = FileEdit | StatusEdit


class Edits:
    """What could be done, by name. A name is made of what an edit does, not of line numbers: those move.

    `options` are those of the command line that the commands have to repeat so that the same is found.
    """

    def __init__(self) -> None:
        self.options = ""
        self._by_name: dict[str, dict[Edit, None]] = {}

    def offer(self, code: str, edit: Edit) -> str:
        """Keep an edit that mends a finding of this code, and return the command that carries it out."""
        match edit:
            case FileEdit():
                what: list[object] = [code, edit.path, [[line.old, line.new] for line in edit.lines]]
            case StatusEdit():
                what = [code, edit.path, edit.item, edit.status]
        name = sha256(msgspec.json.encode(what)).hexdigest()[:8]
        self._by_name.setdefault(name, {})[edit] = None
        return f"passdown check{self.options} --mend {name}"

    def named(self, name: str) -> tuple[Edit, ...]:
        """Return the edits of a name: several where the same lines stand more than once in a file."""
        return tuple(self._by_name.get(name, ()))


def replace_lines(text: str, edits: list[LineEdit]) -> str | None:
    """Return the text with these edits made, its line ends kept; None when it does not read as they say, or they clash.

    The same edit twice is one.
    """
    lines = _LINES.findall(text)
    last = len(lines) + 1
    for edit in sorted(set(edits), key=lambda edit: edit.first, reverse=True):
        there = [_END.sub("", line) for line in lines[edit.first - 1 : edit.last]]
        if edit.last >= last or tuple(map(_plain, there)) != edit.old:
            return None
        end = _end_of(lines[edit.first - 1]) or "\n"
        lines[edit.first - 1 : edit.last] = [f"{line}{end}" for line in edit.new]
        last = edit.first
    return "".join(lines)


_LINES = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_END = lazy_pattern(r"[\r\n]+\Z")


def _end_of(line: str) -> str:
    found = _END.search(line)
    return found[0] if found else ""


def _plain(line: str) -> str:
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
