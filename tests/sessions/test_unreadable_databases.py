"""A database that cannot be read says so: its sessions are missing, and nobody is to think that there are none."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.table import AGENTS
from passdown.sessions.discover import all_sessions

SCHEMAS = {
    "opencode": "CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, title text)",
    "goose": "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TIMESTAMP,"
    " updated_at TIMESTAMP); CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT,"
    " content_json TEXT, created_timestamp INTEGER)",
    "hermes": "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL);"
    " CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT)",
    "crush": "CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT);"
    " CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB)",
}
PLACES = {
    "opencode": "opencode.db",
    "goose": "sessions/sessions.db",
    "hermes": "state.db",
    "crush": "p/.crush/crush.db",
}


def store(agent: str, home: Path, schema: str) -> Path:
    """Make an agent's database, and what names it."""
    path = home / PLACES[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    (home / "projects.json").write_text(json.dumps({"projects": [{"path": str(home / "p"), "data_dir": ".crush"}]}))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(schema)
    return path


def details(agent: str, home: Path) -> list[str]:
    """Return what discovery says of an agent's folder."""
    found = all_sessions(homes={agent: home}, agents=[agent])
    assert not found.refs
    assert {finding.code for finding in found.findings} <= {"session.unreadable_database"}
    return [finding.detail for finding in found.findings]


@pytest.mark.parametrize("agent", PLACES)
def test_a_database_without_sessions_is_no_trouble(tmp_path: Path, agent: str) -> None:
    store(agent, tmp_path, SCHEMAS[agent])
    assert details(agent, tmp_path) == []


@pytest.mark.parametrize("agent", PLACES)
def test_a_schema_that_is_not_known(tmp_path: Path, agent: str) -> None:
    store(agent, tmp_path, "CREATE TABLE conversation_v9 (id TEXT)")
    [detail] = details(agent, tmp_path)
    title = next(row.title for row in AGENTS if row.id == agent)
    assert detail.startswith(f"{title}'s sessions are missing here, its {Path(PLACES[agent]).name} is no database of ")


@pytest.mark.parametrize("agent", PLACES)
@pytest.mark.parametrize("damage", ["junk", "torn", "newer"])
def test_bytes_that_are_no_database(tmp_path: Path, agent: str, damage: str) -> None:
    path = store(agent, tmp_path, SCHEMAS[agent])
    data = bytearray(path.read_bytes())
    if damage == "newer":
        data[18:20] = b"\x03\x03"  # a version of the file format that does not exist yet
    path.write_bytes({"junk": b"\x00junk" * 999, "torn": data[:600], "newer": data}[damage])
    [detail] = details(agent, tmp_path)
    assert "is not a readable SQLite database" in detail
    assert str(tmp_path) not in detail


def test_a_list_says_it_each_time(
    isolated_home: Path, repository: Any, passdown: Callable[..., Any], tmp_path: Path
) -> None:
    home = isolated_home / ".local/share/goose"
    store("goose", home, "CREATE TABLE conversation_v9 (id TEXT)")
    for _ in range(2):
        done = passdown("sessions", "--all", folder=repository.root)
        assert b"Goose's sessions are missing here, its sessions.db is no database of Goose's" in done.stderr
    assert b"Goose" not in passdown("sessions", "--all", "--agent", "codex", folder=repository.root).stderr
    with closing(sqlite3.connect(home / PLACES["goose"])) as connection:
        connection.executescript("DROP TABLE conversation_v9;" + SCHEMAS["goose"])
    assert b"missing here" not in passdown("sessions", "--all", folder=repository.root).stderr
