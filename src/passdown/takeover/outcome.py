"""What came of a takeover: the packet that followed it, how the work stood there, and how long it took."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.model.brief import TakeoverReceipt
from passdown.model.memory import Came, Outcome, PacketLine, PastTakeover
from passdown.model.moment import to_milliseconds

_READY = ("ready", "ready_with_drift")


def outcome_of(receipt: TakeoverReceipt, packets: Sequence[PacketLine]) -> Outcome:
    """Return what came of a takeover: the packet that supersedes the one taken, else the next one of its topic.

    Only work is an outcome: a packet whose evidence ends before the takeover tells of none.
    """
    after = [line for line in packets if line.as_of > receipt.at]
    direct = [line for line in after if receipt.packet_id in line.replaces]
    same = [
        line
        for line in after
        if (line.branch, line.topic) == (receipt.branch, receipt.topic) and line.packet_id != receipt.packet_id
    ]
    found = min(direct or same, key=lambda line: (line.as_of, line.packet_id), default=None)
    return Outcome() if found is None else _outcome(found, receipt.at)


def successor_of(packet: PacketLine, packets: Sequence[PacketLine]) -> Outcome:
    """Return the packet that supersedes this one, and how the work stood there."""
    found = min(
        (line for line in packets if packet.packet_id in line.replaces),
        key=lambda line: (line.as_of, line.packet_id),
        default=None,
    )
    return Outcome() if found is None else _outcome(found, packet.as_of)


def _outcome(line: PacketLine, since: str) -> Outcome:
    began, ended = to_milliseconds(since), to_milliseconds(line.as_of)
    took = (ended - began) // 1000 if began is not None and ended is not None else None
    came: Came = "passed" if line.outcome == "passed" else "failed" if line.outcome == "failed" else "unknown"
    return Outcome(came=came, packet_id=line.packet_id, seconds=took if took is None or took >= 0 else None)


def past_takeovers(receipts: Sequence[TakeoverReceipt], packets: Sequence[PacketLine]) -> list[PastTakeover]:
    """Return the takeovers, newest first, each packet's once, with the memories that any of its briefs showed.

    Who reads a brief again does not take over again. A packet that was not found ready was not taken.
    """
    first: dict[str, TakeoverReceipt] = {}
    shown: dict[str, dict[str, None]] = {}
    for receipt in sorted(receipts, key=lambda receipt: receipt.at):
        if receipt.verdict in _READY:
            first.setdefault(receipt.packet_id, receipt)
            shown.setdefault(receipt.packet_id, {}).update(dict.fromkeys(receipt.memory))
    taken = [
        PastTakeover(at=receipt.at, memory=tuple(shown[name]), came=outcome_of(receipt, packets).came)
        for name, receipt in first.items()
    ]
    return sorted(taken, key=lambda takeover: takeover.at, reverse=True)
