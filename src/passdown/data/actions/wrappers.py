"""What takes a command and runs it: `sudo`, `timeout 60`, `uv run`, `bash -c`; and the command behind it."""

from __future__ import annotations

from passdown.data.actions import running
from passdown.data.actions.programs import PREFIXES, RUN_FIRST, RUNS, SHELLS, SKIPS_ONE, table
from passdown.model.pattern import lazy_pattern

_PACKAGERS = table("npm pnpm yarn bun")
_TOOLS = table(
    "vitest jest mocha playwright cypress ava tap tsc eslint prettier biome oxlint tsx ts-node webpack vite rollup"
)
"""Tools of a project that a package manager runs by their names alone."""
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*=")


def nested(words: tuple[str, ...]) -> str | None:
    """Return the script that `bash -c` or `eval` runs."""
    if not words:
        return None
    name = words[0].rpartition("/")[2]
    if name == "eval":
        return " ".join(words[1:])
    if name in SHELLS:
        for at, word in enumerate(words[1:5], 1):
            if word[:1] == "-" and word[:2] != "--" and word.endswith("c") and at + 1 < len(words):
                return words[at + 1]
    return None


def unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command behind `sudo`, `timeout 60`, `uv run`, `python -m` and the like."""
    for _ in range(6):
        name = words[0].rpartition("/")[2] if words else ""
        if name in _PACKAGERS and words[1:2] and words[1] in _TOOLS:
            return words[1:]
        rest = _behind(name, words) if name in PREFIXES or name in RUN_FIRST else None
        if rest is None and (running.program_name(name) == "python" or name == "-m"):
            rest = running.module(words if name == "-m" else words[1:])
        if not rest:
            return words
        words = rest
    return words


def _behind(name: str, words: tuple[str, ...]) -> tuple[str, ...] | None:
    if name in PREFIXES and not (name == "command" and words[1:2] in (("-v",), ("-V",))):
        return _past_flags(words[1:], PREFIXES[name], name in SKIPS_ONE, name == "env")
    for runner, valued in RUNS.items():
        if (name, *words[1 : len(runner)]) == runner:
            rest = _past_flags(words[len(runner) :], valued, False, False)
            if runner in (("npx",), ("bunx",), ("uvx",)) and rest and "@" in rest[0][1:]:
                rest = (rest[0][: rest[0].rindex("@")], *rest[1:])
            return ("python", *rest) if runner[0] == "coverage" and rest and rest[0].endswith(".py") else rest
    return None


def _past_flags(
    words: tuple[str, ...], valued: frozenset[str], skip: bool, assignments: bool
) -> tuple[str, ...] | None:
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word[:1] == "-" and word != "-m":
            at += 2 if word in valued else 1
        elif assignments and _ASSIGNMENT.match(word):
            at += 1
        else:
            break
    return words[at + skip :] or None
