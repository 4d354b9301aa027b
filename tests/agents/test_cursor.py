"""Cursor's sessions: transcripts of both kinds, and the database, each rule in a small case."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.cursor.folder import folder_called
from passdown.agents.cursor.sessions import find, read, recognise, refer
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
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

HOME = Path(__file__).resolve().parent.parent / "fixtures" / "cursor" / "home"
TRANSCRIPTS = HOME / "projects" / "home-dev-slug" / "agent-transcripts"
NAME = "11117777-0000-4000-8000-000000000007"
ROWS = TRANSCRIPTS / NAME / f"{NAME}.jsonl"
CHILD = TRANSCRIPTS / NAME / "subagents" / "22228888-0000-4000-8000-000000000008.jsonl"
PLAIN = TRANSCRIPTS / "33339999-0000-4000-8000-000000000009.txt"
STORED = "44440000-0000-4000-8000-000000000010"
[STORE] = HOME.rglob("store.db")


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="cursor", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def rows(folder: Path, *records: tuple[str, Any]) -> list[AnyEvent]:
    path = folder / "log.jsonl"
    path.write_text(
        "".join(json.dumps({"role": role, "message": {"content": content}}) + "\n" for role, content in records)
    )
    return events_of(path)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def database(path: Path, *messages: Any, meta: Any = None) -> Path:
    """Make a store of messages, without a root unless `meta` names one."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    for message in messages:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection.execute("INSERT INTO blobs VALUES (?, ?)", (hashlib.sha256(data).hexdigest(), data))
    if meta is not None:
        connection.execute("INSERT INTO meta VALUES ('0', ?)", (meta,))
    connection.commit()
    connection.close()
    return path


def test_a_transcript() -> None:
    events = events_of(ROWS)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.at) == (NAME, None)
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (9, ROWS.stat().st_size)
    assert [(e.origin, e.text.split("\n")[0]) for e in of(events, UserMessage)] == [
        ("injected", "<attached_files>"), ("human", "Fix the slug helpers."), ("injected", "<system_reminder>"),
        ("command", "carefully"),
    ]  # fmt: skip
    assert [(e.text, e.reasoning) for e in of(events, AssistantMessage)] == [
        ("I run the tests.", False), ("Planning the test run", True), ("slugify is done; truncate is left.", False),
    ]  # fmt: skip
    assert [(e.tool, e.action, e.command, e.paths) for e in of(events, ToolCall)][:3] == [
        ("Shell", "run", "pytest -q", ()), ("TodoWrite", "plan", "", ()),
        ("StrReplace", "edit", "", ("/home/dev/slug/slug.py",)),
    ]  # fmt: skip
    assert not of(events, ToolResult) + of(events, Unknown) + of(events, Usage)


def test_a_plan_that_is_changed_in_part() -> None:
    assert [e.items for e in of(events_of(ROWS), PlanUpdate)] == [
        (PlanItem(text="Fix slugify", status="in_progress"), PlanItem(text="Fix truncate")),
        (PlanItem(text="Fix slugify", status="completed"), PlanItem(text="Fix truncate")),
    ]


def test_a_subagent() -> None:
    assert [(e.name, e.prompt) for e in of(events_of(ROWS), SubagentStart)] == [("explore", "Where is slugify used?")]
    events = events_of(CHILD)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == (NAME, "subagent")
    assert [e.origin for e in of(events, UserMessage)] == ["subagent"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hello", [("human", "hello")]),
        ("<user_query>\none\n</user_query>", [("human", "one")]),
        ("<user_query>\ncut off", [("human", "cut off")]),
        ("<user_info>x</user_info>", [("injected", "<user_info>x</user_info>")]),
        ("<b>bold</b> is what I want <user_query>this</user_query>",
         [("injected", "<b>bold</b> is what I want"), ("human", "this")]),
        ("/usr/bin/x fails", [("human", "/usr/bin/x fails")]),
        ("/summarize", [("command", "/summarize")]),
    ],
)  # fmt: skip
def test_who_wrote_a_text(tmp_path: Path, words: str, expected: list[tuple[str, str]]) -> None:
    assert [(e.origin, e.text) for e in of(rows(tmp_path, ("user", [text(words)])), UserMessage)] == expected


def test_results_without_an_id_belong_to_the_calls_in_turn(tmp_path: Path) -> None:
    call = {"type": "tool_use", "name": "Shell", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "x", "content": [text("Exit code: 2\n\nx")]}
    events = rows(tmp_path, ("assistant", [call, call]), ("user", [result, {**result, "content": "done"}]))
    assert [(e.call_id, e.outcome, e.exit_code) for e in of(events, ToolResult)] == [
        ("line-1-1", "failed", 2), ("line-1-2", "unknown", None),
    ]  # fmt: skip


def test_the_older_text() -> None:
    events = events_of(PLAIN)
    assert [(e.origin, e.text) for e in of(events, UserMessage)] == [("human", "Fix the slug helpers.")]
    assert [(e.text, e.reasoning) for e in of(events, AssistantMessage)] == [
        ("First the tests.", True), ("I run the tests.", False), ("One test fails.", False),
    ]  # fmt: skip
    shell, write = of(events, ToolCall)
    assert (shell.command, write.paths) == ("pytest -q", ("notes.md",))
    assert write.arguments["contents"] == "one\n  two"
    assert [(e.outcome, e.exit_code) for e in of(events, ToolResult)] == [("failed", 1)]


def test_the_database() -> None:
    events = events_of(STORE)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd, start.at) == (STORED, "/home/dev/my slug", 1772359200000)
    assert [e.title for e in of(events, Title)] == ["Slug helpers"]
    assert [(e.origin, e.text.split("\n")[0]) for e in of(events, UserMessage)] == [
        ("injected", "<user_info>"), ("human", "Fix the slug helpers."),
    ]  # fmt: skip
    assert [(e.call_id, e.outcome, e.exit_code) for e in of(events, ToolResult)] == [
        ("call_1", "failed", 1), ("call_3", "failed", None),
    ]  # fmt: skip
    assert [e.summary for e in of(events, Compaction)] == ["slugify is done; truncate is left."]
    assert {e.model for e in of(events, AssistantMessage)} == {"composer-2"}
    assert isinstance(end, SessionEnd)
    assert end.records == 9
    assert not of(events, Unknown)


def test_a_database_without_a_root_gives_its_messages_in_their_order(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, b"\x0a\x02xx", b'{"a": 1}']
    events = events_of(database(tmp_path / "store.db", *said))
    assert [e.text for e in of(events, UserMessage) + of(events, AssistantMessage)] == ["one", "two"]
    assert [(e.reason, e.line) for e in of(events, Unknown)] == [("bad_shape", 3)]


@pytest.mark.parametrize("meta", ["zz", "7b", b"\xff", json.dumps({"latestRootBlobId": "00"}).encode().hex(), 7])
def test_what_a_database_says_of_itself_may_be_damaged(tmp_path: Path, meta: Any) -> None:
    path = database(tmp_path / "store.db", {"role": "user", "content": "one"}, meta=meta)
    assert [e.text for e in of(events_of(path), UserMessage)] == ["one"]


def test_a_root_that_is_no_root(tmp_path: Path) -> None:
    for number, root in enumerate(
        (b"", b"\x0a", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x0f\x01", b"\x09\x01")
    ):
        name = hashlib.sha256(root).hexdigest()
        meta = json.dumps({"latestRootBlobId": name}).encode().hex()
        path = database(tmp_path / f"{number}.db", {"role": "user", "content": "one"}, root, meta=meta)
        assert [e.text for e in of(events_of(path), UserMessage)] == ["one"]


def test_a_message_that_is_gone_or_too_long(tmp_path: Path) -> None:
    data = json.dumps({"role": "user", "content": "x" * 3000}).encode()
    root = b"".join(b"\x0a\x20" + bytes.fromhex(name) for name in (hashlib.sha256(data).hexdigest(), "00" * 32))
    meta = json.dumps({"latestRootBlobId": hashlib.sha256(root).hexdigest()}).encode().hex()
    path = database(tmp_path / "store.db", data, root, meta=meta)
    assert [e.reason for e in of(events_of(path, max_line=1000), Unknown)] == ["line_too_long", "torn_line"]


def test_a_database_that_is_cut_off_or_another_ones(tmp_path: Path) -> None:
    cut = tmp_path / "store.db"
    cut.write_bytes(STORE.read_bytes()[:3000])
    events = events_of(cut)
    assert isinstance(events[0], SessionStart)
    assert [e.record for e in of(events, Unknown)] == ["database"]
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    assert not recognise(other.read_bytes(), "store.db")
    assert [e.record for e in of(events_of(other), Unknown)] == ["database"]


def test_the_live_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / STORED / "store.db"
    path.parent.mkdir()
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
    writer.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.execute("INSERT INTO blobs VALUES ('a', ?)", (b'{"role": "user", "content": "one"}',))
    writer.commit()
    before = {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}
    assert [e.text for e in of(events_of(path), UserMessage)] == ["one"]
    ref = refer(path)
    assert ref is not None and ref.session_id == STORED
    assert before == {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}
    writer.close()


def test_find(tmp_path: Path) -> None:
    home = tmp_path / ".cursor"
    shutil.copytree(HOME, home)
    double = home / "projects" / "home-dev-slug" / "agent-transcripts" / f"{STORED}.jsonl"
    double.write_bytes(ROWS.read_bytes())
    found = {ref.session_id: ref for ref in find(home)}
    assert sorted(found) == [NAME, CHILD.stem, PLAIN.stem, STORED]
    assert found[STORED].path.endswith("store.db")
    assert (found[STORED].cwd, found[STORED].title) == ("/home/dev/my slug", "Slug helpers")
    assert (found[CHILD.stem].parent_id, found[CHILD.stem].parent_kind) == (NAME, "subagent")


def test_the_folder_that_a_project_stands_for(tmp_path: Path) -> None:
    place = tmp_path / "my-work" / "a.b"
    place.mkdir(parents=True)
    slug = str(place).strip("/").replace("/", "-").replace(".", "-").replace("_", "-")
    home = tmp_path / ".cursor"
    shutil.copytree(HOME, home)
    (home / "projects" / "home-dev-slug").rename(home / "projects" / slug)
    assert next(ref.cwd for ref in find(home) if ref.session_id == NAME) == str(place)
    (tmp_path / "my" / "work-a.b").mkdir(parents=True)
    folder_called.cache_clear()
    assert folder_called(slug) == ""
    assert folder_called("no-such-folder-at-all") == ""


@pytest.mark.parametrize("path", [ROWS, CHILD, PLAIN, STORE], ids=["rows", "child", "plain", "store"])
def test_content_decides(path: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed"
    renamed.write_bytes(path.read_bytes())
    assert recognise_file(renamed).id == "cursor"
