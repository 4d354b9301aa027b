"""The files that putting a packet on a shelf changes: its own, and those of the packets it supersedes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from passdown.errors import FormatError, UnsafeError
from passdown.handoff.mirror import follow_active
from passdown.handoff.shelves import Place
from passdown.io.files import read_bounded, write_files
from passdown.model.lineage import EXT_KEY
from passdown.packet.encode import decode_packet, decode_plain, encode_plain
from passdown.packet.identity import packet_id
from passdown.packet.render import render_markdown
from passdown.store.chain import Chain, PacketHead, ShelfName, StoredPacket
from passdown.store.shelves import PACKET_LIMIT, Store, decode_head, private


class Shelved(Struct, frozen=True, kw_only=True):
    """A packet that was put on a shelf, and the files whose bytes are new, in the order they were written."""

    packet: StoredPacket
    changed: tuple[Path, ...]


def put_packet(place: Place, store: Store, data: bytes, shelf: ShelfName) -> Shelved:
    """Write a packet on a shelf unless it lies there already, mark what it supersedes, and let the mirror follow.

    Call it while `writing`. The packet comes first: a crash leaves two files that say `active`, of which one supersedes
    the other, so that only one counts; the next call goes on. A local packet changes no file of the project.
    """
    head = decode_head(data, "handoff.json")
    known = next((packet for packet in store.packets if packet.packet_id == head.packet_id), None)
    if known is not None and (known.shelf == shelf or shelf == "local"):
        new, data = known, read_bounded(known.path, PACKET_LIMIT)
    else:
        path = _free_folder(place, shelf, head, data) / "handoff.json"
        copies = (known.path, *known.copies) if known is not None else ()
        new = StoredPacket(path=path, head=head, shelf=shelf, copies=copies)
    after = [new, *(packet for packet in store.packets if packet.packet_id != head.packet_id)]
    files = [(new.path, data), (new.path.with_name("handoff.md"), _markdown(place, data))]
    changed = write_packet_files(place, [*files, *_superseded(place, new, after)])
    changed += follow_active(place, after, prefer=new.packet_id, local=shelf == "local")
    return Shelved(packet=new, changed=tuple(changed))


def mend_packet(place: Place, store: Store, packet: StoredPacket) -> Shelved:
    """Put right what a killed writer left undone around a packet that lies here. Call it while `writing`."""
    return put_packet(place, store, read_bounded(packet.path, PACKET_LIMIT), packet.shelf)


def write_packet_files(place: Place, files: list[tuple[Path, bytes]]) -> list[Path]:
    """Write files of both shelves, those of the local one for this user alone. Returns the paths that changed."""
    local = [(path, data) for path, data in files if path.is_relative_to(place.shelves.local)]
    for path, _ in local:
        private(path.parent, place.shelves)
    project = [item for item in files if item not in local]
    ordered = (project, local) if project and files[0] == project[0] else (local, project)
    return [
        path
        for part in ordered
        for path in write_files(part, mode=0o600 if part is local else 0o644)
    ]  # fmt: skip


def repeat_packet(
    store: Store, plain: dict[str, Any], *, supersedes: str | None, over: Sequence[str]
) -> dict[str, Any]:
    """Return a packet with the content of `plain` and an id of its own, which supersedes the packets `over`.

    Its lineage says whose content it is. The same repetition made on another device is the same packet.
    """
    known = {packet.packet_id for packet in store.packets}
    known_until = max((p.head.as_of or "" for p in store.packets if p.packet_id in over), default="")
    name = str(plain["packet_id"])
    while True:
        lineage = {"of": name, "over": sorted(over), "as_of": known_until}
        made = plain | {"ext": plain.get("ext", {}) | {EXT_KEY: lineage}}
        made |= {"status": "active", "supersedes": supersedes, "superseded_by": None}
        made["packet_id"] = packet_id(made)
        if made["packet_id"] not in known:
            return made
        name = str(made["packet_id"])


def read_plain(packet: StoredPacket) -> dict[str, Any]:
    """Return a stored packet's JSON. Raises `FormatError` when it is none, or not what its id says."""
    plain = decode_plain(read_bounded(packet.path, PACKET_LIMIT))
    if packet_id(plain) != packet.packet_id:
        raise FormatError(
            "was changed after it was written", where=packet.path.parent.name, next_step="Wrap again instead."
        )
    return plain


def _markdown(place: Place, data: bytes) -> bytes:
    return render_markdown(decode_packet(data), language=place.config.heading_language).encode()


def _free_folder(place: Place, shelf: ShelfName, head: PacketHead, data: bytes) -> Path:
    """Return the packet's folder: its session's id, and eight digits of what it says when it is written.

    So two devices never write different bytes to one path, and git has nothing to ask about. What lies there already
    and is no packet is left alone.
    """
    name = f"{head.session_id}-{hashlib.sha256(data).hexdigest()[:8]}"
    folder, number = place.shelves.folder(shelf) / name, 1
    while os.path.lexists(folder / "handoff.json"):
        number += 1
        folder = place.shelves.folder(shelf) / f"{name}-{number}"
    return folder


def _superseded(place: Place, new: StoredPacket, after: Sequence[StoredPacket]) -> list[tuple[Path, bytes]]:
    """Return the files of the packets that are to be marked: what the new one supersedes, and what was left unmarked.

    A packet of the project is only marked for a packet of the project: the mark travels, and must not travel alone.
    """
    older = Chain(after).ancestors(new.head.behind())
    files = unmarked_files(place, after)
    for packet in after:
        mine = packet.packet_id in older and (new.shelf == "project" or packet.shelf == "local")
        if mine and packet.head.status == "active" and packet.packet_id != new.packet_id:
            files += [file for path in (packet.path, *packet.copies) for file in _marked(place, path)]
    return list(dict(files).items())


def unmarked_files(place: Place, packets: Sequence[StoredPacket]) -> list[tuple[Path, bytes]]:
    """Return the files of the packets that are superseded on their shelf and do not say so yet, marked."""
    everything, project = Chain(packets), Chain(packet for packet in packets if packet.shelf == "project")
    files = []
    for packet in packets:
        visible = project if packet.shelf == "project" else everything
        if packet.head.status == "active" and visible.is_superseded(packet):
            files += [file for path in (packet.path, *packet.copies) for file in _marked(place, path)]
    return files


def _marked(place: Place, path: Path) -> list[tuple[Path, bytes]]:
    """Return a packet's files with its status rewritten and nothing else; one that cannot be read stays as it is.

    The Markdown comes first: as long as the JSON still says `active`, the next writer knows that there is work left.
    Markdown of another version of passdown is not rendered again: every device must write the same bytes.
    """
    try:
        data = read_bounded(path, PACKET_LIMIT)
        marked = encode_plain(decode_plain(data) | {"status": "superseded"})
        old, new = _markdown(place, data), _markdown(place, marked)
        beside = path.with_name("handoff.md")
        present = read_bounded(beside, 1 << 20) if os.path.lexists(beside) else b""
    except (FormatError, UnsafeError):
        return []
    title, line, rest = present.partition(b"\n")
    if present != old and title.endswith(b" active"):
        new = title.removesuffix(b"active") + b"superseded" + line + rest
    return [(beside, new), (path, marked)]
