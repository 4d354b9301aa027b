"""Status: where the work stands at a glance, and the one thing to do next. Nothing is read whole."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from passdown.errors import GitError, NoEvidenceError
from passdown.io.git import ask_ahead, one_moment
from passdown.model.finding import Finding
from passdown.repository.locate import Layout, locate, read_layout
from passdown.repository.questions import GLANCE

LIVE_MS = 120_000
"""A session whose log grew within this many milliseconds counts as running."""

Fit = Literal["as_left", "moved_on", "rewritten", "unknown"]
"""How it stands to git: nothing new; commits or files since; its commit left the history; its commit is not here."""


class Tree(Struct, frozen=True, kw_only=True):
    """What `git status` says. `ahead` and `behind` are as of the last fetch, None without an upstream."""

    branch: str = ""
    head: str = ""
    upstream: str = ""
    ahead: int | None = None
    behind: int | None = None
    operation: str = ""
    changed: int = 0
    untracked: int = 0


class PacketState(Struct, frozen=True, kw_only=True):
    """The active packet, its age in milliseconds and in commits since (None when they cannot be counted)."""

    packet_id: str
    kind: str
    outcome: str
    topic: str
    shelf: str
    as_of: str
    age_ms: int | None
    commits_since: int | None
    fit: Fit
    next_action: str
    to_settle: int = 0


class NewerSession(Struct, frozen=True, kw_only=True):
    """A session whose log grew after the packet; `live` when it is running."""

    agent: str
    session_id: str
    age_ms: int
    live: bool


class LastTakeover(Struct, frozen=True, kw_only=True):
    """The newest takeover on this branch; `current` when it took the active packet."""

    packet_id: str
    by: str
    verdict: str
    at: str
    age_ms: int | None
    current: bool


class Todo(Struct, frozen=True, kw_only=True):
    """The one thing to do next, and why. `command` is empty when there is nothing to run."""

    command: str
    why: str


class Status(Struct, frozen=True, kw_only=True):
    """One screen. `heads` are this branch's active packets if several; `more_sessions`: not all were looked at."""

    schema_version: int = 1
    repository: str
    tree: Tree
    packet: PacketState | None = None
    heads: tuple[str, ...] = ()
    other_branches: tuple[str, ...] = ()
    newer_sessions: tuple[NewerSession, ...] = ()
    more_sessions: bool = False
    last_takeover: LastTakeover | None = None
    next: Todo
    findings: tuple[Finding, ...] = ()


@one_moment()
def read_status(folder: Path, *, homes: Mapping[str, Path] | None = None, now: int | None = None) -> Status:
    """Look at the repository around `folder`. `homes` moves an agent's folder, `now` is in milliseconds.

    Raises `NoEvidenceError` outside a repository.
    """
    layout = _layout(folder)
    ask_ahead(layout.root, *GLANCE)
    from passdown.handoff.overview import Overview  # it is loaded, and the logs are looked at, while git walks the tree

    return Overview(layout, homes, time.time_ns() // 1_000_000 if now is None else now).status()


def _layout(folder: Path) -> Layout:
    try:
        layout = read_layout(folder)
    except GitError:
        if locate(folder) is not None:
            raise
        layout = None
    if layout is None or layout.bare:
        raise NoEvidenceError(
            "is not in a git repository",
            where=str(folder.resolve()),
            next_step="Run `git init` there, or name a repository with -C.",
        )
    return layout
