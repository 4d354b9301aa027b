"""Restore: an old packet becomes the active one again, through a new packet that says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from passdown.errors import ConflictError
from passdown.handoff.named import find_stored, where
from passdown.handoff.shelves import Place, place_of, require_packets, writing
from passdown.handoff.shelving import mend_packet, put_packet, read_plain, repeat_packet
from passdown.model.finding import Finding
from passdown.packet.encode import encode_plain
from passdown.packet.identity import same_content
from passdown.redact.neutralise import one_line
from passdown.store.chain import StoredPacket, conflicts, heads
from passdown.store.shelves import Store


class Restored(Struct, frozen=True, kw_only=True):
    """The packet that is active now, the old one whose content it has, those it supersedes, and the files written."""

    packet: StoredPacket
    of: StoredPacket
    over: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    new: bool = True
    findings: tuple[Finding, ...] = ()

    def report(self) -> dict[str, Any]:
        """Return what `restore --json` prints."""
        return {
            "schema_version": 1,
            "packet_id": self.packet.packet_id,
            "of": self.of.packet_id,
            "over": self.over,
            "shelf": self.packet.shelf,
            "changed": self.changed,
            "findings": self.findings,
        }

    def headline(self) -> str:
        """Return one line for the person who restored."""
        old, new = one_line(self.of.packet_id[:12], 12), one_line(self.packet.packet_id[:12], 12)
        return f"packet {new} is active now: it says what {old} says" if self.new else f"{new} is active already"


def restore(folder: Path, name: str) -> Restored:
    """Make an old packet's content the active one of its branch and topic again.

    A new packet with that content supersedes the present one; the old files stay as they are. Restoring what is active
    already writes nothing. Raises `UsageError` for a name that is none or several, `ConflictError` when several packets
    are active there, `FormatError` for a packet that was changed.
    """
    place = place_of(folder)
    with writing(place) as store:
        require_packets(store, place)
        return restore_stored(place, store, find_stored(store.packets, place.branch, name))


def restore_stored(place: Place, store: Store, old: StoredPacket) -> Restored:
    """Restore a packet that was found. Call it while `writing`."""
    active = heads(store.packets, old.head.git.branch, old.head.topic)
    if conflicts(active):
        raise ConflictError(
            f"{len(active)} packets are active for {where(old.head.git.branch)}, {one_line(old.head.topic, 64)}",
            next_step="Settle that first: passdown resolve.",
        )
    plain = read_plain(old)
    if active and (active[0].packet_id == old.packet_id or same_content(read_plain(active[0]), plain)):
        mended = mend_packet(place, store, active[0])
        changed = tuple(place.name(path) for path in mended.changed)
        return Restored(packet=active[0], of=old, changed=changed, new=False, findings=store.findings)
    over = [packet.packet_id for packet in active]
    made = repeat_packet(store, plain, supersedes=over[0] if over else None, over=over)
    shelf = "project" if "project" in {old.shelf, *(packet.shelf for packet in active)} else "local"
    shelved = put_packet(place, store, encode_plain(made), "local" if shelf == "local" else "project")
    return Restored(
        packet=shelved.packet,
        of=old,
        over=tuple(over),
        changed=tuple(place.name(path) for path in shelved.changed),
        findings=store.findings,
    )
