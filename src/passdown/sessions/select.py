"""Selection: which of a repository's sessions feed a packet, and which one is the primary."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct

from passdown.errors import ConflictError, UsageError
from passdown.io.git import try_git
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionRef
from passdown.redact.neutralise import one_line
from passdown.sessions.place import Places
from passdown.sessions.read import agent_called

LIVE_WINDOW_MS = 120_000
"""A session whose log grew within this many milliseconds counts as still running."""

SHORTEST_PREFIX = 6
_MOVES = 2000
_MOVED = lazy_pattern(r"\w+@\{(\d+)\}\0checkout: moving from .* to (.+)")
_RENAMED = lazy_pattern(r".*\0Branch: renamed refs/heads/(.+) to refs/heads/(.+)")


class Selection(Struct, frozen=True, kw_only=True):
    """The sessions a packet is built from: main ones newest first, each followed by its subagents' own sessions.

    `primary` is the newest main session (or the one asked for); `live` are the main ones still running.
    """

    refs: tuple[SessionRef, ...] = ()
    primary: SessionRef | None = None
    live: tuple[SessionRef, ...] = ()
    findings: tuple[Finding, ...] = ()


def select_sessions(
    refs: Sequence[SessionRef],
    repository: RepositoryFacts,
    *,
    since: int | None,
    session: str | None = None,
    agent: str | None = None,
    now: int | None = None,
    live_window_ms: int = LIVE_WINDOW_MS,
) -> Selection:
    """Choose every session of this worktree and branch that grew after `since` (milliseconds).

    `session` (an id, its unique beginning of 6 characters or more, or a file) takes that one and its subagents alone.
    Raises `ConflictError` when two main sessions are live at once and none is named, `UsageError` when `session` names
    none or several, or `agent` is unknown.
    """
    if agent:
        refs = [ref for ref in refs if ref.agent == agent_called(agent).id]
    families = _families(refs)
    now = time.time_ns() // 1_000_000 if now is None else now
    if session:
        chosen = _named(session, refs)
        family = families.get(_id(chosen), [])
        alive = _last(chosen, family) >= now - live_window_ms
        return Selection(refs=(chosen, *family), primary=chosen, live=(chosen,) if alive else ())
    mains = _mains(refs, families)
    kept, findings = _of_this_line(mains, repository)
    kept = [ref for ref in kept if since is None or _last(ref, families.get(_id(ref), [])) > since]
    kept.sort(key=lambda ref: (-_last(ref, families.get(_id(ref), [])), -(ref.started_at or 0), ref.session_id))
    live = tuple(ref for ref in kept if _last(ref, families.get(_id(ref), [])) >= now - live_window_ms)
    running = [ref for ref in live if ref.parent_kind != "subagent"]
    if len(running) > 1:
        raise _ambiguous(running)
    primary = next((ref for ref in kept if ref.parent_kind != "subagent"), kept[0] if kept else None)
    whole = tuple(member for ref in kept for member in (ref, *families.get(_id(ref), [])))
    return Selection(refs=whole, primary=primary, live=live, findings=findings)


_Id = tuple[str, str]


def _id(ref: SessionRef) -> _Id:
    return ref.agent, ref.session_id


def _families(refs: Sequence[SessionRef]) -> dict[_Id, list[SessionRef]]:
    """The subagents' sessions, at any depth, by the main session they belong to."""
    by_id = {_id(ref): ref for ref in refs}
    families: dict[_Id, list[SessionRef]] = {}
    for ref in refs:
        top, seen = ref, {_id(ref)}
        while top.parent_kind == "subagent" and (parent := by_id.get((top.agent, top.parent_id))) is not None:
            if _id(parent) in seen:
                break
            seen.add(_id(parent))
            top = parent
        if top is not ref and _id(top) != _id(ref):
            families.setdefault(_id(top), []).append(ref)
    return families


def _mains(refs: Sequence[SessionRef], families: dict[_Id, list[SessionRef]]) -> list[SessionRef]:
    """All that are nobody's subagent here; of several files of one session the newest."""
    children = {(ref.agent, ref.path, ref.inner) for family in families.values() for ref in family}
    mains: dict[_Id, SessionRef] = {}
    for ref in refs:
        known = mains.get(_id(ref))
        if (ref.agent, ref.path, ref.inner) in children or (known and _last(known, []) >= _last(ref, [])):
            continue
        mains[_id(ref)] = ref
    return list(mains.values())


def _last(ref: SessionRef, family: Collection[SessionRef]) -> int:
    """When the session, or one of its subagents, last grew."""
    return max((member.modified_at or member.started_at or 0) for member in (ref, *family))


def _of_this_line(mains: list[SessionRef], repository: RepositoryFacts) -> tuple[list[SessionRef], tuple[Finding, ...]]:
    """Leave out the sessions of other worktrees and branches, and say how many there were."""
    places = Places(repository)
    kept: list[SessionRef] = []
    astray = 0
    others: Counter[str] = Counter()
    line: _Line | None = None
    for ref in mains:
        if places.of(ref.cwd) in ("worktree", "elsewhere"):
            astray += 1
            continue
        if repository.branch and ref.branch not in ("", "HEAD", repository.branch):
            line = line or _Line(repository)
            if not line.holds(ref):
                others[ref.branch] += 1
                continue
        kept.append(ref)
    findings = []
    if astray:
        detail = f"{astray} of another worktree left out; run passdown there to hand them over"
        findings.append(Finding(code="session.other_worktree", severity="info", detail=detail))
    if others:
        names = ", ".join(f"{one_line(name, 60)} ({count})" for name, count in sorted(others.items())[:5])
        more = f" and {len(others) - 5} more branches" if len(others) > 5 else ""
        detail = f"{sum(others.values())} of another branch left out: {names}{more}"
        findings.append(Finding(code="session.other_branch", severity="info", detail=detail))
    return kept, tuple(findings)


class _Line:
    """What HEAD's own log says about how this worktree came to its branch."""

    def __init__(self, repository: RepositoryFacts) -> None:
        self._arrivals: list[int] = []
        self._former: set[str] = set()
        arguments = ("reflog", "show", "--date=unix", "--format=%gd%x00%gs", "-n", str(_MOVES), "HEAD")
        code, output, _ = try_git(Path(repository.root), *arguments)
        for entry in output.decode("utf-8", "replace").split("\n") if code == 0 else ():
            if (moved := _MOVED.fullmatch(entry)) and moved[2] == repository.branch:
                self._arrivals.append(int(moved[1]) * 1000)
            elif (renamed := _RENAMED.fullmatch(entry)) and renamed[2] in (repository.branch, *self._former):
                self._former.add(renamed[1])

    def holds(self, ref: SessionRef) -> bool:
        """Say whether the session's branch became this one: it was renamed, or HEAD moved here while it ran."""
        if ref.branch in self._former:
            return True
        started, ended = ref.started_at, ref.modified_at
        if started is None or ended is None:
            return False
        return any(started - 1000 <= arrival <= ended for arrival in self._arrivals)


def _named(session: str, refs: Sequence[SessionRef]) -> SessionRef:
    exact = [ref for ref in refs if ref.session_id == session]
    if not exact and "\0" not in session and (os.sep in session or session.endswith((".jsonl", ".json", ".zst"))):
        path = os.path.realpath(session)
        exact = [ref for ref in refs if os.path.realpath(ref.path) == path]
    found = exact or [ref for ref in refs if len(session) >= SHORTEST_PREFIX and ref.session_id.startswith(session)]
    distinct = {_id(ref) for ref in found}
    if len(distinct) == 1 or (exact and len({ref.agent for ref in found}) == 1 and found):
        return max(found, key=lambda ref: _last(ref, []))
    shown = one_line(session, 80)
    if distinct:
        names = ", ".join(f"{_one(ref)}" for ref in found[:5])
        raise UsageError(f"{len(distinct)} sessions answer to {shown!r}: {names}", next_step="Give more of the id.")
    short = f" (an id's beginning needs {SHORTEST_PREFIX} characters)" if len(session) < SHORTEST_PREFIX else ""
    raise UsageError(
        f"no session of this repository is called {shown!r}{short}", next_step="`passdown sessions` lists them."
    )


def _ambiguous(live: list[SessionRef]) -> ConflictError:
    names = " and ".join(_one(ref) for ref in live[:4])
    return ConflictError(
        f"{len(live)} sessions are running here at once: {names}",
        next_step=f"Choose one: --session {one_line(live[0].session_id, 64)}",
    )


def _one(ref: SessionRef) -> str:
    title = f" ({one_line(ref.title, 40)!r})" if ref.title else ""
    return f"{ref.agent} {one_line(ref.session_id, 64)}{title}"
