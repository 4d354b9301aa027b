"""Hermes' sessions: the database, the logs and the documents of before, from rows of their known shapes."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from row_databases import FIXTURES, closed_database, database

from passdown.agents.hermes.sessions import find, read, recognise
from passdown.agents.hermes.tools import ending
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
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

LOG = next(FIXTURES.glob("hermes/sessions/*.jsonl"))
DOCUMENT = next(FIXTURES.glob("hermes/sessions/*.json"))
FIRST, SECOND, CHILD = "20260601_100000_aaaaaa", "20260601_110000_bbbbbb", "20260601_100500_cccccc"


def events_of(path: Path, session: str = "", **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="hermes", path=str(path), session_id="", inner=session), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """A database of a session, its continuation and a subagent's."""
    with closed_database("hermes", tmp_path / "state.db") as path:
        yield path


def test_all_three_containers_are_found(store: Path) -> None:
    shutil.copytree(LOG.parent, store.parent / "sessions")
    found = {ref.session_id: ref for ref in find(store.parent)}
    assert set(found) == {FIRST, SECOND, CHILD, LOG.stem, "20260301_130000_ef34ab"}
    assert (found[FIRST].cwd, found[FIRST].branch, found[FIRST].title) == ("/work/shop", "feat/limit", "Exports")
    assert (found[SECOND].parent_kind, found[CHILD].parent_kind) == ("continuation", "subagent")
    assert found[SECOND].cwd == "/work/shop"  # as the session that it continues
    for path in (store, LOG, DOCUMENT):
        assert recognise(path.read_bytes()[: 64 << 10], "any.name")


def test_a_session_of_the_database(store: Path) -> None:
    events = events_of(store, FIRST)
    assert [(e.text, e.origin, e.active) for e in of(events, UserMessage)] == [
        ("Limit the exports to ten.", "human", True), ("No, take that back.", "human", False),
        ("[IMPORTANT: Background process 7 finished]", "injected", True),
    ]  # fmt: skip
    assert [(e.text, e.reasoning, e.model) for e in of(events, AssistantMessage)] == [
        ("Hm.", True, "hermes-4"), ("Running.", False, "hermes-4"),
    ]  # fmt: skip
    assert [(e.action, e.command, e.cwd) for e in of(events, ToolCall)] == [
        ("run", "pytest", "/work/shop"), ("run", "rm -rf build", ""), ("plan", "", ""), ("delegate", "", ""),
    ]  # fmt: skip
    assert [(e.outcome, e.exit_code) for e in of(events, ToolResult)] == [
        ("failed", 1), ("rejected", None), ("ok", None), ("failed", None),
    ]  # fmt: skip
    assert [item.status for item in of(events, PlanUpdate)[0].items] == ["completed", "pending"]
    assert [e.prompt for e in of(events, SubagentStart)] == ["Find the caller."]


def test_a_continuation_begins_with_the_summary(store: Path) -> None:
    events = events_of(store, SECOND)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == (FIRST, "continuation")
    assert "Limit the exports." in of(events, Compaction)[0].summary
    assert [(e.text, e.origin) for e in of(events, UserMessage)] == [("Go on with the docs.", "human")]
    assert [e.origin for e in of(events_of(store, CHILD), UserMessage)] == ["subagent"]


def test_what_a_compaction_hid_was_said_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(database("hermes", path)) as connection:
        connection.execute("UPDATE messages SET active = 0, compacted = 1 WHERE content LIKE 'No, take%'")
        connection.commit()
        assert all(e.active for e in of(events_of(path, FIRST), UserMessage))


def test_the_log_and_the_document_of_before() -> None:
    events = events_of(LOG)
    assert [(e.text, e.line) for e in of(events, UserMessage)] == [("Count the files.", 2)]
    assert [(e.command, e.response_id) for e in of(events, ToolCall)] == [("ls | wc -l", "message-3")]
    assert [(e.outcome, e.exit_code, e.text) for e in of(events, ToolResult)] == [("ok", 0, "12")]
    end = events[-1]
    assert isinstance(end, SessionEnd)
    assert end.ignored == {"session_meta": 1}
    events = events_of(DOCUMENT)
    assert [e.text for e in of(events, AssistantMessage)] == ["Hello to you."]
    assert events[0].at == 1772370000000


@pytest.mark.parametrize(
    ("content", "outcome", "code"),
    [
        ('{"output": "[Command timed out after 60s]", "exit_code": 124}', "timeout", 124),
        ('{"output": "Background process started", "session_id": "p1", "pid": 7, "exit_code": 0}', "running", None),
        ('{"output": "[Command interrupted]", "exit_code": 130}', "interrupted", 130),
        ('{"output": "x"}', "unknown", None),
        ("[Tool execution cancelled - user sent a new message]", "interrupted", None),
        ('{"torn', "unknown", None),
    ],
)
def test_how_commands_end(content: str, outcome: str, code: int | None) -> None:
    assert ending("terminal", content)[:2] == (outcome, code)


def test_images_and_rows_that_are_broken_or_too_long(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    picture = '[{"type": "text", "text": "See."}, {"type": "image_url", "image_url": {"url": "x"}}]'
    with closing(database("hermes", path)) as connection:
        connection.execute("UPDATE messages SET content = ? WHERE id = 1", (picture,))
        connection.execute("UPDATE messages SET content = ? WHERE id = 3", ("x" * 5000,))
        connection.execute("UPDATE messages SET tool_calls = '[{\"id' WHERE id = 2")
        connection.execute("UPDATE messages SET role = 'robot' WHERE id = 4")
        connection.commit()
        events = events_of(path, FIRST, max_line=4000)
    assert next((e.text, e.images) for e in of(events, UserMessage)) == ("See.", 1)
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("tool_calls", "bad_json"), ("tool", "line_too_long"), ("robot", "unknown_type"),
    ]  # fmt: skip


def test_a_damaged_log_and_document(tmp_path: Path) -> None:
    log, document = tmp_path / LOG.name, tmp_path / DOCUMENT.name
    log.write_bytes(b"\xef\xbb\xbf" + LOG.read_bytes() + b"[1, 2]\n" + b'{"role": "us')
    assert [e.reason for e in of(events_of(log), Unknown)] == ["bad_shape", "torn_line"]
    document.write_bytes(DOCUMENT.read_bytes()[:-40])
    events = events_of(document)
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]
    assert [e.text for e in of(events, UserMessage)] == ["Hello."]
