"""An action before it knows where it happened: its paths are still as the agent wrote them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from passdown.data.records import ActionKind

MARK = "\x00"
"""Stands around a path in a target or a detail, until the directory that it is relative to is known."""
BUCKET = 50
MAX_FILES = 16


class Draft(NamedTuple):
    """One atomic action. `target` and `detail` hold paths between `MARK`s; `part` counts the call's simple commands."""

    kind: ActionKind
    target: str = ""
    detail: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    part: int = 0


def marked(path: str) -> str:
    """Return a path between marks, to be resolved later."""
    return f"{MARK}{path}{MARK}"


def bucket(first: int, last: int | None) -> str:
    """Return the range of lines `first` to `last` (1-based; None: to the end) in buckets of 50: `[0:50]`."""
    start = max(0, first - 1) // BUCKET * BUCKET
    if last is None:
        return f"[{start}:]" if start else ""
    return f"[{start}:{max(start + BUCKET, -(-last // BUCKET) * BUCKET)}]"


def end_bucket(lines: int) -> str:
    """Return the last `lines` lines in buckets of 50: `[-50:]`."""
    return f"[-{max(BUCKET, -(-lines // BUCKET) * BUCKET)}:]"


class Words(NamedTuple):
    """The arguments of a command: flags with their values, and the rest."""

    flags: tuple[tuple[str, str], ...]
    rest: tuple[str, ...]

    def value(self, *names: str) -> str | None:
        """Return the value of the first of these flags that is there."""
        return next((value for flag, value in self.flags if flag in names), None)

    def has(self, *names: str) -> bool:
        """Say whether one of these flags is there."""
        return any(flag in names for flag, _ in self.flags)


def sort_words(words: Iterable[str], valued: Collection[str] = ()) -> Words:
    """Tell flags from the rest. A flag in `valued` takes the next word (or what is glued to it)."""
    flags: list[tuple[str, str]] = []
    rest: list[str] = []
    pending, ended = "", False
    for word in words:
        if pending:
            flags.append((pending, word))
            pending = ""
        elif ended or len(word) < 2 or word[0] != "-":
            rest.append(word)
        elif word == "--":
            ended = True
        elif word[:2] == "--" or "=" in word:
            name, equals, value = word.partition("=")
            if not equals and name in valued:
                pending = name
            else:
                flags.append((name, value))
        elif word in valued:
            pending = word
        elif word[:2] in valued:
            flags.append((word[:2], word[2:]))
        elif word[-1] != word[1] and f"-{word[-1]}" in valued and word[1:].isalpha() and len(word) <= 5:
            flags.append((word[:-1], ""))
            pending = f"-{word[-1]}"
        else:
            flags.append((word, ""))
    if pending:
        flags.append((pending, ""))
    return Words(tuple(flags), tuple(rest))


def text_of(program: str, words: Words, paths: Collection[str] = ()) -> str:
    """Return the normal form of a command: the program, its flags sorted, the rest in order; paths marked."""
    flags = sorted(f"{flag} {value}" if value else flag for flag, value in words.flags)
    rest = [marked(word) if word in paths else word for word in words.rest]
    return " ".join((program, *flags, *rest))
