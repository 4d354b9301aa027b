"""Droid's sessions: each rule of its store and of its stream in a small case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.droid.sessions import find, read, recognise
from passdown.agents.table import AGENTS, home_of
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    PlanItem,
    PlanUpdate,
    SessionEnd,
    SessionRef,
    SessionStart,
    SubagentStart,
    Title,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)
from passdown.sessions.read import recognise as recognise_file

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "droid"
NAME = "eeee5555-0000-4000-8000-000000000005"
STORE = FIXTURES / "store" / "sessions" / "-home-dev-slug" / f"{NAME}.jsonl"
STREAM = FIXTURES / "stream.jsonl"


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="droid", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def rows(folder: Path, *records: dict[str, Any]) -> list[AnyEvent]:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return events_of(path)


def said(role: str, *content: Any) -> dict[str, Any]:
    return {"type": "message", "id": "m", "message": {"role": role, "content": list(content)}}


def test_where_a_session_begins() -> None:
    events = events_of(STORE)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd, start.agent_version) == (NAME, "/home/dev/slug", "")
    assert [e.title for e in of(events, Title)] == ["Slug helpers"]
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (16, STORE.stat().st_size)
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    assert [(e.origin, e.text.split("\n")[0]) for e in of(events_of(STORE), UserMessage)] == [
        ("injected", "<system-reminder>"), ("human", "Fix the slug helpers."), ("command", "carefully"),
        ("human", "And truncate."),
    ]  # fmt: skip


def test_a_reminder_before_a_request(tmp_path: Path) -> None:
    text = "<system-reminder>\nx\n</system-reminder>\n\nGo on."
    task = "# Task Tool Invocation\n\nSubagent type: worker"
    events = rows(tmp_path, said("user", {"type": "text", "text": text}), said("user", {"type": "text", "text": task}))
    assert [e.origin for e in of(events, UserMessage)] == ["injected", "human", "subagent"]
    assert of(events, UserMessage)[1].text == "Go on."


def test_how_calls_ended() -> None:
    events = events_of(STORE)
    assert [(e.call_id, e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)] == [
        ("d1", "failed", 1, ""), ("d2", "ok", None, ""), ("d3", "ok", None, ""), ("d4", "rejected", None, "not yet"),
        ("d5", "ok", None, ""),
    ]  # fmt: skip
    assert [e.command for e in of(events, ToolCall) if e.action == "run"] == ["pytest -q", "git push"]
    assert [e.paths for e in of(events, ToolCall) if e.action == "edit"] == [("/home/dev/slug/slug.py",)]


@pytest.mark.parametrize(
    ("content", "error", "expected"),
    [
        ("fine", False, ("ok", None)),
        ("Error: Command failed (exit code: 127)\nx", False, ("failed", 127)),
        ("x\n\n[Process exited with code 0]", False, ("ok", 0)),
        ("Error: Command timed out after 60 seconds", True, ("timeout", None)),
        ("Error: Tool execution was cancelled", True, ("interrupted", None)),
        ("no such tool", True, ("failed", None)),
        ({"stdout": "x", "exitCode": 3}, False, ("failed", 3)),
    ],
)
def test_how_a_command_ended(tmp_path: Path, content: Any, error: bool, expected: tuple[str, int | None]) -> None:
    call = said("assistant", {"type": "tool_use", "id": "c", "name": "Execute", "input": {"command": "make"}})
    result = said("user", {"type": "tool_result", "tool_use_id": "c", "content": content, "is_error": error})
    [end] = of(rows(tmp_path, call, result), ToolResult)
    assert (end.outcome, end.exit_code) == expected


def test_plans_compactions_subagents_and_an_interruption() -> None:
    events = events_of(STORE)
    assert [e.items for e in of(events, PlanUpdate)] == [
        (PlanItem(text="Fix slugify", status="in_progress"), PlanItem(text="Fix truncate")),
        (PlanItem(text="Fix slugify", status="completed"), PlanItem(text="Fix truncate", status="in_progress")),
    ]
    assert [e.summary for e in of(events, Compaction)] == ["slugify is done; truncate is left."]
    assert [(e.name, e.call_id) for e in of(events, SubagentStart)] == [("worker", "d5")]
    assert [e.during_tool for e in of(events, Interruption)] == [False]


def test_the_settings_tell_the_model_and_the_tokens_of_the_session(tmp_path: Path) -> None:
    events = events_of(STORE)
    assert {e.model for e in of(events, AssistantMessage)} == {"claude-opus-4-5"}
    [usage] = of(events, Usage)
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning) == (
        1200,
        9000,
        40,
        300,
        25,
    )
    alone = tmp_path / STORE.name
    shutil.copy(STORE, alone)
    assert not of(events_of(alone), Usage)
    alone.with_name(f"{NAME}.settings.json").write_text("{")
    assert not of(events_of(alone), Usage)


def test_the_stream() -> None:
    events = events_of(STREAM)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd) == ("ffff6666-0000-4000-8000-000000000006", "/home/dev/slug")
    assert [(e.origin, e.text) for e in of(events, UserMessage)] == [("human", "Fix the slug helpers.")]
    assert [(e.text, e.reasoning) for e in of(events, AssistantMessage)] == [
        ("First the tests.", True),
        ("Done.", False),
    ]
    assert [(e.call_id, e.outcome, e.exit_code) for e in of(events, ToolResult)] == [
        ("c1", "failed", 1), ("c2", "failed", None),
    ]  # fmt: skip
    assert [e.reason for e in of(events, Interruption)] == ["error: the connection was lost"]
    assert not of(events, Unknown)


def test_find(isolated_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = next(row for row in AGENTS if row.id == "droid")
    assert home_of(row) == isolated_home / ".factory"
    monkeypatch.setenv("FACTORY_HOME_OVERRIDE", str(tmp_path))
    shutil.copytree(FIXTURES / "store", home_of(row))
    (home_of(row) / "sessions" / "linked.jsonl").symlink_to(STORE)
    [ref] = find(home_of(row))
    assert (ref.session_id, ref.cwd, ref.title, ref.started_at) == (
        NAME,
        "/home/dev/slug",
        "Slug helpers",
        1772359201000,
    )


@pytest.mark.parametrize("path", [STORE, STREAM], ids=["store", "stream"])
def test_content_decides(path: Path, tmp_path: Path) -> None:
    assert recognise(path.read_bytes(), "x")
    renamed = tmp_path / "renamed.jsonl"
    renamed.write_bytes(path.read_bytes())
    assert recognise_file(renamed).id == "droid"
