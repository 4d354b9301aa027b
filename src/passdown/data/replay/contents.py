"""What is known of a file's content: all of it, some of its lines, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Whole(NamedTuple):
    """The whole content is known."""

    text: str


class Lines(NamedTuple):
    """Some lines are known, by their number from 1, without their line ends."""

    known: Mapping[int, str]


class Gone(NamedTuple):
    """There is no such file."""


class Unknown(NamedTuple):
    """There is such a file, and nobody saw what is in it."""


Content = Whole | Lines | Gone | Unknown
GONE, UNKNOWN = Gone(), Unknown()


def seen(content: Content, lines: Mapping[int, str], *, whole: bool) -> tuple[Content, bool | None]:
    """Return what is known after lines were shown, and whether they agree with what was known before.

    None: nothing that was shown was known. Where they disagree, what was shown counts.
    """
    if isinstance(content, Whole):
        own = content.text.split("\n")
        agrees = all(0 < number <= len(own) and _alike(own[number - 1], line) for number, line in lines.items())
        if whole:
            agrees = agrees and len(lines) >= len(content.text.rstrip("\n").split("\n"))
        return (content, True) if agrees else (_learned({}, lines, whole=whole), False)
    if isinstance(content, Lines):
        shared = [number for number in lines if number in content.known]
        agrees = all(_alike(content.known[number], lines[number]) for number in shared)
        before = content.known if agrees else {}
        return _learned(before, lines, whole=whole), agrees if shared else None
    return _learned({}, lines, whole=whole), None if isinstance(content, Unknown) else False


def _alike(one: str, other: str) -> bool:
    return one.rstrip() == other.rstrip()


def _learned(before: Mapping[int, str], lines: Mapping[int, str], *, whole: bool) -> Content:
    if whole:
        return Whole("".join(f"{lines[number]}\n" for number in sorted(lines)))
    return Lines({**before, **lines})


def spliced(content: Lines, first: int, last: int, text: list[str]) -> Lines:
    """Return the lines with `first` to `last` replaced by `text`; what stands behind moves."""
    moved = len(text) - (last - first + 1)
    kept = {number: line for number, line in content.known.items() if number < first}
    kept.update((first + place, line) for place, line in enumerate(text))
    kept.update((number + moved, line) for number, line in content.known.items() if number > last)
    return Lines(kept)


def stretch(content: Lines, old: list[str]) -> int | None:
    """Return the line at which known lines equal `old`, None unless it is exactly one place."""
    places = [
        number for number, line in content.known.items()
        if line == old[0] and all(content.known.get(number + place) == part for place, part in enumerate(old))
    ]  # fmt: skip
    return places[0] if len(places) == 1 else None
