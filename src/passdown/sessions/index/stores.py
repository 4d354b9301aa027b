"""Where each agent's logs lie, as patterns: so that what changed is seen by sizes and times, without any reader.

An agent without a row here is found too, through its own reader, which takes longer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from passdown.agents.table import AGENTS, Agent, home_of

_DEEPEST = 5


class Logs(NamedTuple):
    """Patterns below the agent's folder; in a part, `*` stands for anything, `**` for any folders, `|` for or.

    `whole`: each file is one session, and the agent's `refer` knows it. Else its `find` is asked when anything changed.
    `but` begins the names that are no sessions. `once`: of files of one name in several folders the first counts.
    With one of the variables `moved` set the patterns do not hold.
    """

    patterns: tuple[str, ...]
    whole: bool = True
    but: str = ""
    once: bool = False
    moved: tuple[str, ...] = ()


LOGS: Mapping[str, Logs] = MappingProxyType({
    "claude_code": Logs(("projects/*/*.jsonl",), but="agent-"),
    "codex": Logs(
        tuple(f"{top}/**/rollout-*.jsonl|rollout-*.jsonl.zst" for top in ("sessions", "archived_sessions")), once=True
    ),
    "pi": Logs(("sessions/*.jsonl", "sessions/*/*.jsonl")),
    "gemini": Logs(("tmp/*/chats/session-*.jsonl|session-*.json", "tmp/*/chats/*/*.jsonl")),
    "qwen": Logs(("projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"), moved=("QWEN_RUNTIME_DIR",)),
    "copilot": Logs(("session-state/*/events.jsonl", "session-state/*.jsonl")),
    "opencode": Logs(
        ("opencode*.db|opencode*.db-wal", "storage/session/*/*.json", "project/*/storage/session/info/*.json"),
        whole=False,
    ),
    "openhands": Logs(
        ("conversations/*/events/", "sessions/*/events/"), whole=False,
        moved=("OPENHANDS_CONVERSATIONS_DIR", "OPENHANDS_PERSISTENCE_DIR"),
    ),
})  # fmt: skip


class Stamp(NamedTuple):
    """A file as it is now."""

    path: str
    size: int
    mtime_ns: int


class Listing(NamedTuple):
    """The files that the patterns name, and the time of every folder that was looked into."""

    files: list[Stamp]
    folders: dict[str, int]


def patterns_of(agent: Agent) -> Logs | None:
    """Return the patterns that hold for an agent now, None where only its reader can say."""
    logs = LOGS.get(agent.id)
    return None if logs is not None and any(os.environ.get(name) for name in logs.moved) else logs


def rows() -> Iterator[tuple[Agent, Path, Logs | None]]:
    """Yield every agent whose folder exists, with the patterns that hold for it now."""
    for agent in AGENTS:
        home = home_of(agent)
        try:
            if home.is_dir():
                yield agent, home, patterns_of(agent)
        except OSError:
            continue


def list_files(home: Path, logs: Logs) -> Listing:
    """Return the files that an agent's patterns name. No link is followed where a pattern leaves the name open.

    Of a log that lies there plain and compressed, or as a log and as the document it was before, the first counts.
    """
    listing = Listing([], {})
    for pattern in logs.patterns:
        *parts, last = pattern.split("/")
        if not last:
            last = parts.pop() + "/"
        _descend(str(home), parts, _Names(last, logs.but), listing)
    names = {os.path.basename(stamp.path) for stamp in listing.files}  # noqa: PTH119 - a Path for each costs too much
    kept: dict[str, Stamp] = {}
    for stamp in listing.files:
        name = os.path.basename(stamp.path)  # noqa: PTH119
        if name.endswith(".zst"):
            if name[:-4] not in names:
                kept.setdefault(name, stamp)
        elif not (name.endswith(".json") and stamp.path + "l" in kept):
            kept.setdefault(name if logs.once else stamp.path, stamp)
    return Listing(list(kept.values()), listing.folders)


class _Names:
    """Tells which names a pattern's last part means."""

    def __init__(self, pattern: str, but: str) -> None:
        self.folder = pattern.endswith("/")
        self.but = but
        self.alternatives = [
            (head, tail, len(head) + len(tail) if star else 0)
            for head, star, tail in (part.rstrip("/").partition("*") for part in pattern.split("|"))
        ]

    def match(self, name: str) -> bool:
        """Say whether the name is meant."""
        if self.but and name.startswith(self.but):
            return False
        return any(
            (name.startswith(head) and name.endswith(tail) and len(name) >= least)
            if least or not head
            else name == head
            for head, tail, least in self.alternatives
        )


def _descend(folder: str, parts: list[str], names: _Names, listing: Listing, depth: int = _DEEPEST) -> None:
    while parts and "*" not in parts[0]:
        folder, parts = f"{folder}/{parts[0]}", parts[1:]
    try:
        listing.folders[folder] = os.stat(folder).st_mtime_ns  # noqa: PTH116
        with os.scandir(folder) as entries:
            found = list(entries)
    except OSError:
        return
    for entry in found:
        try:
            if not parts:
                _take(entry, names, listing)
            elif entry.is_dir(follow_symlinks=False):
                if parts[0] != "**":
                    _descend(entry.path, parts[1:], names, listing)
                elif depth:
                    _descend(entry.path, parts, names, listing, depth - 1)
            elif parts == ["**"]:
                _take(entry, names, listing)
        except OSError:
            continue


def _take(entry: os.DirEntry[str], names: _Names, listing: Listing) -> None:
    if not names.match(entry.name):
        return
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode) if names.folder else stat.S_ISREG(status.st_mode):
        listing.files.append(Stamp(entry.path, status.st_size, status.st_mtime_ns))
