"""One main agent per task: who has a branch's topic in hand. A person who looks is never in the way, nor stopped.

An agent that takes a packet has the topic in hand until it wraps (a packet with later evidence), ends, or gives no
sign of life for some minutes; its own log growing is a sign. A human's `--steal` ends it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from passdown.model.brief import TakeoverReceipt
from passdown.model.memory import PacketLine
from passdown.model.moment import to_milliseconds
from passdown.redact.neutralise import one_line

_READY = ("ready", "ready_with_drift")


class Taker(Struct, frozen=True, kw_only=True):
    """Who takes: an agent's id or `human`; its session and the programs it runs in, where they are known."""

    by: str
    session: str = ""
    processes: tuple[str, ...] = ()


class Holder(Struct, frozen=True, kw_only=True):
    """Who has the topic in hand: the agent, its session where known, for how long and since when without a sign."""

    by: str
    session: str = ""
    held: int = 0
    silent: int = 0

    def describe(self) -> str:
        """Return the holder and the age in words."""
        session = f" (session {one_line(self.session, 80)[:12]})" if self.session else ""
        who = f"{one_line(self.by, 40)}{session}"
        return f"{who} took it {_ago(self.held)} and gave its last sign of life {_ago(self.silent)}"


def holder_of(
    receipts: Sequence[TakeoverReceipt],
    packets: Sequence[PacketLine],
    taker: Taker,
    place: tuple[str, str],
    *,
    grew: Mapping[str, int],
    now: int,
    minutes: int,
    is_over: Callable[[Sequence[str]], bool],
) -> Holder | None:
    """Return who has the topic of a branch (`place`) in hand, None when nobody else has.

    `receipts` come newest first; `grew` says when each session's log grew last (an agent's,
    for a claim without a session); `is_over` whether programs have ended.
    """
    claims = (r for r in receipts if (r.branch, r.topic) == place and r.verdict in _READY)
    claim = next((r for r in claims if r.by != "human" or r.steal), None)
    if claim is None or claim.steal or _is_same(claim, taker) or is_over(claim.processes):
        return None
    if any(_is_later(line, claim) and (line.branch, line.topic) == place for line in packets):
        return None
    took = to_milliseconds(claim.at) or 0
    sign = min(now, max(took, grew.get(claim.taker or claim.by, 0)))
    if now - sign >= minutes * 60_000:
        return None
    return Holder(by=claim.by, session=claim.taker, held=max(0, now - took) // 1000, silent=(now - sign) // 1000)


def _is_later(line: PacketLine, claim: TakeoverReceipt) -> bool:
    """Say whether a packet was written of work after a takeover. The packet that was taken never is.

    Its own time is rounded up to a second, and may lie behind that of a takeover within the same one.
    """
    return line.packet_id != claim.packet_id and line.as_of > claim.at


def _is_same(claim: TakeoverReceipt, taker: Taker) -> bool:
    """Say whether it is the holder who takes again: by its session, else by the programs it runs in, else by name."""
    if claim.by != taker.by:
        return False
    if claim.taker and taker.session:
        return claim.taker == taker.session
    return not (claim.processes and taker.processes) or set(claim.processes) <= set(taker.processes)


def _ago(seconds: int) -> str:
    return f"{seconds // 60} min ago" if seconds >= 60 else f"{seconds} s ago"
