"""Log: the packets and the takeovers of this repository, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from passdown.config import load_config
from passdown.handoff.memory import packet_lines
from passdown.handoff.named import several_active
from passdown.handoff.place import find_root
from passdown.handoff.shelves import store_of
from passdown.model.brief import TakeoverReceipt
from passdown.model.finding import Finding
from passdown.model.memory import Outcome, PacketLine
from passdown.redact.neutralise import one_line
from passdown.repository.locate import read_layout
from passdown.store.chain import Chain
from passdown.takeover.outcome import outcome_of, successor_of
from passdown.takeover.receipt import read_receipts


class LogEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A packet, or the takeover of one. `at` is when its evidence ends, or when it was taken (RFC 3339, UTC).

    `state` is how a packet stands (active, superseded, archived), or a takeover's verdict; `shelf` where it lies.
    `held` counts a takeover's claims that held, of `checked`; `session` is the taker's, `memory` how many things of
    other topics its brief told. `came_of` is the packet that followed, and how the work then stood; for a takeover
    `outcome` says the latter alone, `nothing` when no packet followed. `next_after_s` is how many seconds that took.
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
    next_after_s: int | None = None
    session: str = ""
    memory: int = 0
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
    findings = [*store.findings, *several_active(store.packets)]
    lines = packet_lines(store.packets, findings)
    receipts, broken = read_receipts(read_layout(root).common_dir)
    chain, stored = Chain(store.packets), {item.packet_id: item for item in store.packets}
    entries = [
        _packet(line, chain.state(stored[line.packet_id]), stored[line.packet_id].shelf, lines) for line in lines
    ]
    entries += [_takeover(receipt, lines) for receipt in receipts]
    entries.sort(key=lambda entry: (entry.at, entry.what, entry.packet_id), reverse=True)
    return Log(entries=tuple(entries), findings=(*findings, *broken))


def _packet(line: PacketLine, state: str, shelf: str, lines: list[PacketLine]) -> LogEntry:
    after = successor_of(line, lines)
    return LogEntry(
        what="packet",
        at=line.as_of,
        packet_id=line.packet_id,
        branch=line.branch,
        topic=line.topic,
        state=state,
        shelf=shelf,
        outcome=line.outcome,
        head=line.head,
        came_of=_came_of(after),
        next_after_s=after.seconds,
    )


def _takeover(receipt: TakeoverReceipt, lines: list[PacketLine]) -> LogEntry:
    after = outcome_of(receipt, lines)
    return LogEntry(
        what="takeover",
        at=one_line(receipt.at, 20),
        packet_id=one_line(receipt.packet_id, 64),
        branch=one_line(receipt.branch, 120),
        topic=one_line(receipt.topic, 64),
        state=receipt.verdict,
        outcome=after.came,
        by=one_line(receipt.by, 40),
        head=one_line(receipt.head, 64),
        held=receipt.tally.holds,
        checked=receipt.tally.checkable,
        acknowledged=receipt.acknowledged,
        came_of=_came_of(after),
        next_after_s=after.seconds,
        session=one_line(receipt.taker, 80),
        memory=len(receipt.memory),
    )


def _came_of(after: Outcome) -> str:
    return f"{after.packet_id[:12]} {after.came}" if after.packet_id else ""
