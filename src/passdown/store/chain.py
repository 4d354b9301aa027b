"""Which packets are active: computed from what each one says it supersedes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from passdown.model.lineage import EXT_KEY, Lineage

ShelfName = Literal["project", "local"]


class _Git(Struct, frozen=True):
    branch: str | None = None
    head: str | None = None


class _Ext(Struct, frozen=True):
    lineage: Lineage = field(default=Lineage(), name=EXT_KEY)


class PacketHead(Struct, frozen=True, kw_only=True):
    """What the store needs to know of a packet without understanding the rest."""

    packet_id: str
    session_id: str
    status: str
    topic: str = ""
    supersedes: str | None = None
    as_of: str | None = None
    git: _Git = _Git()
    ext: _Ext = _Ext()

    def replaces(self) -> frozenset[str]:
        """Return the ids of the packets that this one supersedes; they need not be here."""
        named = {self.supersedes, *self.ext.lineage.over} - {None, self.packet_id}
        return frozenset(name for name in named if name)


class StoredPacket(Struct, frozen=True, kw_only=True):
    """A packet file and its head; `copies` are further files with the same id."""

    path: Path
    head: PacketHead
    shelf: ShelfName = "project"
    archived: bool = False
    copies: tuple[Path, ...] = ()

    @property
    def packet_id(self) -> str:
        """The packet's id."""
        return self.head.packet_id


def heads(packets: Sequence[StoredPacket], branch: str | None, topic: str | None = None) -> list[StoredPacket]:
    """Return the packets that are active on a branch (and topic); several of one topic are a conflict.

    Active is what is neither archived nor superseded by another packet here. Packets that supersede one another in a
    circle do not get rid of each other: a circle that nothing else supersedes stays, as a conflict.
    """
    by_id = {packet.packet_id: packet for packet in packets}
    successors = successors_of(packets)
    return [
        packet
        for packet in packets
        if packet.head.status == "active"
        and not packet.archived
        and packet.head.git.branch == branch
        and (topic is None or packet.head.topic == topic)
        and not _is_replaced(packet, successors, by_id)
    ]


def successors_of(packets: Iterable[StoredPacket]) -> dict[str, list[StoredPacket]]:
    """Return id → the packets here that supersede it."""
    found: dict[str, list[StoredPacket]] = {}
    for packet in packets:
        for name in packet.head.replaces():
            found.setdefault(name, []).append(packet)
    return found


def ancestors(start: Iterable[str], packets: Iterable[StoredPacket]) -> frozenset[str]:
    """Return the ids, and those of all packets that they supersede, directly or through others here."""
    by_id = {packet.packet_id: packet for packet in packets}
    seen: set[str] = set()
    left = list(start)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += by_id[name].head.replaces() if name in by_id else ()
    return frozenset(seen)


def is_superseded(packet: StoredPacket, packets: Sequence[StoredPacket]) -> bool:
    """Say whether a packet is superseded, by its own word or because another one here supersedes it."""
    by_id = {other.packet_id: other for other in packets}
    return packet.head.status != "active" or _is_replaced(packet, successors_of(packets), by_id)


def _is_replaced(
    packet: StoredPacket, successors: dict[str, list[StoredPacket]], by_id: dict[str, StoredPacket]
) -> bool:
    later = successors.get(packet.packet_id)
    if not later:
        return False
    back = ancestors([packet.packet_id], by_id.values())
    return any(other.packet_id not in back for other in later)
