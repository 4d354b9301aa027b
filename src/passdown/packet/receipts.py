"""The last section of handoff.md: the reports leaned on, what nobody knows, what was left out."""

from __future__ import annotations

from passdown.model.packet import Packet
from passdown.packet.escape import code, inline
from passdown.packet.sections import Room


def receipts(packet: Packet, room: Room) -> list[str]:
    """Return the reports leaned on, what is not known, and what was left out or masked."""
    pointer = packet.verdict_pointer
    parts = []
    for name, receipt in (("verification", pointer.verification), ("review", pointer.review)):
        if receipt is None:
            parts.append(f"{name}: none")
            continue
        verdict = receipt.verdict or {True: "passed", False: "failed", None: "no verdict"}[receipt.passed]
        where = code(receipt.path, room.path) if receipt.path else name
        parts.append(f"{name}: {where} ({inline(verdict, 20)}{', **stale**' if receipt.stale else ''})")
    state = packet.clean_state
    blocking = ", ".join(code(name, room.least(80)) for name in state.blocking[:5])
    parts.append(f"clean state: {blocking or '0 blocking'}" if state.checked else "clean state: not checked")
    lines = [" · ".join(parts)]
    lines += [
        f"Let pass ({inline(o.by or 'a person', room.least(80))}): {code(o.code, room.least(80))} "
        f"({inline(o.reason, room.chars)})"
        for o in packet.overrides[: room.items]
    ]
    if packet.unknowns:
        lines.append(
            f"Not known: {', '.join(inline(name, room.least(40)) for name in packet.unknowns[: room.items + 4])}"
        )
    if packet.omitted:
        counts = ", ".join(
            f"{inline(name, room.least(40))} {count}"
            for name, count in sorted(packet.omitted.items())[: room.items + 4]
        )
        lines.append(f"Left out: {counts}")
    if packet.redactions:
        masked = ", ".join(
            f"{inline(kind, room.least(40))} {count}" for kind, count in sorted(packet.redactions.items())[:6]
        )
        lines.append(f"Secrets masked: {masked}")
    return lines
