"""Who notes something: a person, or an agent in whose shell the command runs. An agent does not speak for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from passdown.clean.overrides import AGENT_MARKERS
from passdown.errors import UnsafeError, UsageError
from passdown.takeover.receipt import who_takes

By = Literal["human", "agent"]


class Writer(Struct, frozen=True, kw_only=True):
    """Who writes. `marker` is the variable by which an agent shows, empty for a person."""

    by: By
    marker: str = ""
    terminal: bool = False

    @property
    def speaks_for_people(self) -> bool:
        """Whether a person may be behind this: no agent shows, or there is a terminal."""
        return not self.marker or self.terminal

    def require_person(self, what: str) -> None:
        """Raise `UnsafeError` when an agent is asking."""
        if not self.speaks_for_people:
            raise UnsafeError(
                f"{what}: {self.marker} says that an agent is asking, and there is no terminal",
                next_step="Ask the person to run this.",
            )


def writer_of(environ: Mapping[str, str], *, terminal: bool, claimed: str = "") -> Writer:
    """Return who writes, as the environment says, or as `claimed`.

    Raises `UsageError` for a claim that is neither `human` nor `agent`, `UnsafeError` for an agent's claim to be human.
    """
    marker = next((name for name in AGENT_MARKERS if environ.get(name)), "")
    agent = bool(marker) or who_takes(environ) != "human"
    writer = Writer(by="agent" if agent else "human", marker=marker or ("an agent" if agent else ""), terminal=terminal)
    match claimed:
        case "":
            return writer
        case "agent":
            return Writer(by="agent", marker=writer.marker, terminal=terminal)
        case "human":
            writer.require_person("an agent cannot note in a person's name")
            return Writer(by="human", marker=writer.marker, terminal=terminal)
    raise UsageError(f"{claimed[:40]!r} is no author", next_step="Say --by human or --by agent.")
