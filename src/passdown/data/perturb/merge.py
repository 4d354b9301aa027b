"""A three-way merge by lines: the fix of one state, put on another state that came from the same one."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from passdown.data.perturb.scene import lines_of


class Merged(NamedTuple):
    """The merged text, and in how many places both sides had changed the same lines."""

    text: str
    conflicts: int


def merge3(base: str, ours: str, theirs: str) -> Merged:
    """Merge two texts that came from `base`. Where both changed the same lines, `theirs` stands and is counted."""
    if ours == base or theirs == ours:
        return Merged(theirs, 0)
    if theirs == base:
        return Merged(ours, 0)
    lines = [lines_of(text) for text in (base, ours, theirs)]
    made: list[str] = []
    conflicts = 0
    for was, one, other in _chunks(*lines):
        if one in (was, other):
            made += other
        elif other == was:
            made += one
        else:
            conflicts += 1
            made += other
    return Merged("".join(made), conflicts)


def _chunks(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Yield what lies between, and then at, the places where all three texts agree."""
    a, b, c = 0, 0, 0
    for at, in_ours, in_theirs, size in _agreed(base, ours, theirs):
        yield base[a:at], ours[b:in_ours], theirs[c:in_theirs]
        same = base[at : at + size]
        yield same, same, same
        a, b, c = at + size, in_ours + size, in_theirs + size
    yield base[a:], ours[b:], theirs[c:]


def _agreed(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of lines that all three texts have: where in each, and how many."""
    first, second = _blocks(base, ours), _blocks(base, theirs)
    one = other = 0
    while one < len(first) and other < len(second):
        (a, b, size), (a2, c, size2) = first[one], second[other]
        start, stop = max(a, a2), min(a + size, a2 + size2)
        if start < stop:
            yield start, b + start - a, c + start - a2, stop - start
        if a + size < a2 + size2:
            one += 1
        else:
            other += 1


def _blocks(base: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    matcher = difflib.SequenceMatcher(None, base, other, autojunk=False)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size]
