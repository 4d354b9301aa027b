"""What the agents cost that an agent started: their own sessions, as far as they can be found here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from passdown.agents.table import AGENTS
from passdown.errors import PassdownError
from passdown.evidence.nested import Nested
from passdown.model.session import SessionRef
from passdown.sessions.discover import all_sessions
from passdown.sessions.read import read_ref
from passdown.usage.calls import Call, read_account
from passdown.usage.totals import Totals, sum_up

_MOST = 50
"""Most sessions of nested agents that are read."""

_SLACK_MS = 2_000


class NestedCost(Struct, frozen=True, kw_only=True):
    """The nested agents of some sessions, the sessions found of them, and their tokens.

    `share` is their part of all tokens, theirs and the others'; None where no session of theirs was found.
    """

    found: tuple[Nested, ...] = ()
    sessions: tuple[str, ...] = ()
    totals: Totals = Totals()
    share: float | None = None


class Records(Protocol):
    """Where sessions of nested agents are looked for, and what their calls were."""

    def refs(self, agents: set[str]) -> Iterable[SessionRef]:
        """Return all sessions of these agents."""

    def calls(self, ref: SessionRef) -> Sequence[Call]:
        """Return a session's calls, none where they cannot be read."""


class Logs:
    """The agents' own logs."""

    def refs(self, agents: set[str]) -> Iterable[SessionRef]:
        """Return all sessions of these agents on this machine."""
        return all_sessions(agents=agents).refs

    def calls(self, ref: SessionRef) -> Sequence[Call]:
        """Return a session's calls, none where it cannot be read."""
        try:
            return read_account(read_ref(ref)).calls
        except (PassdownError, OSError):
            return ()


def nested_cost(found: Sequence[Nested], counted: Collection[str], own: Totals, records: Records) -> NestedCost:
    """Return what nested agents cost. `counted` are the ids of the sessions whose tokens are in `own`.

    A resumed session counts from then on; a launched one when it is of that agent and began while the command ran.
    """
    if not found:
        return NestedCost()
    refs = records.refs(_readable({one.agent for one in found}))
    calls: list[Call] = []
    ids: list[str] = []
    outside = 0
    for ref, since in _sessions_of(found, refs):
        own_calls = [call for call in records.calls(ref) if since is None or (call.at or 0) >= since]
        if own_calls:
            calls += own_calls
            ids.append(ref.session_id)
            outside += 0 if ref.session_id in counted else sum_up(own_calls).tokens
    totals = sum_up(calls)
    whole = own.tokens + outside
    return NestedCost(
        found=tuple(found), sessions=tuple(ids), totals=totals, share=totals.tokens / whole if ids and whole else None
    )  # fmt: skip


def _readable(agents: Collection[str]) -> set[str]:
    return {row.id for row in AGENTS if row.id in agents}


def _sessions_of(found: Iterable[Nested], refs: Iterable[SessionRef]) -> list[tuple[SessionRef, int | None]]:
    """Return the sessions of nested agents, each once, and from when on it counts."""
    known = {(ref.agent, ref.session_id): ref for ref in refs}
    chosen: dict[tuple[str, str], tuple[SessionRef, int | None]] = {}
    for one in found:
        if one.session_id:
            key = (one.agent, one.session_id)
            if key in known:
                chosen.setdefault(key, (known[key], one.at))
        elif one.at is not None and one.until is not None and one.kind == "launch":
            for key, ref in known.items():
                if key[0] == one.agent and one.at - _SLACK_MS <= (ref.started_at or 0) <= one.until + _SLACK_MS:
                    chosen.setdefault(key, (ref, None))
    return list(chosen.values())[:_MOST]
