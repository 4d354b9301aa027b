"""Which packets are active: computed from what each one says it supersedes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from passdown.model.lineage import EXT_KEY, Lineage

ShelfName = Literal["project", "local"]

_NOTHING: frozenset[str] = frozenset()


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
        over = self.ext.lineage.over
        if not over and self.supersedes != self.packet_id:
            return frozenset((self.supersedes,)) if self.supersedes else _NOTHING
        return frozenset(name for name in (self.supersedes, *over) if name and name != self.packet_id)

    def behind(self) -> frozenset[str]:
        """Return the ids of the packets that are not active because of this one: a repeated one is not, either."""
        of = self.ext.lineage.of
        return self.replaces() | {of} if of and of != self.packet_id else self.replaces()


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


class Chain:
    """The packets that are visible, and which of them supersede which."""

    def __init__(self, packets: Iterable[StoredPacket]) -> None:
        self._by_id = {packet.packet_id: packet for packet in packets}
        self._later: dict[str, list[str]] = {}
        for packet in self._by_id.values():
            for name in packet.head.behind():
                self._later.setdefault(name, []).append(packet.packet_id)

    def successors(self, packet_id: str) -> list[StoredPacket]:
        """Return the packets that supersede one, in order of their ids."""
        return [self._by_id[name] for name in sorted(self._later.get(packet_id, ()))]

    def is_superseded(self, packet: StoredPacket) -> bool:
        """Say whether a packet is superseded, by its own word or because another one here supersedes it.

        Packets that supersede one another in a circle do not get rid of each other.
        """
        if packet.head.status != "active":
            return True
        later = self._later.get(packet.packet_id)
        if not later:
            return False
        back = self.ancestors([packet.packet_id])
        return any(name not in back for name in later)

    def state(self, packet: StoredPacket) -> Literal["active", "superseded", "archived"]:
        """Return how a packet stands, whatever its own file says."""
        return "archived" if packet.archived else "superseded" if self.is_superseded(packet) else "active"

    def ancestors(self, start: Iterable[str]) -> frozenset[str]:
        """Return the ids, and those of all packets that they supersede, directly or through others here."""
        seen: set[str] = set()
        left = list(start)
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += self._by_id[name].head.behind() if name in self._by_id else ()
        return frozenset(seen)


def is_superseded(packet: StoredPacket, packets: Iterable[StoredPacket]) -> bool:
    """Say whether a packet is superseded among these; ask a `Chain` for more than one."""
    return Chain(packets).is_superseded(packet)


def heads(packets: Iterable[StoredPacket], branch: str | None, topic: str | None = None) -> list[StoredPacket]:
    """Return the packets that are active on a branch (and topic); several of one topic are a conflict.

    Active is what is neither archived nor superseded by another packet here.
    """
    packets = list(packets)
    chosen = [
        packet
        for packet in packets
        if packet.head.status == "active"
        and not packet.archived
        and packet.head.git.branch == branch
        and (topic is None or packet.head.topic == topic)
    ]
    chain = Chain(packets) if chosen else None
    return [packet for packet in chosen if chain is not None and not chain.is_superseded(packet)]


def conflicts(active: Iterable[StoredPacket]) -> list[list[StoredPacket]]:
    """Return the active packets, by branch and topic, wherever there is more than one."""
    groups: dict[tuple[str | None, str], list[StoredPacket]] = {}
    for packet in active:
        groups.setdefault((packet.head.git.branch, packet.head.topic), []).append(packet)
    return [group for group in groups.values() if len(group) > 1]
