"""The header of a rollout, typed: all that discovery needs."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

from msgspec import Struct


class Git(Struct, gc=False):
    """What git said when the session began."""

    commit_hash: str | None = None
    branch: str | None = None
    repository_url: str | None = None


class Meta(Struct, gc=False):
    """The session's header; also the oldest files' first row, which has no envelope."""

    id: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: Any = None
    git: Git | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    history_mode: str | None = None
