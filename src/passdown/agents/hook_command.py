"""The command line that every installed hook runs, and how to know it again in somebody's settings."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.model.pattern import lazy_pattern

EVENTS = ("start", "prompt", "stop", "compact", "compacted", "end", "error", "interrupt")
"""Our words for what happens in a session; every agent's own names are mapped to them."""

_OWN = lazy_pattern(
    r"""\A(?P<python>"(?:[^"\\]|\\.)+"|\S+)\ -I\ -S\ """
    r"""(?P<entry>"(?:[^"\\]|\\.)*passdown[\\/]+hooks[\\/]+entry\.py"|\S*passdown[\\/]+hooks[\\/]+entry\.py)\ """
    r"""(?P<agent>[a-z_]+)\ (?P<event>[a-z]+)\s*\Z"""
)
_SPECIAL = lazy_pattern(r'(["\\$`])')
_ESCAPED = lazy_pattern(r'\\(["\\$`])')


class HookCommand(NamedTuple):
    """What a hook runs: the interpreter, and the entry file it is given; by which version of passdown it is written."""

    python: str
    entry: str
    version: str = ""

    def words(self, agent: str, event: str) -> list[str]:
        """Return the command as words, for who starts it without a shell."""
        return [self.python, "-I", "-S", self.entry, agent, event]

    def line(self, agent: str, event: str) -> str:
        """Return the command as one line for a shell."""
        return f"{_quoted(self.python)} -I -S {_quoted(self.entry)} {agent} {event}"


class OwnLine(NamedTuple):
    """A command line of ours, taken apart."""

    command: HookCommand
    agent: str
    event: str


def read_line(line: Any) -> OwnLine | None:
    """Take a command line apart when it is ours, of whatever installation; None when it is somebody else's."""
    match = _OWN.match(line) if isinstance(line, str) and len(line) < 20_000 else None
    if match is None or match["event"] not in EVENTS:
        return None
    return OwnLine(HookCommand(_plain(match["python"]), _plain(match["entry"])), match["agent"], match["event"])


def _quoted(word: str) -> str:
    return '"' + _SPECIAL.sub(r"\\\1", word) + '"'


def _plain(word: str) -> str:
    return _ESCAPED.sub(r"\1", word[1:-1]) if word.startswith('"') else word
