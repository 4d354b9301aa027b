"""Whether one run proves what another one failed to: a wider run of the tests, or a list of commands that holds it."""

from __future__ import annotations

import posixpath
from functools import lru_cache

from msgspec import Struct

from passdown.evidence.kinds import look_at, program_of, words_of
from passdown.evidence.shell import split_shell
from passdown.model.evidence import CommandRun

MAX_PARTS = 32
_MOST = 2000
_UNSELECTIVE = frozenset({"run", "test", "tests", "t", "./...", ".", "...", "pytest", "unittest", "exec", "nextest"})


class _Ran(Struct, frozen=True, gc=False):
    """A simple command as it counts here."""

    words: tuple[str, ...]
    cwd: str
    is_test: bool


def covers(wide: CommandRun, narrow: CommandRun) -> bool:
    """Say whether a green run proves at least what another one ran.

    Of tests: the same program on the same files or folders. Of other commands: the very same words. In a list joined
    with `&&` every command was green.
    """
    asked = _asked(narrow.command, narrow.cwd, is_test=narrow.kind == "test")
    if narrow.kind != "test" and (wide.cwd != narrow.cwd or _lacks_words(wide.command, asked)):
        return False
    proven = _proven(wide.command, wide.cwd, is_test=wide.kind == "test")
    return bool(asked) and all(any(_covers(one, other) for one in proven) for other in asked)


def _lacks_words(command: str, asked: tuple[_Ran, ...]) -> bool:
    """Say whether a word that is asked for stands nowhere in a command; one with quotes may spell it otherwise."""
    if "'" in command or '"' in command or "\\" in command:
        return False
    return any(word not in command for one in asked for word in one.words)


def _covers(wide: _Ran, narrow: _Ran) -> bool:
    if not (wide.is_test and narrow.is_test):
        return wide.words == narrow.words and wide.cwd == narrow.cwd
    if program_of(_plain(wide.words)) != program_of(_plain(narrow.words)):
        return False
    chosen = _selection(wide)
    return all(any(_lies_in(item, folder) for folder in chosen) for item in _selection(narrow))


@lru_cache(maxsize=1024)
def _proven(command: str, cwd: str, *, is_test: bool) -> tuple[_Ran, ...]:
    """Return the commands of a green run whose own failure would have turned it red."""
    parts = split_shell(command)[:MAX_PARTS] if len(command) <= _MOST else []
    if any(part.before == "||" for part in parts):
        return ()
    start = max((index for index, part in enumerate(parts) if part.before == ";"), default=0)
    ends = [index for index in range(start, len(parts)) if index + 1 == len(parts) or parts[index + 1].before != "|"]
    return tuple(_ran(parts[index].text, cwd, is_test=is_test) for index in ends)


@lru_cache(maxsize=256)
def _asked(command: str, cwd: str, *, is_test: bool) -> tuple[_Ran, ...]:
    """Return the commands that a run's proof has to hold: its tests, without any all of it."""
    ran = [_ran(part.text, cwd, is_test=is_test) for part in split_shell(command[:_MOST])[:MAX_PARTS]]
    return tuple(one for one in ran if one.is_test) or tuple(ran)


def _ran(text: str, cwd: str, *, is_test: bool) -> _Ran:
    return _Ran(words_of(text), cwd, is_test and look_at(text).kind == "test")


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
