"""Archive: put packets aside, for good or until taken back. An archived packet drives nothing; nothing is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from passdown.errors import ConflictError, UsageError
from passdown.handoff.mirror import follow_active
from passdown.handoff.named import find_stored
from passdown.handoff.shelves import Place, place_of, require_packets, writing
from passdown.handoff.shelving import unmarked_files, write_packet_files
from passdown.model.finding import Finding
from passdown.redact.neutralise import one_line
from passdown.store.archive import last_turn, marker, markers_in
from passdown.store.chain import Chain, StoredPacket, heads
from passdown.store.shelves import Store


class Archived(Struct, frozen=True, kw_only=True):
    """The packets put aside (or, with `undone`, taken back) now, those that were so already, and the files written."""

    packets: tuple[StoredPacket, ...] = ()
    already: tuple[StoredPacket, ...] = ()
    undone: bool = False
    changed: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def report(self) -> dict[str, Any]:
        """Return what `archive --json` prints."""
        return {
            "schema_version": 1,
            "archived": not self.undone,
            "packets": [packet.packet_id for packet in self.packets],
            "already": [packet.packet_id for packet in self.already],
            "changed": self.changed,
            "findings": self.findings,
        }

    def lines(self) -> list[str]:
        """Return one line a packet for a person."""
        done, before = (
            ("no longer archived", "is not archived") if self.undone else ("archived", "was archived already")
        )
        said = [f"{one_line(packet.packet_id[:12], 12)}  {done}" for packet in self.packets]
        return said + [f"{one_line(packet.packet_id[:12], 12)}  {before}" for packet in self.already]


def archive(folder: Path, names: Sequence[str] = (), *, all_superseded: bool = False, undo: bool = False) -> Archived:
    """Archive the packets named, or all that are superseded; `undo` takes it back.

    Raises `UsageError` for a name that is none or several, `ConflictError` when another passdown goes on writing, or
    when taking it back would make two packets active.
    """
    if bool(names) == all_superseded:
        raise UsageError("name packets, or say --all-superseded", next_step="`passdown log` lists the packets.")
    if undo and "active" in names:
        raise UsageError(
            "what is archived is not active: name it by its id",
            next_step="`passdown log` lists the packets, the archived ones too.",
        )
    place = place_of(folder)
    with writing(place) as store:
        require_packets(store, place)
        if all_superseded:
            chosen = [packet for packet in _superseded(store) if packet.archived == undo]
        else:
            found = [find_stored(store.packets, place.branch, name) for name in names]
            chosen = list({packet.packet_id: packet for packet in found}.values())
        return set_archived(place, store, chosen, undo=undo)


def set_archived(place: Place, store: Store, chosen: Sequence[StoredPacket], *, undo: bool = False) -> Archived:
    """Write the next turn's marker beside each packet that is not so yet. Call it while `writing`.

    Raises `ConflictError` when taking it back would make two packets active.
    """
    turned = [packet for packet in chosen if packet.archived == undo]
    ids = {packet.packet_id for packet in turned}
    after = [structs.replace(p, archived=not undo) if p.packet_id in ids else p for p in store.packets]
    if undo:
        _require_no_conflict(turned, after)
    files = [file for packet in turned for file in _markers(packet)] + unmarked_files(place, after)
    changed = write_packet_files(place, files) if files else []
    changed += follow_active(place, after, local=all(packet.shelf == "local" for packet in turned))
    return Archived(
        packets=tuple(turned),
        already=tuple(packet for packet in chosen if packet.archived != undo),
        undone=undo,
        changed=tuple(place.name(path) for path in changed),
        findings=store.findings,
    )


def _require_no_conflict(turned: Sequence[StoredPacket], after: Sequence[StoredPacket]) -> None:
    for packet in turned:
        group = heads(after, packet.head.git.branch, packet.head.topic)
        if len(group) > 1 and packet.packet_id in {head.packet_id for head in group}:
            short = one_line(packet.packet_id[:12], 12)
            others = ", ".join(one_line(h.packet_id[:12], 12) for h in group if h.packet_id != packet.packet_id)
            raise ConflictError(
                f"packet {short} would be active beside {others}",
                next_step=f"To go on from it instead: passdown restore {short}.",
            )


def _markers(packet: StoredPacket) -> list[tuple[Path, bytes]]:
    """Return the marker for each copy of a packet; all of them carry the same turn from then on."""
    folders = [path.parent for path in (packet.path, *packet.copies)]
    last = max(last_turn(packet.packet_id, markers_in(folder)) for folder in folders)
    name, data = marker(packet.packet_id, last + (1 if (last % 2 == 1) == packet.archived else 2))
    return [(folder / name, data) for folder in folders]


def _superseded(store: Store) -> list[StoredPacket]:
    """Return what is superseded on the shelf it lies on: a mark that travels must be right elsewhere, too."""
    everything = Chain(store.packets)
    project = Chain(packet for packet in store.packets if packet.shelf == "project")
    return [p for p in store.packets if (project if p.shelf == "project" else everything).is_superseded(p)]
