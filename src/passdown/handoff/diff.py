"""Diff: what one packet knows that another did not."""

from __future__ import annotations

from pathlib import Path

from passdown.errors import NoEvidenceError, UsageError
from passdown.handoff.show import find_packet
from passdown.model.packet import Packet
from passdown.packet.difference import Difference, difference

ACTIVE = "active"
"""The name that stands for this branch's active packet."""


def diff(folder: Path, first: str = "", second: str = "") -> Difference:
    """Compare two packets, the earlier one first; with one named, or none (the active one), it and the one before it.

    A packet is named by file, id (or its beginning), session id, or `active`. Raises `NoEvidenceError` when a packet
    has none before it or that one is not here, and what finding a packet raises.
    """
    if second:
        return difference(_find(folder, first), _find(folder, second))
    packet = _find(folder, first)
    return difference(_predecessor(folder, packet), packet)


def _find(folder: Path, name: str) -> Packet:
    return find_packet(folder, "" if name == ACTIVE else name).packet


def _predecessor(folder: Path, packet: Packet) -> Packet:
    name = packet.packet_id[:12]
    if not packet.supersedes:
        raise NoEvidenceError(
            f"packet {name} is the first of its work: there is none before it",
            next_step="Name two packets: `passdown log` lists them, `passdown show` prints one.",
        )
    try:
        return _find(folder, packet.supersedes)
    except UsageError as error:
        raise NoEvidenceError(
            f"packet {name} supersedes {packet.supersedes[:12]!r}, which is not here",
            next_step="Name two packets that are: `passdown log` lists them.",
        ) from error
