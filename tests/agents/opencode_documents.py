"""OpenCode's exports and databases, made for a test."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from passdown.agents.opencode.sessions import read
from passdown.model.session import AnyEvent, SessionRef

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "opencode"
EXPORT = FIXTURES / "export.json"
TREE = FIXTURES / "tree"
DOCUMENT: dict[str, Any] = json.loads(EXPORT.read_text())
SESSION = DOCUMENT["info"]["id"]
T = 1772359200000


def events_of(path: Path, inner: str = "", **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="opencode", path=str(path), session_id=inner, inner=inner), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def export(folder: Path, *messages: dict[str, Any], **info: Any) -> list[AnyEvent]:
    path = folder / "export.json"
    path.write_text(json.dumps({"info": DOCUMENT["info"] | info, "messages": messages}))
    return events_of(path)


def answer(*parts: dict[str, Any], identifier: str = "msg_9", **info: Any) -> dict[str, Any]:
    base = {"id": identifier, "role": "assistant", "modelID": "m", "time": {"created": T + 1, "completed": T + 9}}
    return {"info": base | info, "parts": list(parts)}


def asked(text: str, identifier: str = "msg_1") -> dict[str, Any]:
    info = {"id": identifier, "role": "user", "time": {"created": T}}
    return {"info": info, "parts": [{"id": f"prt_{identifier}", "type": "text", "text": text}]}


def tool(name: str = "bash", **state: Any) -> dict[str, Any]:
    state = {"status": "completed", "input": {"command": "make"}, "output": "", "time": {"start": T, "end": T}} | state
    return {"id": "prt_9", "type": "tool", "tool": name, "callID": "c", "state": state}


def database(path: Path, *documents: dict[str, Any], index: bool = True) -> sqlite3.Connection:
    """Write exports into a database of OpenCode's schema, and leave the connection (and so the WAL) open."""
    connection = sqlite3.connect(path)
    connection.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
        "CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text NOT NULL,"
        " title text, version text, revert text, time_created integer, time_updated integer);"
        "CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text NOT NULL);"
        "CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text NOT NULL);"
        "CREATE TABLE todo (session_id text, content text, status text, priority text, position integer);"
    )
    for document in documents:
        info = document["info"]
        revert = json.dumps(info["revert"]) if "revert" in info else None
        connection.execute(
            "INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?,?)",
            (info["id"], "p1", info.get("parentID"), "s", info["directory"], info["title"], info["version"], revert,
             info["time"]["created"], info["time"]["updated"]),
        )  # fmt: skip
        for message in document["messages"]:
            data = dict(message["info"])
            identifier, session = data.pop("id"), data.pop("sessionID")
            row = (identifier, session, data["time"]["created"], json.dumps(data))
            connection.execute("INSERT INTO message VALUES (?,?,?,?)", row)
            for part in reversed(message["parts"]):
                content = {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
                connection.execute(
                    "INSERT INTO part VALUES (?,?,?,?)", (part["id"], identifier, session, json.dumps(content))
                )
    if index:
        connection.execute("CREATE INDEX part_message ON part (message_id, id)")
    connection.commit()
    return connection


@contextmanager
def closed_database(path: Path, *documents: dict[str, Any]) -> Iterator[Path]:
    with closing(database(path, *documents)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    yield path
