"""What was done between a failure and the next run of the same command, in a few words each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

MAX_REMEMBERED = 400
MAX_KEPT = 8
MAX_WORDS = 110


class Doings:
    """The most recent edits and commands, numbered through all sessions."""

    def __init__(self) -> None:
        self.clock = 0
        self._recent: deque[tuple[int, str]] = deque(maxlen=MAX_REMEMBERED)

    def note(self, what: str) -> int:
        """Remember something done, in one line of at most `MAX_WORDS` characters; returns its number."""
        self.clock += 1
        if what:
            self._recent.append((self.clock, what))
        return self.clock

    def between(self, start: int, end: int) -> list[str]:
        """Return what was done after number `start` and before number `end`, each thing once, oldest first."""
        found: dict[str, None] = {}
        for number, what in reversed(self._recent):
            if number <= start:
                break
            if number < end:
                found[what] = None
        return list(found)[::-1]


def merge_tried(kept: tuple[str, ...], more: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Return the descriptions with new ones added, the newest kept beyond the cap, and how many fell out."""
    merged = list(dict.fromkeys((*kept, *more)))
    return tuple(merged[-MAX_KEPT:]), max(0, len(merged) - MAX_KEPT)
