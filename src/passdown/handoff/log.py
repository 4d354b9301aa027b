"""Log: the packets and the takeovers of this repository, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from passdown.config import load_config
from passdown.errors import FormatError, UnsafeError
from passdown.handoff.named import several_active
from passdown.handoff.place import find_root
from passdown.handoff.shelves import store_of
from passdown.io.files import read_bounded
from passdown.model.brief import TakeoverReceipt
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.packet.encode import decode_packet
from passdown.redact.neutralise import one_line
from passdown.repository.locate import read_layout
from passdown.store.chain import Chain, StoredPacket
from passdown.store.shelves import PACKET_LIMIT
from passdown.takeover.receipt import read_receipts


class LogEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A packet, or the takeover of one. `at` is when its evidence ends, or when it was taken (RFC 3339, UTC).

    `state` is how a packet stands (active, superseded, archived), or a takeover's verdict; `shelf` where it lies.
    `held` counts a takeover's claims that held, of `checked`.
    `came_of` is the packet that superseded this one, and how the work then stood.
    """

    what: Literal["packet", "takeover"]
    at: str
    packet_id: str
    branch: str = ""
    topic: str = ""
    state: str = ""
    outcome: str = ""
    by: str = ""
    head: str = ""
    held: int = 0
    checked: int = 0
    acknowledged: bool = False
    came_of: str = ""
    shelf: str = ""


class Log(Struct, frozen=True, kw_only=True):
    """The entries, newest first, and what could not be read."""

    entries: tuple[LogEntry, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_log(folder: Path) -> Log:
    """Read the packets on the shelf and the receipts of the repository around `folder`, of all branches.

    Raises `NoEvidenceError` outside a repository.
    """
    root = find_root(folder)
    store = store_of(root, load_config(root))
    packets: list[tuple[StoredPacket, Packet]] = []
    findings = [*store.findings, *several_active(store.packets)]
    for item in store.packets:
        try:
            packets.append((item, decode_packet(read_bounded(item.path, PACKET_LIMIT))))
        except (FormatError, UnsafeError, OSError) as error:
            where = f"{item.path.parent.name}/{item.path.name}"
            findings.append(Finding(code="packet.unreadable", severity="warn", detail=str(error), where=where))
    receipts, broken = read_receipts(read_layout(root).common_dir)
    after = {name: packet for item, packet in packets for name in item.head.replaces()}
    chain = Chain(store.packets)
    entries = [_packet(packet, chain.state(item), item.shelf, after) for item, packet in packets]
    entries += [_takeover(receipt, after) for receipt in receipts]
    entries.sort(key=lambda entry: (entry.at, entry.what, entry.packet_id), reverse=True)
    return Log(entries=tuple(entries), findings=(*findings, *broken))


def _packet(packet: Packet, state: str, shelf: str, after: dict[str, Packet]) -> LogEntry:
    return LogEntry(
        what="packet",
        at=one_line(packet.as_of or "", 20),
        packet_id=one_line(packet.packet_id, 64),
        branch=one_line(packet.git.branch or "", 120),
        topic=one_line(packet.topic, 64),
        state=state,
        shelf=shelf,
        outcome=packet.outcome,
        head=one_line(packet.git.head or "", 64),
        came_of=_came_of(packet.packet_id, after),
    )


def _takeover(receipt: TakeoverReceipt, after: dict[str, Packet]) -> LogEntry:
    return LogEntry(
        what="takeover",
        at=one_line(receipt.at, 20),
        packet_id=one_line(receipt.packet_id, 64),
        branch=one_line(receipt.branch, 120),
        topic=one_line(receipt.topic, 64),
        state=receipt.verdict,
        by=one_line(receipt.by, 40),
        head=one_line(receipt.head, 64),
        held=receipt.tally.holds,
        checked=receipt.tally.checkable,
        acknowledged=receipt.acknowledged,
        came_of=_came_of(receipt.packet_id, after),
    )


def _came_of(packet_id: str, after: dict[str, Packet]) -> str:
    successor = after.get(packet_id)
    return f"{one_line(successor.packet_id[:12], 12)} {successor.outcome}" if successor is not None else ""
