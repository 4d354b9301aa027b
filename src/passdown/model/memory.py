"""What outlives a topic: standing wishes, decisions and pinned clues of any packet, and how they have served since."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Came = Literal["passed", "failed", "unknown", "nothing"]
"""How the work stood at the packet that came of a takeover; `nothing` when none came."""


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing to remember, and the packet it is from. `at` is when that packet's evidence ends (RFC 3339).

    `standing` things (a human's wish, a pinned clue) never expire; the others do when they are not of use. `broken`
    are those of its `anchors` that lead nowhere here.
    """

    id: str
    kind: Literal["preference", "decision", "clue"]
    text: str
    why: str = ""
    by: str = ""
    standing: bool = False
    anchors: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    branch: str = ""
    topic: str = ""
    packet_id: str = ""
    at: str = ""


class PastTakeover(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A takeover, the memories its brief showed, and what came of it."""

    at: str
    memory: tuple[str, ...] = ()
    came: Came = "nothing"


class Ranked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory with its record: how many briefs showed it, and how the work after them ended."""

    memory: Remembered
    shown: int = 0
    passed: int = 0
    failed: int = 0
    score: float = 0.0


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a takeover or of a packet: the next packet, how the work stood there, and how long it took."""

    came: Came = "nothing"
    packet_id: str = ""
    seconds: int | None = None


class PacketLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the history of a repository needs to know of a packet."""

    packet_id: str
    replaces: frozenset[str] = frozenset()
    branch: str = ""
    topic: str = ""
    outcome: str = "unknown"
    as_of: str = ""
    status: str = ""
    head: str = ""
