"""Find a packet on the shelf by whatever a person has at hand."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.config import load_config
from passdown.errors import UsageError
from passdown.handoff.named import find_stored, only_head
from passdown.handoff.place import branch_on_shelf, find_root
from passdown.handoff.shelves import store_of
from passdown.io.files import read_bounded
from passdown.model.packet import Packet
from passdown.packet.encode import decode_packet
from passdown.redact.neutralise import one_line
from passdown.store.shelves import PACKET_LIMIT


class FoundPacket(Struct, frozen=True, kw_only=True):
    """A packet, its file, and the language its headings are shown in."""

    packet: Packet
    path: Path
    language: str = "en"


def find_packet(folder: Path, name: str = "") -> FoundPacket:
    """Find a packet: by file, packet id (or its beginning), session id; without a name, this branch's active one.

    Raises `NoEvidenceError` when there is none, `ConflictError` when several are active, `UsageError` for a wrong name.
    """
    if name and Path(name).is_file():
        path = Path(name)
        return FoundPacket(packet=decode_packet(read_bounded(path, PACKET_LIMIT)), path=path)
    root = find_root(folder)
    config = load_config(root)
    packets = store_of(root, config).packets
    branch = branch_on_shelf(root)
    path = (find_stored(packets, branch, name) if name else only_head(packets, branch)).path
    packet = decode_packet(read_bounded(path, PACKET_LIMIT))
    return FoundPacket(packet=packet, path=path, language=config.heading_language)


def show_clue(packet: Packet, name: str) -> str:
    """Return one clue, at most 300 characters, with its anchors below. Raises `UsageError` for an unknown id."""
    for clue in packet.clues:
        if clue.id == name:
            anchors = [
                f"  {anchor}{'  (leads nowhere now)' if anchor in clue.broken else ''}" for anchor in clue.anchors
            ]
            return "\n".join([one_line(clue.text, 300), *(anchors or ["  (no anchor)"])])
    known = ", ".join(clue.id for clue in packet.clues) or "none"
    raise UsageError(f"no clue {one_line(name, 80)!r}", next_step=f"This packet has: {known}.")
