"""Note of sessions whose context is too full, so that the hook advises them once: what it reads is one small file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from passdown.config import Budget
from passdown.errors import PassdownError
from passdown.handoff.costs.budget import Asked, Standing, standing_of
from passdown.hooks.entry import AGENTS
from passdown.hooks.spool import WORK, Spooled, state
from passdown.io.files import write_files
from passdown.io.log import safe_id
from passdown.model.evidence import RepositoryFacts
from passdown.sessions.newest import newest_sessions
from passdown.sessions.read import read_ref
from passdown.usage.gauge import read_gauge

MARK = "level"
"""The file in a session's folder that says in words how full its context is; none for one with room left."""

LARGEST = 256 << 20
"""Largest log that is read for it, in bytes."""

_MOST = 8
_SHORTENS = ("compact", "compacted")


def note_fullness(root: Path, common: Path, budget: Budget, records: Iterable[Spooled]) -> None:
    """Write or remove the mark of each session that did something: what was compacted meanwhile has room again."""
    folder = state()
    last = {(record.agent, record.session): record.event for record in records if record.event in WORK}
    last = {key: event for key, event in last.items() if key[0] in AGENTS and safe_id(key[1])}
    if folder is None or not last:
        return
    levels = _levels(root, common, budget, last) if budget.advise else {}
    for agent, session in last:
        place = folder / "sessions" / f"{agent}-{session}"
        if text := levels.get((agent, session), ""):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_files([(place / MARK, text.encode())], mode=0o600)
        else:
            (place / MARK).unlink(missing_ok=True)


def _levels(root: Path, common: Path, budget: Budget, last: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Return how full the contexts are that have no room left."""
    asked = {key for key, event in last.items() if event not in _SHORTENS}
    facts = RepositoryFacts(root=str(root), common_dir=str(common))
    refs = [ref for ref in newest_sessions(facts, None)[0] if (ref.agent, ref.session_id) in asked]
    found: dict[tuple[str, str], str] = {}
    for ref in refs[:_MOST]:
        if ref.bytes > LARGEST:
            continue
        try:
            standing = standing_of(ref, read_gauge(read_ref(ref)), budget, Asked(), os.environ)
        except (PassdownError, OSError):  # a log that cannot be read says nothing of its context
            continue
        if standing.level.advice == "wrap_up":
            found[ref.agent, ref.session_id] = _words(standing)
    return found


def _words(standing: Standing) -> str:
    level = standing.level
    if level.ratio is None or level.window is None:
        return f"{level.context:,} tokens"
    return f"{level.ratio:.0%} of its {level.window // 1000}k tokens"
