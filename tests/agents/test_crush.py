"""Crush's databases, from rows of the shapes in its source."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from row_databases import closed_database, database

from passdown.agents.crush.sessions import find, read, recognise
from passdown.agents.crush.tools import ending
from passdown.errors import FormatError
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanUpdate,
    SessionEnd,
    SessionRef,
    SessionStart,
    SubagentStart,
    ToolCall,
    ToolResult,
    Unknown,
    UserMessage,
)

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


def events_of(path: Path, session: str = "", **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="crush", path=str(path), session_id="", inner=session), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """The database of a project with one session and its subagent's."""
    with closed_database("crush", tmp_path / "shop/.crush/crush.db") as path:
        yield path


def test_the_projects_that_crush_knows_are_looked_into(store: Path) -> None:
    project, home = store.parent.parent, store.parent.parent.parent / "home"
    home.mkdir()
    projects = [
        {"path": str(project), "data_dir": str(store.parent)}, {"path": str(project) + "-gone", "data_dir": ".crush"},
        {"path": "relative", "data_dir": ".crush"}, {"path": "\0", "data_dir": ""}, "broken",
    ]  # fmt: skip
    (home / "projects.json").write_text(json.dumps({"projects": projects}))
    (ref,) = find(home)
    assert (ref.session_id, ref.inner, ref.cwd) == (SESSION, SESSION, str(project))
    assert (ref.started_at, ref.modified_at) == (1768032000000, 1768035600000)
    assert list(find(project)) == []
    assert recognise(store.read_bytes()[: 64 << 10], "any.name")


def test_a_session(store: Path) -> None:
    events = events_of(store)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert start.cwd == str(store.parent.parent)
    assert [(e.text, e.origin, e.images) for e in of(events, UserMessage)] == [
        ("Limit the exports to ten.", "human", 1), ("git status", "shell", 0), ("Go on.", "injected", 0),
    ]  # fmt: skip
    assert [(e.text, e.reasoning) for e in of(events, AssistantMessage)] == [("Hm.", True), ("Running.", False)]
    assert [(e.tool, e.action, e.command, e.paths) for e in of(events, ToolCall)] == [
        ("bash", "run", "pytest", ()), ("edit", "edit", "", ("src/limits.py",)), ("agent", "delegate", "", ()),
        ("!", "run", "git status", ()), ("bash", "run", "sleep 100", ()),
    ]  # fmt: skip
    assert [(e.outcome, e.exit_code) for e in of(events, ToolResult)] == [
        ("failed", 1), ("rejected", None), ("ok", None), ("ok", 0),
    ]  # fmt: skip
    assert [e.summary for e in of(events, Compaction)] == ["So far: half limited."]
    assert [e.during_tool for e in of(events, Interruption)] == [True]
    assert [e.model for e in of(events, ModelChange)] == ["gpt-5.1"]
    assert [e.prompt for e in of(events, SubagentStart)] == ["Find the caller."]
    assert [item.text for item in of(events, PlanUpdate)[-1].items] == ["mend"]


def test_seconds_and_milliseconds_stand_side_by_side(store: Path) -> None:
    times = [e.at for e in events_of(store) if isinstance(e, (UserMessage, ToolCall))]
    assert times == sorted(times)
    assert all(1768032000000 <= time < 1768036000000 for time in times)


@pytest.mark.parametrize(
    ("result", "outcome", "code"),
    [
        ({"content": "fine\n\n<cwd>/w</cwd>"}, "ok", 0),
        ({"content": "x\nCommand was aborted before completion\n\n<cwd>/w</cwd>"}, "interrupted", None),
        ({"content": "Background shell started", "metadata": '{"background":true,"shell_id":"1"}'}, "running", None),
        ({"content": "error starting shell: no", "is_error": True}, "failed", None),
        ({"content": "Tool execution canceled by user", "is_error": True}, "interrupted", None),
        ({"content": "Exit code 7 was what I wanted\n\n<cwd>/w</cwd>"}, "ok", 0),
    ],
)
def test_how_commands_end(result: dict[str, Any], outcome: str, code: int | None) -> None:
    assert ending("bash", result) == (outcome, code)


def test_rows_that_are_broken_or_too_long(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    with closing(database("crush", path)) as connection:
        connection.execute("UPDATE messages SET parts = '[{\"type' WHERE id = 'm1'")
        connection.execute("UPDATE messages SET parts = ? WHERE id = 'm2'", ("[" + " " * 5000 + "]",))
        connection.execute("UPDATE messages SET parts = CAST('{}' AS BLOB) WHERE id = 'm3'")
        connection.execute("""UPDATE messages SET parts = '[{"type":"hologram","data":7}]' WHERE id = 'm4'""")
        connection.commit()
        events = events_of(path, SESSION, max_row=4000)
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("user", "bad_json"), ("assistant", "line_too_long"), ("tool", "bad_shape"), ("hologram", "unknown_type"),
    ]  # fmt: skip


def test_what_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "crush.db").write_bytes(b"no database")
    assert [e.reason for e in of(events_of(tmp_path / "crush.db"), Unknown)] == ["bad_shape"]
    with closed_database("hermes", tmp_path / "other.db") as path, pytest.raises(FormatError, match="no database of"):
        events_of(path)
    with pytest.raises(FileNotFoundError):
        events_of(tmp_path / "gone.db")


def test_a_database_that_is_cut_off(store: Path) -> None:
    data = store.read_bytes()
    store.write_bytes(data[: len(data) // 2])
    try:
        events = events_of(store)
    except FormatError:
        return
    assert isinstance(events[-1], SessionEnd)
