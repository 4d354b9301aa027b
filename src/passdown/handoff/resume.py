"""The cheaper road: the agent's own newest session, when it is of this branch and has room left."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join

from passdown.agents.table import AGENTS
from passdown.agents.windows import least_window
from passdown.errors import PassdownError
from passdown.model.brief import Resume
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Compaction, SessionRef, Usage
from passdown.sessions.read import read_ref

LARGEST = 4 << 20
"""Largest log that is read for it, in bytes: reading a larger one would cost more time than a takeover may take."""

ROOM = 0.5
"""The part of a context window below which going on is cheaper than beginning afresh."""

_ID = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{5,79}")


def cheaper_road(refs: Sequence[SessionRef], by: str) -> Resume | None:
    """Return how to open the newest session of a branch again, None when it is another agent's, or has no room.

    `refs` are the branch's sessions on this machine, `by` who takes; a person may go on with any agent. A session that
    was compacted has lost what a packet keeps, so it is no cheaper road; nor is one of unknown size.
    """
    mains = [ref for ref in refs if ref.parent_kind != "subagent"]
    newest = max(mains, key=lambda ref: ref.modified_at or ref.started_at or 0, default=None)
    if newest is None or by not in ("human", newest.agent):
        return None
    row = next((row for row in AGENTS if row.id == newest.agent and row.resume), None)
    if row is None or newest.bytes > LARGEST or not _ID.fullmatch(newest.session_id):
        return None
    last = _last_usage(newest)
    window = (last.window or least_window(last.model)) if last is not None else None
    if last is None or window is None or not 0 < last.context < window * ROOM:
        return None
    command = join((*row.resume, newest.session_id))
    return Resume(
        agent=row.id, session_id=newest.session_id, command=command, context=last.context, window=window
    )  # fmt: skip


def _last_usage(ref: SessionRef) -> Usage | None:
    """Return the usage of the session's last answer, None for a compacted session and for one that cannot be read."""
    last: Usage | None = None
    try:
        for event in read_ref(ref):
            if isinstance(event, Compaction) and not event.micro:
                return None
            if isinstance(event, Usage) and not event.agent_id and event.active and event.context:
                last = event
    except (PassdownError, OSError):
        return None
    return last
