"""What is known of a file's content: all of it, some of its lines, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Whole(NamedTuple):
    """The whole content is known."""

    text: str


class Lines(NamedTuple):
    """Some lines are known, by their number from 1, without their line ends."""

    known: Mapping[int, str]


class Gone(NamedTuple):
    """There is no such file."""

    what: str = "gone"


class Unknown(NamedTuple):
    """There is such a file, and nobody saw what is in it."""

    what: str = "unknown"


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
        text = "\n".join(lines[number] for number in sorted(lines))
        return Whole(text if text.endswith("\n") or not text else f"{text}\n")
    return Lines({**before, **lines})


def spliced(content: Lines, first: int, last: int, text: list[str]) -> Lines:
    """Return the lines with `first` to `last` replaced by `text`; what stands behind moves."""
    moved = len(text) - (last - first + 1)
    kept = {number: line for number, line in content.known.items() if number < first}
    kept.update((first + place, line) for place, line in enumerate(text))
    kept.update((number + moved, line) for number, line in content.known.items() if number > last)
    return Lines(kept)


def replaced(content: Lines, old: str, new: str) -> Content:
    """Return the lines after the one place where `old` stands in the file was replaced.

    The replacement went well, so that `old` did stand there once. Where it is not among the known lines, those
    before it and behind it cannot be told apart, and stay known only when their number does not change.
    """
    places = [(first, lines, at) for first, lines in _stretches(content) for at in _starts("\n".join(lines), old)]
    if not places:
        return content if old.count("\n") == new.count("\n") else UNKNOWN
    if len(places) > 1:
        return UNKNOWN
    first, lines, at = places[0]
    text = "\n".join(lines)
    begin = text.count("\n", 0, at)
    end = text.count("\n", 0, at + len(old))
    made = (text[:at] + new + text[at + len(old) :]).split("\n")
    grown = len(made) - len(lines)
    return spliced(content, first + begin, first + end, made[begin : end + grown + 1])


def _starts(text: str, old: str) -> list[int]:
    found: list[int] = []
    at = text.find(old)
    while at >= 0 and len(found) < 2:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _stretches(content: Lines) -> Iterator[tuple[int, list[str]]]:
    """Yield the known lines in stretches without a gap: the first one's number, and the lines."""
    begin, lines = 0, list[str]()
    for number in sorted(content.known):
        if lines and number != begin + len(lines):
            yield begin, lines
            lines = []
        if not lines:
            begin = number
        lines.append(content.known[number])
    if lines:
        yield begin, lines
