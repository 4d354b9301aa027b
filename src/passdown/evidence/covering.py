"""Whether one run proves what another one failed to: a wider run of the tests, or a list of commands that holds it."""

from __future__ import annotations

import posixpath
from typing import NamedTuple

from passdown.evidence.kinds import look_at, program_of, words_of
from passdown.evidence.shell import split_shell
from passdown.model.evidence import CommandRun

MAX_PARTS = 32
_MOST = 2000
_UNSELECTIVE = frozenset({"run", "test", "tests", "t", "./...", ".", "...", "pytest", "unittest", "exec", "nextest"})


class _Ran(NamedTuple):
    """A simple command as it counts here."""

    words: tuple[str, ...]
    cwd: str
    is_test: bool


def covers(wide: CommandRun, narrow: CommandRun) -> bool:
    """Say whether a green run proves at least what another one ran.

    Of tests: the same program on the same files or folders. Of other commands: the very same words. In a list joined
    with `&&` every command was green.
    """
    proven = _proven(wide)
    asked = _parts(narrow)
    asked = [ran for ran in asked if ran.is_test] or asked
    return bool(asked) and all(any(_covers(one, other) for one in proven) for other in asked)


def _covers(wide: _Ran, narrow: _Ran) -> bool:
    if not (wide.is_test and narrow.is_test):
        return wide.words == narrow.words and wide.cwd == narrow.cwd
    if program_of(_plain(wide.words)) != program_of(_plain(narrow.words)):
        return False
    chosen = _selection(wide)
    return all(any(_lies_in(item, folder) for folder in chosen) for item in _selection(narrow))


def _proven(run: CommandRun) -> list[_Ran]:
    """Return the commands of a green run whose own failure would have turned it red."""
    parts = split_shell(run.command[:_MOST])[:MAX_PARTS] if len(run.command) <= _MOST else []
    if any(part.before == "||" for part in parts):
        return []
    start = max((index for index, part in enumerate(parts) if part.before == ";"), default=0)
    ends = [index for index in range(start, len(parts)) if index + 1 == len(parts) or parts[index + 1].before != "|"]
    return [_ran(parts[index].text, run) for index in ends]


def _parts(run: CommandRun) -> list[_Ran]:
    return [_ran(part.text, run) for part in split_shell(run.command[:_MOST])[:MAX_PARTS]]


def _ran(text: str, run: CommandRun) -> _Ran:
    return _Ran(words_of(text), run.cwd, run.kind == "test" and look_at(text).kind == "test")


def _lies_in(item: str, folder: str) -> bool:
    return folder in {item, "."} or item.startswith(f"{folder}/")


def _plain(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if not word.startswith("-"))


def _selection(ran: _Ran) -> frozenset[str]:
    """Return what a test command runs, as paths from the repository's root; its directory when it names nothing."""
    words = [word for word in _plain(ran.words)[1:] if word not in _UNSELECTIVE]
    return frozenset(
        posixpath.normpath(posixpath.join(ran.cwd, word.partition("::")[0])) for word in words
    ) or frozenset({ran.cwd or "."})
