"""The newest sessions of a repository, by the times of their files alone: a glance, not a reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from passdown.agents.table import AGENTS, home_of, project_homes, sessions_of
from passdown.errors import PassdownError
from passdown.model.evidence import RepositoryFacts
from passdown.model.session import SessionRef

LOOKED_AT = 40
"""Most session files of one agent that are looked into, newest first."""


def newest_sessions(
    repository: RepositoryFacts, since: int | None, *, homes: Mapping[str, Path] | None = None
) -> tuple[list[SessionRef], bool]:
    """Return this worktree's main sessions whose log grew after `since` (milliseconds), newest first.

    Of each agent at most the 40 newest logs of this machine are looked into, and only at their ends. The second value
    says that there were more of them, so that older ones may be missing.
    """
    from passdown.sessions.place import Places  # most often there is nothing newer to be placed

    refs: list[SessionRef] = []
    more = False
    for found in _by_agent({**project_homes(repository.root), **(homes or {})}):
        young = _younger(found, since)
        kept = list(islice(young, LOOKED_AT))
        more = more or next(young, None) is not None
        refs += kept
    if not refs:
        return [], more
    places = Places(repository)
    mine = [ref for ref in refs if ref.parent_kind != "subagent" and places.of(ref.cwd) == "here"]
    return sorted(mine, key=lambda ref: (-_grew(ref), ref.agent, ref.session_id)), more


def _by_agent(homes: Mapping[str, Path] | None) -> Iterator[Iterator[SessionRef]]:
    for row in AGENTS:
        home = homes[row.id] if homes is not None and row.id in homes else home_of(row)
        if home.is_dir():
            yield sessions_of(row).find(home)


def _younger(found: Iterator[SessionRef], since: int | None) -> Iterator[SessionRef]:
    try:
        for ref in found:
            if since is not None and _grew(ref) <= since:
                return
            yield ref
    except (OSError, PassdownError):  # a folder that cannot be read holds nothing to glance at
        return


def _grew(ref: SessionRef) -> int:
    return ref.modified_at or ref.started_at or 0
