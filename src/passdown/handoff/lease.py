"""Who takes, and who has the topic in hand already: read from the receipts, the sessions' logs and the processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from passdown.agents.table import AGENTS
from passdown.errors import ConflictError
from passdown.io.ancestry import ancestors, is_over, own_name
from passdown.io.files import lock
from passdown.model.brief import TakeoverReceipt
from passdown.model.memory import PacketLine
from passdown.model.moment import to_milliseconds
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionRef
from passdown.sessions.select import LIVE_WINDOW_MS
from passdown.takeover.lease import Holder, Taker, holder_of

_SESSION = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_TRIES, _PAUSE = 250, 0.02


@contextmanager
def one_taker(common_dir: Path) -> Iterator[None]:
    """Let one takeover at a time look who holds the topic and record itself; the others wait a moment for it.

    Raises `ConflictError` when the one before does not end.
    """
    with ExitStack() as stack:
        for left in range(_TRIES, 0, -1):
            try:
                stack.enter_context(lock(common_dir / "passdown" / "lease.lock"))
                break
            except ConflictError:
                if left == 1:
                    raise
                time.sleep(_PAUSE)
        yield


def own_session(refs: Sequence[SessionRef], by: str, now: int) -> tuple[str, ...]:
    """Return the session in whose shell this runs: the one the agent names, else its newest one that has just grown."""
    row = next((row for row in AGENTS if row.id == by), None)
    if row is not None and row.own and (named := os.environ.get(row.own, "")):
        return (named,) if _SESSION.fullmatch(named) else ()
    live = [
        ref
        for ref in refs
        if ref.agent == by and ref.parent_kind != "subagent" and (ref.modified_at or 0) >= now - LIVE_WINDOW_MS
    ]
    newest = max(live, key=lambda ref: ref.modified_at or 0, default=None)
    return (newest.session_id,) if newest is not None else ()


def taker_of(by: str, own: Sequence[str], *, starts: bool = False) -> Taker:
    """Return who takes, with what tells one taker from another; when it `starts`, this process is about to be it."""
    if by == "human":
        return Taker(by=by)
    if starts:
        return Taker(by=by, processes=tuple(name for name in (own_name(), *ancestors()) if name))
    return Taker(by=by, session=own[0] if own else "", processes=ancestors())


def find_holder(
    receipts: Sequence[TakeoverReceipt],
    packets: Sequence[PacketLine],
    taker: Taker,
    place: tuple[str, str],
    refs: Sequence[SessionRef],
    *,
    now: int,
    minutes: int,
) -> Holder | None:
    """Return the other agent that has the topic of a branch (`place`) in hand now, None when none has."""
    here = taker.processes or ancestors()
    return holder_of(
        receipts, packets, taker, place, grew=_growth(receipts, refs, taker), now=now, minutes=minutes,
        is_over=lambda names: is_over(names, here),
    )  # fmt: skip


def _growth(receipts: Sequence[TakeoverReceipt], refs: Sequence[SessionRef], taker: Taker) -> dict[str, int]:
    """Return when each session's log grew last.

    Of an agent that took before it had a session (it was started with the brief) any that it began since counts, under
    the agent's name: but not the one that asks.
    """
    grew = {ref.session_id: ref.modified_at or 0 for ref in refs}
    for receipt in receipts:
        if receipt.taker or receipt.by == "human" or receipt.by in grew:
            continue
        since = to_milliseconds(receipt.at) or 0
        begun = [
            ref.modified_at or 0
            for ref in refs
            if ref.agent == receipt.by and (ref.started_at or 0) >= since and ref.session_id != taker.session
        ]
        grew[receipt.by] = max(begun, default=0)
    return grew
