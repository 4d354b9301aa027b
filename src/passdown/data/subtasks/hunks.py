"""Files with many hunks: the hunks of the final change, and how far each is at a cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from passdown.data.records import SubtaskStatus
from passdown.model.pattern import lazy_pattern

FEW = 3
"""Up to so many hunks a file is one subtask."""

_HEAD = lazy_pattern(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FILE = lazy_pattern(r"\+\+\+ (?:b/)?([^\t\r\n]+)")
_CONTEXT = 3
_MOST_LINES = 4000


class Hunk(NamedTuple):
    """One hunk: the lines before and after, with the context around them."""

    old: tuple[str, ...]
    new: tuple[str, ...]

    def status(self, lines: list[str]) -> SubtaskStatus:
        """Return how far the hunk is in a content: the lines after stand there, those before, or neither."""
        if _stands(lines, self.new):
            return "done"
        return "todo" if _stands(lines, self.old) else "in_progress"

    def status_of_known(self, known: Mapping[int, str], others: Iterable[Hunk] = ()) -> SubtaskStatus:
        """Return the same where only some lines of the file are known, by their number.

        Where neither side can be seen whole, the lines that this hunk adds and no other one decide: all of them are
        there, some, or none.
        """
        lines = _stretched(known)
        if (whole := self.status(lines)) != "in_progress":
            return whole
        present = set(lines)
        common = {line for other in others if other is not self for line in (*other.old, *other.new)}
        added = {line for line in self.new if line.strip()} - set(self.old) - common
        there = len(added & present)
        left = {line for line in self.old if line.strip()} - set(self.new) - common
        if there == len(added) and not left & present:
            return "done"
        return "in_progress" if there else "todo"


def status_of(hunks: Sequence[Hunk], number: int, lines: list[str]) -> SubtaskStatus:
    """Return how far one hunk of a file is. Of hunks that say the same, the place in the file tells which is which."""
    hunk = hunks[number]
    alike = [place for place, other in enumerate(hunks) if other == hunk]
    if len(alike) > 1:
        found: list[tuple[int, SubtaskStatus]] = [(at, "done") for at in _places(lines, hunk.new)]
        found += [(at, "todo") for at in _places(lines, hunk.old)]
        if len(found) == len(alike):
            return sorted(found)[alike.index(number)][1]
    return hunk.status(lines)


def _places(lines: list[str], part: tuple[str, ...]) -> list[int]:
    return [
        at for at, line in enumerate(lines) if part and line == part[0] and tuple(lines[at : at + len(part)]) == part
    ]


def _stretched(known: Mapping[int, str]) -> list[str]:
    """Return the known lines in order, with a line that no file has wherever lines are missing."""
    lines: list[str] = []
    last = None
    for number in sorted(known):
        if last is not None and number != last + 1:
            lines.append("\0")
        lines.append(known[number])
        last = number
    return lines


def _stands(lines: list[str], part: tuple[str, ...]) -> bool:
    if not part:
        return True
    first, size, at = part[0], len(part), -1
    try:
        while True:
            at = lines.index(first, at + 1)
            if tuple(lines[at : at + size]) == part:
                return True
    except ValueError:
        return False


def hunks_of_patch(patch: str) -> dict[str, tuple[Hunk, ...]]:
    """Return the hunks of a unified diff by file."""
    found: dict[str, list[Hunk]] = {}
    path, old, new, left = "", list[str](), list[str](), (0, 0)
    for row in patch.split("\n"):
        row = row.removesuffix("\r")
        if left != (0, 0):
            if row[:1] == "\\":
                continue
            if row[:1] != "+":
                old.append(row[1:])
            if row[:1] != "-":
                new.append(row[1:])
            left = (left[0] - (row[:1] != "+"), left[1] - (row[:1] != "-"))
            if left <= (0, 0) and path:
                found.setdefault(path, []).append(Hunk(tuple(old), tuple(new)))
                left = (0, 0)
        elif head := _HEAD.match(row):
            old, new, left = [], [], (int(head[1] or 1), int(head[2] or 1))
        elif named := _FILE.match(row):
            path = named[1]
    return {path: tuple(hunks) for path, hunks in found.items()}


def hunks_between(before: str, after: str) -> tuple[Hunk, ...]:
    """Return the hunks that lead from one content to another; none for texts that are too long to compare."""
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > _MOST_LINES:
        return ()
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT)
    return tuple(
        Hunk(tuple(old[group[0][1] : group[-1][2]]), tuple(new[group[0][3] : group[-1][4]])) for group in groups
    )
