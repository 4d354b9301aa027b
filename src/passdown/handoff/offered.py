"""What a name on the command line may be: the packets and notes that a shell offers. Only plain ids: a shell puts what
it is offered into the user's command line as it stands.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from passdown.config import load_config
from passdown.handoff.place import find_root
from passdown.handoff.shelves import store_of
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line

MOST = 60
"""Most names that are offered, the newest first: a shell asks back before it shows more than a screen."""

_PACKET = lazy_pattern(r"[0-9a-f]{12,64}")
_NOTE = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHORT = 12


class Offer(NamedTuple):
    """A name and what it stands for."""

    name: str
    about: str


def offer_packets(folder: Path, begun: str, archived: Literal["with", "without", "only"] = "with") -> list[Offer]:
    """Return the packets whose id begins so, newest first, each by as much of its id as `passdown log` shows.

    Raises `NoEvidenceError` outside a repository.
    """
    root = find_root(folder)
    packets = [
        packet for packet in store_of(root, load_config(root)).packets
        if packet.packet_id.startswith(begun) and _PACKET.fullmatch(packet.packet_id)
        and (archived == "with" or packet.archived is (archived == "only"))
    ]  # fmt: skip
    packets.sort(key=lambda packet: (packet.head.as_of or "", packet.packet_id), reverse=True)
    return [
        Offer(
            packet.packet_id[:_SHORT] if len(begun) <= _SHORT else packet.packet_id,
            one_line(f"{packet.head.git.branch or 'a detached HEAD'}, {packet.head.topic}, {packet.head.as_of}", 100),
        )
        for packet in packets[:MOST]
    ]


def offer_notes(folder: Path, begun: str, kind: str = "", *, open_only: bool = False) -> list[Offer]:
    """Return the notes of a kind, or of all, whose id begins so, the last ones first.

    Raises `NoEvidenceError` outside a repository.
    """
    from passdown.handoff.notes.listing import list_notes

    items = [
        item for item in list_notes(folder, kind).items
        if item.id.startswith(begun) and _NOTE.fullmatch(item.id) and (not open_only or item.state == "open")
    ]  # fmt: skip
    return [Offer(item.id, one_line(f"{item.kind}: {item.text}", 100)) for item in reversed(items[-MOST:])]
