"""Apply the hunks of a diff to a text: at the line they name, or at the only place where their context stands."""

from __future__ import annotations

from passdown.data.replay.contents import UNKNOWN, Content, Lines, replaced, spliced
from passdown.model.pattern import lazy_pattern

_HEAD = lazy_pattern(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
_NEAR = 200


def apply_hunks(text: str, hunks: str, form: str) -> str | None:
    """Return the text with every hunk applied, None when one does not fit or fits in several places."""
    lines = text.split("\n")
    moved = 0
    for at, old, new in _hunks(hunks, form):
        place = _place(lines, old, None if at is None else at - 1 + moved)
        if place is None and form == "codex":
            place = _place([line.strip() for line in lines], [line.strip() for line in old], None)  # as codex does it
        if place is None:
            return None
        lines[place : place + len(old)] = new
        moved += len(new) - len(old)
    return "\n".join(lines)


def applied_to_lines(content: Lines, hunks: str, form: str) -> Content:
    """Return what is known of a file's lines after hunks that did fit it: at their line, or where the old lines are."""
    after: Content = content
    moved = 0
    for at, old, new in _hunks(hunks, form):
        if not isinstance(after, Lines):
            return UNKNOWN
        if at is None:
            after = replaced(after, "\n".join(old), "\n".join(new)) if old else UNKNOWN
            continue
        first = at + moved + (not old)
        if any(after.known.get(first + place, line) != line for place, line in enumerate(old)):
            return UNKNOWN
        after = spliced(after, first, first + len(old) - 1, new)
        moved += len(new) - len(old)
    return after


def _hunks(hunks: str, form: str) -> list[tuple[int | None, list[str], list[str]]]:
    found: list[tuple[int | None, list[str], list[str]]] = []
    for line in hunks.removesuffix("\n").split("\n"):
        if line.startswith("@@"):
            head = _HEAD.match(line) if form == "unified" else None
            found.append((int(head[1]) if head else None, [], []))
            continue
        if line.startswith(("--- ", "+++ ", "diff ", "index ", "\\", "*** ")) and not (found and form == "codex"):
            continue
        if not found:
            found.append((None, [], []))
        _, old, new = found[-1]
        mark, rest = line[:1], line[1:]
        if mark in (" ", "-", ""):
            old.append(rest)
        if mark in (" ", "+", ""):
            new.append(rest)
    return [hunk for hunk in found if hunk[1] or hunk[2]]


def _place(lines: list[str], old: list[str], at: int | None) -> int | None:
    """Return where the old lines stand: at `at`, else nearest to it, else at the only place in the text."""
    if not old:
        return len(lines) - (lines[-1:] == [""]) if at is None else min(max(at + 1, 0), len(lines))
    places = [
        place for place in range(len(lines) - len(old) + 1)
        if lines[place] == old[0] and lines[place : place + len(old)] == old
    ]  # fmt: skip
    if at is not None and places:
        nearest = min(places, key=lambda place: abs(place - at))
        return nearest if abs(nearest - at) <= _NEAR else None
    return places[0] if len(places) == 1 else None
