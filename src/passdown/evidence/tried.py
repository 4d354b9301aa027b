"""What was done between a failure and the next run of the same command, in a few words each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

MAX_REMEMBERED = 400
MAX_KEPT = 8
MAX_WORDS = 110


class Doings:
    """The most recent edits and commands, numbered through all sessions."""

    def __init__(self) -> None:
        self.clock = 0
        self._numbers: list[int] = []
        self._whats: list[str] = []

    def note(self, what: str) -> int:
        """Remember something done, in one line of at most `MAX_WORDS` characters; returns its number."""
        self.clock += 1
        if what:
            self._numbers.append(self.clock)
            self._whats.append(what)
            if len(self._whats) >= 2 * MAX_REMEMBERED:
                del self._numbers[:-MAX_REMEMBERED], self._whats[:-MAX_REMEMBERED]
        return self.clock

    def between(self, start: int, end: int) -> list[str]:
        """Return what was done after number `start` and before number `end`, each thing once, newest first."""
        first = max(bisect_right(self._numbers, start), len(self._numbers) - MAX_REMEMBERED)
        whats = self._whats[first : bisect_left(self._numbers, end)]
        whats.reverse()
        return list(dict.fromkeys(whats))


def merge_tried(kept: tuple[str, ...], more: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Return the descriptions, oldest first, with new ones added that are given newest first, each once.

    The newest are kept beyond the cap; the second value is how many fell out.
    """
    if not more:
        return kept, 0
    known = frozenset(kept)
    new = [what for what in more if what not in known] if known else more
    merged = (*kept, *new[MAX_KEPT - 1 :: -1]) if len(new) >= MAX_KEPT else (*kept, *new[::-1])
    return merged[-MAX_KEPT:], max(0, len(kept) + len(new) - MAX_KEPT)
