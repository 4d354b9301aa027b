"""Which packet is meant by a name: the beginning of its id, its session's id, or `active`."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.errors import ConflictError, NoEvidenceError, UsageError
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line
from passdown.store.chain import StoredPacket, conflicts, heads

_PREFIX = lazy_pattern(r"[0-9a-f]{4,64}")
_LISTED = 12


def find_stored(packets: Sequence[StoredPacket], branch: str | None, name: str) -> StoredPacket:
    """Return the packet meant. A session that has several packets stands for its active one, when it has just one.

    Raises `UsageError`, listing what is here, for a name that is none or fits several; what `only_head` raises for
    `active`.
    """
    if name == "active":
        return only_head(packets, branch)
    if "/" in name or name.endswith(".json"):
        raise UsageError("there is no such file", where=one_line(name, 200), next_step="Name a handoff.json.")
    of_session = [packet for packet in packets if packet.head.session_id == name]
    if len(of_session) > 1:
        live = {head.packet_id for packet in of_session for head in heads(packets, packet.head.git.branch)}
        of_session = [packet for packet in of_session if packet.packet_id in live] or of_session
    by_id = [p for p in packets if p.packet_id.startswith(name)] if _PREFIX.fullmatch(name) else []
    chosen = of_session or by_id
    if len(chosen) == 1:
        return chosen[0]
    what = "names several packets" if chosen else "names no packet"
    short = " An id's beginning needs 4 digits." if 0 < len(name) < 4 else ""
    raise UsageError(f"{one_line(name, 80)!r} {what}", next_step=f"Here are: {_listed(chosen or packets)}.{short}")


def only_head(packets: Sequence[StoredPacket], branch: str | None) -> StoredPacket:
    """Return the branch's active packet. Raises `NoEvidenceError` for none, `ConflictError` for several."""
    active = heads(packets, branch)
    if not active:
        raise NoEvidenceError(
            f"no packet is active on {where(branch)}", next_step="Run `passdown wrap` to write one, or name one."
        )
    require_one(active, branch)
    return active[0]


def require_one(active: Sequence[StoredPacket], branch: str | None) -> None:
    """Raise `ConflictError` for several packets: a conflict within a topic is settled, topics are chosen from."""
    if len(active) < 2:
        return
    if conflicts(active):
        next_step = f"See them side by side, and settle it: passdown resolve. They are: {_listed(active)}."
    else:
        next_step = f"Each has a topic of its own; name the one: {_listed(active)}."
    raise ConflictError(f"{len(active)} packets are active for {where(branch)}", next_step=next_step)


def several_active(packets: Sequence[StoredPacket]) -> list[Finding]:
    """Return a finding for each branch and topic of which several packets are active."""
    active = [head for branch in {p.head.git.branch for p in packets} for head in heads(packets, branch)]
    found = []
    for group in conflicts(active):
        names = ", ".join(sorted(one_line(packet.packet_id[:12], 12) for packet in group))
        detail = f"several packets are active for {one_line(group[0].head.topic, 64)}: {names}"
        branch = one_line(group[0].head.git.branch or "a detached HEAD", 120)
        found.append(
            Finding(code="packet.several_active", severity="warn", detail=detail, where=branch, fix="passdown resolve")
        )
    return sorted(found, key=lambda finding: (finding.where, finding.detail))


def where(branch: str | None) -> str:
    """Return how messages call a branch."""
    return one_line(branch, 120) if branch else "a detached HEAD"


def _listed(packets: Sequence[StoredPacket]) -> str:
    newest = sorted(packets, key=lambda packet: (packet.head.as_of or "", packet.packet_id), reverse=True)
    names = [
        f"{one_line(p.packet_id[:12], 12)} ({where(p.head.git.branch)}, {one_line(p.head.topic, 40)})"
        for p in newest[:_LISTED]
    ]
    left = len(newest) - len(names)
    return ", ".join([*names, *([f"and {left} older"] if left else [])]) or "none"
