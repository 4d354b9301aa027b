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
    `but` begins the names that are no sessions. With one of the variables `moved` set the patterns do not hold.
    """

    patterns: tuple[str, ...]
    whole: bool = True
    but: str = ""
    moved: tuple[str, ...] = ()


LOGS: Mapping[str, Logs] = MappingProxyType({
    "claude_code": Logs(("projects/*/*.jsonl",), but="agent-"),
    "codex": Logs(tuple(f"{top}/**/rollout-*.jsonl|rollout-*.jsonl.zst" for top in ("sessions", "archived_sessions"))),
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
    "kimi": Logs(("sessions/*/*/wire.jsonl|context.jsonl", "sessions/*/*/agents/*/wire.jsonl")),
    "droid": Logs(("sessions/*.jsonl", "sessions/*/*.jsonl", "projects/*/*.jsonl")),
    "cursor": Logs(
        (
            "chats/*/*/store.db|store.db-wal", "projects/*/agent-transcripts/*.jsonl|*.txt",
            "projects/*/agent-transcripts/*/*.jsonl", "projects/*/agent-transcripts/*/subagents/*.jsonl",
        ),
        whole=False,
    ),
    "amp": Logs(("threads/T-*.json",)),
    "goose": Logs(("sessions/sessions.db|sessions.db-wal", "sessions/*.jsonl"), whole=False),
    "hermes": Logs(("state.db|state.db-wal", "sessions/*.jsonl|session_*.json"), whole=False),
    "aider": Logs((".aider.chat.history.md",), whole=False, moved=("AIDER_CHAT_HISTORY_FILE",)),
})  # fmt: skip


class Stamp(NamedTuple):
    """A file as it is now."""

    name: str
    size: int
    mtime_ns: int


class Folder(NamedTuple):
    """A folder that was looked into: its time, and the files in it that the patterns name."""

    mtime_ns: int
    files: list[Stamp]


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


def databases_in(home: Path, logs: Logs | None) -> Iterator[Path]:
    """Yield an agent's databases of many sessions, those that its patterns name outright."""
    for pattern in logs.patterns if logs is not None and not logs.whole else ():
        first = pattern.partition("|")[0]
        if first.endswith(".db") and "*/" not in first:
            yield from (path for path in home.glob(first) if not path.is_symlink())


def list_files(home: Path, logs: Logs) -> dict[str, Folder]:
    """Return the folders and files that an agent's patterns name; no link is followed where they leave the name open.

    Of a log that lies there plain and compressed, or as a log and as the document it was before, the first counts.
    """
    found: dict[str, Folder] = {}
    for pattern in logs.patterns:
        *parts, last = pattern.split("/")
        if not last:
            last = parts.pop() + "/"
        _descend(str(home), parts, _Names(last, logs.but), found)
    if any(".zst" in pattern or ".json|" in f"{pattern}|" for pattern in logs.patterns):
        _leave_out_copies(found)
    return found


def _leave_out_copies(found: dict[str, Folder]) -> None:
    everywhere = {stamp.name for folder in found.values() for stamp in folder.files}
    seen: set[str] = set()
    for folder in found.values():
        here = {stamp.name for stamp in folder.files}
        kept = []
        for stamp in folder.files:
            packed = stamp.name.endswith(".zst")
            if packed and (stamp.name in seen or stamp.name[:-4] in everywhere):
                continue
            if stamp.name.startswith("rollout-") and stamp.name in seen:
                continue
            if stamp.name.endswith(".json") and stamp.name + "l" in here:
                continue
            seen.add(stamp.name)
            kept.append(stamp)
        folder.files[:] = kept


class _Names:
    """Tells which names a pattern's last part means."""

    def __init__(self, pattern: str, but: str) -> None:
        self.kind = stat.S_IFDIR if pattern.endswith("/") else stat.S_IFREG
        self.but = but
        self.alternatives = [part.rstrip("/").partition("*") for part in pattern.split("|")]

    def match(self, name: str) -> bool:
        """Say whether the name is meant."""
        if self.but and name.startswith(self.but):
            return False
        for head, star, tail in self.alternatives:
            if name == head if not star else name.endswith(tail) and name.startswith(head):
                return True
        return False


def _descend(folder: str, parts: list[str], names: _Names, found: dict[str, Folder], depth: int = _DEEPEST) -> None:
    while parts and "*" not in parts[0]:
        folder, parts = f"{folder}/{parts[0]}", parts[1:]
    try:
        mtime_ns = os.stat(folder).st_mtime_ns  # noqa: PTH116 - a Path for each costs too much
        with os.scandir(folder) as entries:
            listed = list(entries)
    except OSError:
        return
    files = found.setdefault(folder, Folder(mtime_ns, [])).files
    if not parts or parts == ["**"]:
        files += _stamps(listed, names)
    if not parts:
        return
    for entry in listed:
        if not _is_folder(entry):
            continue
        if parts[0] != "**":
            _descend(entry.path, parts[1:], names, found)
        elif depth:
            _descend(entry.path, parts, names, found, depth - 1)


def _stamps(listed: list[os.DirEntry[str]], names: _Names) -> Iterator[Stamp]:
    match, kind, new = names.match, names.kind, tuple.__new__
    for entry in listed:
        name = entry.name
        if not match(name):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_IFMT(status.st_mode) == kind:
            yield new(Stamp, (name, status.st_size, status.st_mtime_ns))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
