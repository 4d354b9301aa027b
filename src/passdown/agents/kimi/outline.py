"""What must be known of a Kimi Code log before it is read: which records were undone, and which came with a fork."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from passdown.agents.kimi.code import anchors
from passdown.agents.kimi.records import Entry, decode
from passdown.io.jsonl import MAX_LINE, read_file_lines
from passdown.io.log import BAD
from passdown.model.pattern import lazy_pattern

_UNDO = lazy_pattern(rb'"type"\s*:\s*"(context\.undo|forked)"')
_STEPS = b'"context.'
_COUNT = lazy_pattern(rb'"count"\s*:\s*(\d{1,6})')


class Outline(NamedTuple):
    """Lines of the history: `undone` are spans of them in order; up to `forked` they are another session's."""

    undone: tuple[tuple[int, int], ...] = ()
    forked: int = 0

    def marks(self, line: int) -> dict[str, bool]:
        """Return how the events of a line are marked."""
        marks: dict[str, bool] = {}
        if line <= self.forked:
            marks["copied"] = True
        place = bisect_right(self.undone, (line, 1 << 62)) - 1
        if place >= 0 and line < self.undone[place][1]:
            marks["active"] = False
        return marks


def outline_of(path: Path, max_line: int = MAX_LINE) -> Outline:
    """Look through a log. Raises `FileNotFoundError` when it is gone."""
    if not any(
        line.data is not None and _UNDO.search(line.data[:400]) for line in read_file_lines(path, max_line=max_line)
    ):
        return Outline()
    sent: list[int] = []
    undone: list[tuple[int, int]] = []
    forked = 0
    for line in read_file_lines(path, max_line=max_line):
        data = line.data
        if data is None:
            continue
        if found := _UNDO.search(data[:400]):
            if found[1] == b"forked":
                forked = line.number
                continue
            times = _COUNT.search(data)
            back = min(int(times[1]) if times else 1, len(sent))
            if back:
                first = sent[-back]
                while undone and undone[-1][0] >= first:
                    undone.pop()
                undone.append((first, line.number))
                del sent[-back:]
        elif _STEPS in data[:400]:
            if b'"context.append_message"' in data[:400]:
                if (entry := _entry(data)) is not None and anchors(entry.data):
                    sent.append(line.number)
            elif b'"context.clear"' in data[:400] or b'"context.apply_compaction"' in data[:400]:
                sent.clear()
    return Outline(tuple(undone), forked)


def _entry(data: bytes) -> Entry | None:
    try:
        return decode(data)
    except BAD:
        return None
