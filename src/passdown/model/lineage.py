"""Lineage: how a packet that repeats the content of an older one differs from it."""

from __future__ import annotations

from msgspec import Struct

EXT_KEY = "x-passdown-lineage"
"""Where it stands under a packet's `ext`: hashed, so that a repetition has an id of its own."""


class Lineage(Struct, frozen=True, kw_only=True):
    """`of` is the packet whose content is repeated, `over` the packets superseded by that, in order of their ids.

    A packet's `supersedes` names one packet and is not hashed. Two repetitions of the same content over the same
    packets are the same packet, on whatever device they were made; over others they are different ones. `as_of` is
    how far the evidence of those it supersedes reaches: whoever repeated the old one knew that much, and chose it.
    """

    of: str = ""
    over: tuple[str, ...] = ()
    as_of: str = ""
