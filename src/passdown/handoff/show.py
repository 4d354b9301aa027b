"""Find a packet on the shelf by whatever a person has at hand."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.config import load_config
from passdown.errors import ConflictError, NoEvidenceError, UsageError
from passdown.handoff.gather import branch_on_shelf, find_root
from passdown.handoff.shelves import store_of
from passdown.io.files import read_bounded
from passdown.model.packet import Packet
from passdown.packet.encode import decode_packet
from passdown.redact.neutralise import one_line
from passdown.store.packets import PACKET_LIMIT, active_packets


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
    packets = list(store_of(root, config).packets)
    if name:
        if "/" in name or name.endswith(".json"):
            raise UsageError("there is no such file", where=one_line(name, 200), next_step="Name a handoff.json.")
        chosen = [
            p for p in packets if p.head.session_id == name or (len(name) >= 4 and p.head.packet_id.startswith(name))
        ]
        if len(chosen) != 1:
            known = ", ".join(p.head.packet_id[:12] for p in packets) or "none"
            what = "names several packets" if chosen else "names no packet"
            raise UsageError(f"{one_line(name, 80)!r} {what}", next_step=f"Here are: {known}.")
    else:
        branch = branch_on_shelf(root)
        chosen = active_packets(packets, branch)
        if not chosen:
            raise NoEvidenceError(
                f"no active packet for {branch or 'a detached HEAD'}",
                where=config.output,
                next_step="Run `passdown wrap` to write one.",
            )
        if len(chosen) > 1:
            raise ConflictError(
                f"{len(chosen)} packets are active for {branch}",
                next_step="Name one: " + ", ".join(p.head.packet_id[:12] for p in chosen),
            )
    path = chosen[0].path
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
