"""What was changed in a file since the base commit, change by change, by lines."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from passdown.data.perturb.scene import InapplicableError, Scene, lines_of

MOST_LINES = 5000
"""Lines of a file that are compared."""


class Hunk(NamedTuple):
    """One change: lines `was` of the base commit are lines `at` now (start and stop, exclusive)."""

    was: tuple[int, int]
    at: tuple[int, int]

    @property
    def size(self) -> int:
        """How many lines it takes away and adds."""
        return self.was[1] - self.was[0] + self.at[1] - self.at[0]


class Changed(NamedTuple):
    """A file that the predecessor changed: its lines (with their ends) at the base commit and now, and the changes."""

    path: str
    base: list[str]
    now: list[str]
    hunks: tuple[Hunk, ...]


def hunks_of(base: Sequence[str], now: Sequence[str]) -> tuple[Hunk, ...]:
    """Return the changes from one list of lines to another."""
    matcher = difflib.SequenceMatcher(None, base, now, autojunk=False)
    return tuple(Hunk((a, b), (c, d)) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def changed_files(scene: Scene, suffix: str = "") -> list[Changed]:
    """Return the text files of the base commit that the predecessor changed. At least one, else not applicable."""
    if scene.base is None:
        raise InapplicableError("the base commit's files are not known")
    found: list[Changed] = []
    for path in scene.changed():
        before, text = scene.base_text(path), scene.text(path)
        if path not in scene.base or before is None or text is None or not path.endswith(suffix):
            continue
        base, now = lines_of(before), lines_of(text)
        if max(len(base), len(now)) <= MOST_LINES and (hunks := hunks_of(base, now)):
            found.append(Changed(path, base, now, hunks))
    if not found:
        raise InapplicableError("no file of the base commit was changed in lines")
    return found


def pick(scene: Scene, dice: random.Random, suffix: str = "") -> Changed:
    """Return one of the changed files."""
    return dice.choice(changed_files(scene, suffix))


def exchanged(lines: Sequence[str], parts: Iterable[tuple[tuple[int, int], Sequence[str]]]) -> str:
    """Return the text with other lines in these places."""
    made = list(lines)
    for (start, stop), other in sorted(parts, key=lambda part: part[0], reverse=True):
        made[start:stop] = other
    return "".join(made)


def undone(file: Changed, hunks: Iterable[Hunk]) -> str:
    """Return the file's text with some of the changes taken back."""
    return exchanged(file.now, [(hunk.at, file.base[hunk.was[0] : hunk.was[1]]) for hunk in hunks])


def places(hunks: Iterable[Hunk]) -> str:
    """Return where changes were, for an answer key: lines of the file as it was before the operator, from 1."""
    return "; ".join(f"{hunk.at[0] + 1}-{hunk.at[1]}" for hunk in sorted(hunks))
