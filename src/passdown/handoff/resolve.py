"""Resolve: several packets of one branch and topic are active; show what each one knows, and settle which goes on.

The one that is kept goes on through a new packet with its content, which supersedes all of them. Settled the same way
on two devices, that is one packet with one id; settled in two ways, it is again a conflict that is reported, never a
silent choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from passdown.errors import UsageError
from passdown.handoff.named import find_stored, where
from passdown.handoff.shelves import Place, place_of, writing
from passdown.handoff.shelving import mend_packet, put_packet, read_plain, repeat_packet
from passdown.io.files import read_bounded
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.packet.encode import decode_packet, encode_plain
from passdown.redact.neutralise import one_line
from passdown.store.chain import StoredPacket, conflicts, heads
from passdown.store.shelves import PACKET_LIMIT, Store, read_store

_KNOWN = 200


class Side(Struct, frozen=True, kw_only=True):
    """One of the active packets. `only` is what it says and none of the others does, each with the kind of thing."""

    packet_id: str
    shelf: str
    branch: str
    topic: str
    as_of: str
    agent: str
    kind: str
    outcome: str
    next_action: str
    only: tuple[tuple[str, str], ...] = ()


class Resolution(Struct, frozen=True, kw_only=True):
    """The conflicts of this branch, by topic, and what settling one of them wrote; `packet_id` is empty for nothing."""

    conflicts: tuple[tuple[Side, ...], ...] = ()
    packet_id: str = ""
    kept: str = ""
    over: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def report(self) -> dict[str, Any]:
        """Return what `resolve --json` prints."""
        return {
            "schema_version": 1,
            "conflicts": self.conflicts,
            "packet_id": self.packet_id,
            "kept": self.kept,
            "over": self.over,
            "changed": self.changed,
            "findings": self.findings,
        }


def resolve(folder: Path, keep: str = "", topic: str = "") -> Resolution:
    """Show the conflicts of this branch (and topic), or settle one by keeping the packet named.

    Raises `UsageError` when the packet named is not one of several that are active, `FormatError` when it was changed.
    """
    place = place_of(folder)
    if not keep:
        store = read_store(place.shelves)
        return _shown(store, _conflicts(store, place.branch, topic))
    with writing(place) as store:
        groups = _conflicts(store, place.branch, topic)
        in_conflict = [packet for group in groups for packet in group]
        if not in_conflict and (done := _settled(place, store, keep)):
            return done
        if not in_conflict:
            raise UsageError(
                f"there is no conflict on {where(place.branch)}", next_step="`passdown log` lists the packets."
            )
        kept = find_stored(in_conflict, place.branch, keep)
        return settle(place, store, next(group for group in groups if kept in group), kept)


def settle(place: Place, store: Store, group: Sequence[StoredPacket], kept: StoredPacket) -> Resolution:
    """Write the packet that repeats the kept one and supersedes the whole group. Call it while `writing`."""
    over = sorted(packet.packet_id for packet in group)
    made = repeat_packet(store, read_plain(kept), supersedes=kept.packet_id, over=over)
    shelf = "project" if any(packet.shelf == "project" for packet in group) else "local"
    shelved = put_packet(place, store, encode_plain(made), "local" if shelf == "local" else "project")
    return Resolution(
        conflicts=(_sides(group),),
        packet_id=shelved.packet.packet_id,
        kept=kept.packet_id,
        over=tuple(over),
        changed=tuple(place.name(path) for path in shelved.changed),
        findings=store.findings,
    )


def _settled(place: Place, store: Store, keep: str) -> Resolution | None:
    """Return what a settlement that was killed has written already, put right; None when there was none."""
    for packet in heads(store.packets, place.branch):
        lineage = packet.head.ext.lineage
        if len(lineage.over) > 1 and lineage.of.startswith(keep):
            mended = mend_packet(place, store, packet)
            changed = tuple(place.name(path) for path in mended.changed)
            return Resolution(packet_id=packet.packet_id, kept=lineage.of, over=lineage.over, changed=changed)
    return None


def _conflicts(store: Store, branch: str | None, topic: str) -> list[list[StoredPacket]]:
    groups = conflicts(heads(store.packets, branch, topic or None))
    return [sorted(group, key=lambda packet: (packet.head.as_of or "", packet.packet_id)) for group in groups]


def _shown(store: Store, groups: Sequence[Sequence[StoredPacket]]) -> Resolution:
    return Resolution(conflicts=tuple(_sides(group) for group in groups), findings=store.findings)


def _sides(group: Sequence[StoredPacket]) -> tuple[Side, ...]:
    packets = [decode_packet(read_bounded(packet.path, PACKET_LIMIT)) for packet in group]
    known = [dict.fromkeys(_knowledge(packet)) for packet in packets]
    sides = []
    for at, (stored, packet) in enumerate(zip(group, packets, strict=True)):
        elsewhere = {item for other, items in enumerate(known) if other != at for item in items}
        primary = next((line for line in packet.sessions if line.primary), None)
        sides.append(
            Side(
                packet_id=one_line(packet.packet_id, 64),
                shelf=stored.shelf,
                branch=one_line(packet.git.branch or "", 120),
                topic=one_line(packet.topic, 64),
                as_of=one_line(packet.as_of or "", 20),
                agent=one_line(primary.agent, 40) if primary else "",
                kind=packet.kind,
                outcome=packet.outcome,
                next_action=one_line(packet.next_action.text, 300),
                only=tuple(item for item in known[at] if item not in elsewhere),
            )
        )
    return tuple(sides)


def _knowledge(packet: Packet) -> Iterator[tuple[str, str]]:
    """Yield what a packet knows, as kind and one line."""
    yield from (("commit", one_line(f"{commit.id[:12]} {commit.subject}", _KNOWN)) for commit in packet.git.commits)
    yield from (("changed", one_line(f"{file.status} {file.path}", _KNOWN)) for file in packet.changed_files)
    yield from (("done", one_line(item.text, _KNOWN)) for item in packet.completed)
    yield from (("remaining", one_line(item.text, _KNOWN)) for item in packet.remaining)
    yield from (("decision", one_line(item.choice, _KNOWN)) for item in packet.decisions)
    yield from (("said", one_line(item.text, _KNOWN)) for item in packet.directives)
    yield from (("tried", one_line(item.what, _KNOWN)) for item in packet.failed_attempts)
    yield from (("question", one_line(item.question, _KNOWN)) for item in packet.questions_for_human)
    yield from (("risk", one_line(item.detail, _KNOWN)) for item in packet.open_risks)
    yield from (("clue", one_line(item.text, _KNOWN)) for item in packet.clues)
