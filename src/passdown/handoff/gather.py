"""Gather everything a packet is built from: configuration, git, workbench, sessions, the packet before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from passdown.config import Config, load_config
from passdown.errors import NoEvidenceError
from passdown.evidence.collect import collect_evidence
from passdown.io.git import try_git
from passdown.model.evidence import Evidence, RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.packet import Packet
from passdown.model.session import SessionRef
from passdown.packet.encode import decode_packet
from passdown.repository.locate import locate
from passdown.repository.snapshot import snapshot
from passdown.repository.tracked import tracked_paths
from passdown.sessions.discover import Discovery, find_sessions
from passdown.sessions.read import read_ref, refer_to
from passdown.sessions.select import select_sessions
from passdown.store.packets import PACKET_LIMIT, StoredPacket, active_packets, own_paths, read_shelf, shelf
from passdown.workbench.load import load_workbench
from passdown.io.files import read_bounded


class Options(Struct, frozen=True, kw_only=True):
    """What the caller may choose. Empty means: let passdown decide.

    `session` is an id, an id's unique beginning, or a session file; `base` a commit; `homes` moves an agent's folder
    (agent id → path); `now` (milliseconds) is only used to tell which sessions are still live.
    """

    session: str = ""
    agent: str = ""
    topic: str = ""
    base: str = ""
    session_id: str = ""
    next_action: str = ""
    homes: Mapping[str, Path] | None = None
    now: int | None = None


class Gathered(Struct, frozen=True, kw_only=True):
    """One repository's evidence, with the configuration and the packet it would supersede."""

    root: Path
    config: Config
    repository: RepositoryFacts
    evidence: Evidence
    topic: str = ""
    previous: Packet | None = None
    previous_path: Path | None = None
    shelf: tuple[StoredPacket, ...] = ()
    findings: tuple[Finding, ...] = ()


def find_root(folder: Path) -> Path:
    """Return the worktree's root. Raises `NoEvidenceError` when `folder` is in no git repository."""
    root = locate(folder)
    if root is None:
        raise NoEvidenceError(
            "is not in a git repository",
            where=str(folder),
            next_step="Run `git init` there, or name a repository with -C.",
        )
    return root
