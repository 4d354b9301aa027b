"""Databases with the columns of their agents' schemas, filled from the rows in a fixture."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

SCHEMAS = {
    "goose": """
        CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
        CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
            session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP,
            updated_at TIMESTAMP, extension_data TEXT DEFAULT '{}', archived_at TIMESTAMP, parent_session_id TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
            role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
            timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
        CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
            created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER,
            cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, cost_source TEXT,
            is_compaction INTEGER DEFAULT 0);
    """,
    "crush": """
        CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
            message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
            completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL,
            created_at INTEGER NOT NULL, summary_message_id TEXT, todos TEXT);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
            parts BLOB NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER,
            finished_at INTEGER, provider TEXT, is_summary_message INTEGER NOT NULL DEFAULT 0);
    """,
    "hermes": """
        CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, model_config TEXT,
            parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, input_tokens INTEGER,
            title TEXT, cwd TEXT, git_branch TEXT, last_activity_at REAL);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
            content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, reasoning TEXT,
            reasoning_content TEXT, finish_reason TEXT, active INTEGER NOT NULL DEFAULT 1,
            compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT);
    """,
}
ROWS = {"goose": "goose/sessions.rows.json", "crush": "crush/crush.rows.json", "hermes": "hermes/state.rows.json"}


def rows_of(agent: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of an agent's fixture, by table."""
    rows: dict[str, list[dict[str, Any]]] = json.loads((FIXTURES / ROWS[agent]).read_text("utf-8"))
    return rows


def database(agent: str, path: Path, rows: dict[str, list[dict[str, Any]]] | None = None) -> sqlite3.Connection:
    """Write a database in an agent's schema, and leave the connection (and so its write-ahead log) open."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(f"PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;{SCHEMAS[agent]}")
    for table, listed in (rows_of(agent) if rows is None else rows).items():
        for row in listed:
            values = [json.dumps(value) if isinstance(value, (dict, list)) else value for value in row.values()]
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", values)
    connection.commit()
    return connection


@contextmanager
def closed_database(agent: str, path: Path, rows: dict[str, list[dict[str, Any]]] | None = None) -> Iterator[Path]:
    """Write a database as it is when its agent has ended."""
    with closing(database(agent, path, rows)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    yield path
