"""The normal form of a command: what makes two runs count as runs of the same command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from passdown.model.pattern import lazy_pattern

MAX_TOKENISED = 16_384
"""Longest command in characters that is split into tokens; a longer one is its own single token."""

_ASSIGNMENT = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*=")
_WORD = lazy_pattern(r"[^ \t\r\n]+")
_QUOTED = lazy_pattern(r"['\"\\]")

_WRAPPERS: dict[tuple[str, ...], tuple[frozenset[str], frozenset[str]]] = {
    ("uv", "run"): (
        frozenset({"--frozen", "--locked", "--no-sync", "--offline", "-q", "--quiet", "--all-extras", "--all-groups",
                   "--dev", "--no-dev", "--isolated", "--active", "--exact", "--no-project", "--"}),
        frozenset({"--with", "--extra", "--group", "--python", "-p", "--package", "--env-file"}),
    ),
    ("poetry", "run"): (frozenset({"--"}), frozenset()),
    ("pipenv", "run"): (frozenset({"--"}), frozenset()),
    ("npx",): (frozenset({"-y", "--yes", "--no", "--no-install", "-q", "--quiet", "--"}), frozenset()),
    ("env",): (frozenset({"--"}), frozenset({"-u", "--unset"})),
    ("command",): (frozenset({"--"}), frozenset()),
    ("time",): (frozenset({"-p", "--"}), frozenset()),
}  # fmt: skip
"""Each wrapper with the flags, and the options taking a value, that may stand between it and the command."""


_FIRST_WORDS = frozenset(name[0] for name in _WRAPPERS)


def _tokens(command: str) -> list[str]:
    if len(command) > MAX_TOKENISED:
        return [command]
    if not _QUOTED.search(command):
        return _WORD.findall(command)
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _after_wrapper(tokens: Sequence[str], start: int) -> int:
    """Return where the wrapped command begins, or `start` when no known wrapper stands there."""
    if tokens[start] not in _FIRST_WORDS:
        return start
    for name, (flags, valued) in _WRAPPERS.items():
        if tuple(tokens[start : start + len(name)]) != name:
            continue
        place = start + len(name)
        while place < len(tokens) and tokens[place].startswith("-"):
            option, has_value, _ = tokens[place].partition("=")
            if option in valued:
                place += 1 if has_value else 2
            elif option in flags:
                place += 1
            else:
                return start
        return place
    return start


def normalize_command(command: str | Sequence[str]) -> tuple[str, ...]:
    """Return the tokens that identify a command: without leading `NAME=value` and wrappers such as `uv run` or `npx`.

    `python -m` stays. A wrapper with an option not known here stays too, because what follows may be its value.
    A string that does not tokenise is returned as the single token; nothing but wrappers is returned as it is.
    """
    tokens = _tokens(command) if isinstance(command, str) else command
    if tokens and "=" not in tokens[0] and tokens[0] not in _FIRST_WORDS:
        return tuple(tokens)
    start = 0
    while start < len(tokens):
        place = start + 1 if _ASSIGNMENT.match(tokens[start]) else _after_wrapper(tokens, start)
        if place == start:
            break
        start = place
    return tuple(tokens[start:] or tokens)


def command_text(command: str | list[str]) -> str:
    """Return the command as one line to read or paste: an argv list joined with POSIX quoting, a string verbatim."""
    return command if isinstance(command, str) else shlex.join(command)
