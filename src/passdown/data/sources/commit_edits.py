"""From the two contents of a file to the edits between them: texts that stand there once, and what they become."""

from __future__ import annotations

_MOST = 40
"""Hunks of one file that are told one by one; a file with more is told as rewritten."""
Hunk = tuple[int, int, int, int]


def edits_between(old: str, new: str, hunks: list[Hunk]) -> list[tuple[str, str]] | None:
    """Return replacements that make `new` of `old`, each of a text that stands in the file once at that moment.

    None when the file is better told as written anew.
    """
    if not hunks or len(hunks) > _MOST or not old:
        return None
    before, after = _lines(old), _lines(new)
    running, found = old, []
    lines = list(before)
    shift = 0
    for first, count, new_first, new_count in hunks:
        begin = (first - 1 if count else first) + shift
        fresh = after[new_first - 1 : new_first - 1 + new_count] if new_count else []
        pair = _unique(lines, running, begin, begin + count, fresh)
        if pair is None:
            return None
        found.append(pair)
        running = running.replace(*pair, 1)
        lines[begin : begin + count] = fresh
        shift += new_count - count
    return found if running == new else None


def _lines(text: str) -> list[str]:
    """Split at line feeds only, as git does."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _unique(lines: list[str], running: str, begin: int, end: int, fresh: list[str]) -> tuple[str, str] | None:
    """Return the replaced lines with as many around them as it takes for them to stand in the file once."""
    around = 1
    while True:
        low, high = max(0, begin - around), min(len(lines), end + around)
        old = "".join(lines[low:high])
        if low == 0 and high == len(lines):
            break
        if old and running.find(old) == running.rfind(old):
            break
        around *= 2
    new = "".join([*lines[low:begin], *fresh, *lines[end:high]])
    if low == 0 and high == len(lines) and around > 1 and running.find(old) != running.rfind(old):
        return None
    if old.endswith("\n") and new.endswith("\n") and _once(running, old[:-1]):
        old, new = old[:-1], new[:-1]
    return (old, new) if old and old != new else None


def _once(text: str, part: str) -> bool:
    return bool(part) and text.find(part) == text.rfind(part)
