"""Where the tasks of Cline, Roo and Kilo lie: in the storage of each editor they run in, and in Cline's own folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from passdown.agents.cline.words import folder_in
from passdown.agents.dialogue import decoded, moment, part_of, text_in
from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.io.log import Ends, ends_of, newest_first, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SessionRef

TASK = "api_conversation_history.json"
SCREEN = "ui_messages.json"
EXTENSIONS = {
    "cline": "saoudrizwan.claude-dev", "roo": "rooveterinaryinc.roo-cline", "kilo": "kilocode.kilo-code",
}  # fmt: skip
_EDITORS = (
    "Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Trae", "Kiro", "Antigravity", "Positron",
)  # fmt: skip
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server", ".vscodium-server")
_BOUND = 1 << 20
_TYPED = lazy_pattern(r"<(?:task|user_message)>\\n(.{1,600}?)\\n</")


def task_folders(agent: str, home: Path) -> Iterator[Path]:
    """Yield the folders that may hold the agent's tasks, one folder a task."""
    extension = EXTENSIONS[agent]
    for base in (".config", "Library/Application Support", "AppData/Roaming"):
        for editor in _EDITORS:
            yield home / base / editor / "User" / "globalStorage" / extension / "tasks"
    for server in _SERVERS:
        yield home / server / "data" / "User" / "globalStorage" / extension / "tasks"
    if agent == "cline":
        yield from (folder / "tasks" for folder in data_folders(home))


def data_folders(home: Path) -> Iterator[Path]:
    """Yield the folders of Cline's own data."""
    if moved := os.environ.get("CLINE_DATA_DIR"):
        yield Path(moved).expanduser()
    elif moved := os.environ.get("CLINE_DIR"):
        yield Path(moved).expanduser() / "data"
    else:
        yield home / ".cline" / "data"


def find_tasks(agent: str, home: Path) -> Iterator[SessionRef]:
    """Yield the tasks of an agent in no order. Links and files that cannot be read are left out."""
    for folder in task_folders(agent, home):
        if folder.is_dir() and not folder.is_symlink():
            for path in newest_first(folder, f"*/{TASK}"):
                if (ref := refer_task(agent, path)) is not None:
                    yield ref


def find_newer(home: Path) -> Iterator[SessionRef]:
    """Yield the sessions of Cline's newer store, in no order."""
    for folder in data_folders(home):
        if folder.is_dir():
            for path in newest_first(folder, "sessions/*/*.messages.json"):
                if (ref := refer_newer(path)) is not None:
                    yield ref


def refer_task(agent: str, path: Path) -> SessionRef | None:
    """Return what the ends of a task's conversation say of it, None when it cannot be read."""
    ends = ends_of(path)
    if ends is None:
        return None
    told = _held(path.with_name("history_item.json"))
    identifier = safe_id(path.parent.name)
    return SessionRef(
        agent=agent, path=str(path), session_id=identifier, bytes=ends.size,
        started_at=moment(told.get("ts")) or _stamp(identifier), modified_at=ends.modified,
        cwd=text_in(told, "workspace") or _folder(ends), title=(text_in(told, "task") or _task(ends))[:300],
        parent_id=safe_id(text_in(told, "parentTaskId")),
    )  # fmt: skip


def _stamp(identifier: str) -> int | None:
    """Return when a task began whose id is that moment in milliseconds."""
    return int(identifier) if identifier.isdecimal() and len(identifier) == 13 else None


def _folder(ends: Ends) -> str:
    return folder_in(ends.head.decode("utf-8", "replace")).replace("\\\\", "\\")


def _task(ends: Ends) -> str:
    match = _TYPED.search(ends.head.decode("utf-8", "replace"))
    words = decoded(f'"{match[1]}"') if match else ""
    return words.strip() if isinstance(words, str) else ""


def refer_newer(path: Path) -> SessionRef | None:
    """Return what the record beside a conversation of the newer store says, None when it cannot be read."""
    ends = ends_of(path)
    if ends is None:
        return None
    told = record_beside(path)
    identifier = safe_id(text_in(told, "session_id")) or safe_id(path.name.removesuffix(".messages.json"))
    return SessionRef(
        agent="cline", path=str(path), session_id=identifier, bytes=ends.size,
        started_at=moment(told.get("started_at")), modified_at=ends.modified, cwd=text_in(told, "cwd"),
        title=(text_in(part_of(told, "metadata"), "title") or text_in(told, "prompt"))[:300],
        parent_id=safe_id(text_in(told, "parent_session_id")),
    )  # fmt: skip


def record_beside(path: Path) -> dict[str, object]:
    """Return the record of a session beside its conversation, empty where there is none."""
    return _held(path.with_name(path.name.replace(".messages.json", ".json")))


def _held(path: Path) -> dict[str, object]:
    try:
        held = decoded(read_bounded(path, _BOUND))
    except (OSError, PassdownError):
        return {}
    return held if isinstance(held, dict) else {}
