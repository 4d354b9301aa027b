"""Goose's sessions: the database and the logs of before, from rows of their known shapes."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from row_databases import FIXTURES, closed_database, database

from passdown.agents.goose.sessions import find, read, recognise
from passdown.agents.goose.tools import ending
from passdown.agents.table import home_of, row_called
from passdown.errors import FormatError, UsageError
from passdown.model.session import (
    AnyEvent,
    Compaction,
    Interruption,
    PlanUpdate,
    SessionEnd,
    SessionRef,
    SessionStart,
    SubagentStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)

LOG = next(FIXTURES.glob("goose/sessions/*.jsonl"))
MAIN, CHILD = "20260110_1", "20260110_2"


def events_of(path: Path, session: str = "", **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="goose", path=str(path), session_id="", inner=session), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """A database of two sessions."""
    with closed_database("goose", tmp_path / "sessions/sessions.db") as path:
        yield path


def test_the_sessions_of_the_database_and_the_logs(store: Path) -> None:
    home = store.parent.parent
    shutil.copy(LOG, store.parent)
    shutil.copy(LOG, store.parent / f"{MAIN}.jsonl")
    found = {ref.session_id: ref for ref in find(home)}
    assert set(found) == {MAIN, CHILD, LOG.stem}
    assert (found[MAIN].inner, found[MAIN].cwd, found[MAIN].title) == (MAIN, "/work/shop", "Limit the exports")
    assert (found[CHILD].parent_id, found[CHILD].parent_kind, found[CHILD].title) == (MAIN, "subagent", "")
    assert recognise(store.read_bytes()[: 64 << 10], "any.name")
    assert recognise(LOG.read_bytes(), "any.name")


def test_a_session_of_the_database(store: Path) -> None:
    events = events_of(store, MAIN)
    assert [(e.text, e.origin) for e in of(events, UserMessage)] == [
        ("Limit the exports to ten.", "human"), ("It is 2026-01-10.", "injected"),
        ("So far: the exports are half limited.", "injected"),
    ]  # fmt: skip
    assert [(e.action, e.command) for e in of(events, ToolCall)] == [("run", "pytest"), ("plan", ""), ("delegate", "")]
    assert [(e.outcome, e.exit_code) for e in of(events, ToolResult)] == [
        ("failed", 1), ("ok", None), ("rejected", None),
    ]  # fmt: skip
    assert [(e.model, e.input, e.cache_read, e.cache_write, e.output) for e in of(events, Usage)] == [
        ("claude-sonnet-4-5", 10, 60, 30, 20), ("small", 50, 0, 0, 5),
    ]  # fmt: skip
    assert [item.status for item in of(events, PlanUpdate)[0].items] == ["completed", "pending"]
    assert [e.summary for e in of(events, Compaction)] == ["So far: the exports are half limited."]
    assert [e.reason for e in of(events, Interruption)] == ["error: no key"]
    assert [e.prompt for e in of(events, SubagentStart)] == ["Review it."]
    assert [e.origin for e in of(events_of(store, CHILD), UserMessage)] == ["subagent"]


def test_the_live_write_ahead_log_is_read_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(database("goose", path)):
        wal = path.with_name("sessions.db-wal")
        before = path.read_bytes(), wal.read_bytes()
        assert len(of(events_of(path, MAIN), ToolCall)) == 3
        assert (path.read_bytes(), wal.read_bytes()) == before


def test_the_first_schema_has_fewer_columns(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(database("goose", path)) as connection:
        connection.executescript(
            "DROP TABLE usage_ledger; ALTER TABLE sessions DROP COLUMN name; ALTER TABLE sessions DROP COLUMN"
            " parent_session_id; ALTER TABLE messages DROP COLUMN metadata_json;"
        )
        connection.commit()
        events = events_of(path, MAIN)
    assert of(events, Usage) == []
    assert len(of(events, ToolCall)) == 3
    assert [e.origin for e in of(events, UserMessage)] == ["human"] * 3


def test_several_sessions_need_a_name(store: Path) -> None:
    with pytest.raises(UsageError, match="holds 2 sessions"):
        events_of(store)
    with pytest.raises(FormatError, match="holds no session x"):
        events_of(store, "x")


def test_rows_that_are_broken_or_too_long(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(database("goose", path)) as connection:
        connection.execute('UPDATE messages SET content_json = \'[{"type":"te\' WHERE id = 1')
        connection.execute("UPDATE messages SET content_json = ? WHERE id = 2", ("[" + " " * 5000 + "]",))
        connection.execute("UPDATE messages SET content_json = '{}' WHERE id = 3")
        connection.execute("UPDATE messages SET role = 'robot' WHERE id = 4")
        connection.commit()
        events = events_of(path, MAIN, max_line=4000)
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("user", "bad_json"), ("user", "line_too_long"), ("assistant", "bad_shape"), ("robot", "unknown_type"),
    ]  # fmt: skip


def test_a_damaged_database_ends_with_a_note(store: Path) -> None:
    data = bytearray(store.read_bytes())
    page = data.index(b"Limit the exports to ten.") // 4096 * 4096
    data[page : page + 4096] = b"\x05" * 4096
    store.write_bytes(data)
    try:
        events = events_of(store, MAIN)
    except FormatError:
        return
    assert isinstance(events[-1], SessionEnd)
    assert "torn_line" in [e.reason for e in of(events, Unknown)]


def test_a_log_of_before_the_database() -> None:
    events = events_of(LOG)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd) == (LOG.stem, "/work/shop")
    assert [(e.text, e.line) for e in of(events, UserMessage)] == [("Fix the login test.", 2)]
    assert [(e.action, e.command, e.paths) for e in of(events, ToolCall)] == [
        ("run", "pytest tests/login.py", ()), ("edit", "", ("/work/shop/login.py",)),
    ]  # fmt: skip
    assert [(e.outcome, e.text) for e in of(events, ToolResult)] == [
        ("unknown", "1 failed"),
        ("failed", "no such file"),
    ]


def test_a_log_with_damaged_lines(tmp_path: Path) -> None:
    lines = LOG.read_bytes().splitlines(keepends=True)
    glued = lines[1].rstrip(b"\n") + lines[2]
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines[0] + glued + b"\x00\x00" + lines[3].rstrip(b"\n") + b"\x00\n" + b"{broken\n" + lines[4][:50])
    events = events_of(path)
    assert [e.reason for e in of(events, Unknown)] == ["bad_json", "torn_line"]
    assert len(of(events, UserMessage)) == 1
    assert len(of(events, ToolResult)) == 1


@pytest.mark.parametrize(
    ("result", "outcome", "code"),
    [
        ({"status": "success", "value": [{"type": "text", "text": "boom\nexited with code 2"}]}, "failed", 2),
        ({"status": "success", "value": {"content": [], "structuredContent": {"exit_code": 0}}}, "ok", 0),
        ({"status": "success", "value": {"content": [], "structuredContent": {"timed_out": True}}}, "timeout", None),
        ({"status": "error", "error": "tool call was cancelled"}, "interrupted", None),
        ({"status": "error", "error": {"message": "timed out after 30s"}}, "timeout", None),
        ("free words", "unknown", None),
        (None, "unknown", None),
    ],
)
def test_how_commands_end(result: Any, outcome: str, code: int | None) -> None:
    assert ending("run", result)[:2] == (outcome, code)


def test_the_root_may_lie_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_called("goose")
    assert row is not None
    monkeypatch.setenv("GOOSE_PATH_ROOT", str(tmp_path))
    assert home_of(row) == tmp_path / "data"
