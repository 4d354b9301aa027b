"""OpenCode's other containers: the database and the storage tree."""

from __future__ import annotations

import copy
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from opencode_documents import DOCUMENT, EXPORT, SESSION, TREE, T, closed_database, database, events_of, of

from passdown.agents.opencode.sessions import find, read, recognise
from passdown.errors import FormatError, UsageError
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Interruption,
    PlanItem,
    PlanUpdate,
    SessionEnd,
    SessionStart,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.sessions.summary import summarize


def without_places(events: list[AnyEvent]) -> list[AnyEvent]:
    return events[:-1]


def test_the_database_says_what_the_export_says(tmp_path: Path) -> None:
    with closed_database(tmp_path / "opencode.db", DOCUMENT) as path:
        assert without_places(events_of(path, SESSION)) == without_places(events_of(EXPORT))
        assert recognise(path.read_bytes()[: 64 << 10], "any.name")


def test_the_live_write_ahead_log_is_read_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(database(path, DOCUMENT)):
        wal = path.with_name("opencode.db-wal")
        before = path.read_bytes(), wal.read_bytes()
        assert len(before[1]) > 1000
        assert summarize(events_of(path)).tool_calls == 8
        assert (path.read_bytes(), wal.read_bytes()) == before


def test_a_database_with_several_sessions_needs_a_name(tmp_path: Path) -> None:
    other = {
        "info": DOCUMENT["info"] | {"id": "ses_other", "time": {"created": T, "updated": T + 10**6}},
        "messages": [],
    }
    with closed_database(tmp_path / "opencode.db", DOCUMENT, other) as path:
        with pytest.raises(UsageError, match="holds 2 sessions"):
            events_of(path)
        with pytest.raises(FormatError, match="holds no session ses_gone"):
            events_of(path, "ses_gone")
        assert [ref.inner for ref in find(tmp_path)] == ["ses_other", SESSION]


def test_the_todo_table_is_the_last_word(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(database(path, DOCUMENT)) as connection:
        connection.execute("INSERT INTO todo VALUES (?, 'test', 'cancelled', 'low', 1)", (SESSION,))
        connection.execute("INSERT INTO todo VALUES (?, 'fix', 'completed', 'high', 0)", (SESSION,))
        connection.commit()
        plans = of(events_of(path), PlanUpdate)
    assert [item.status for item in plans[-1].items] == ["completed", "cancelled"]
    assert len(plans) == 2


def test_a_row_over_the_cap_and_one_that_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(database(path, DOCUMENT)) as connection:
        connection.execute("UPDATE part SET data = ? WHERE id = 'prt_0203'", ('{"type":"text"' + " " * 5000 + "}",))
        connection.execute("UPDATE part SET data = '{\"type\":\"te' WHERE id = 'prt_0205'")
        connection.execute("UPDATE message SET data = '[]' WHERE id = 'msg_05'")
        connection.commit()
        unknown = of(events_of(path, max_row=2000), Unknown)
    assert [(e.record, e.reason) for e in unknown] == [
        ("part", "line_too_long"), ("part", "bad_json"), ("message", "bad_shape"),
    ]  # fmt: skip


def test_a_damaged_database_ends_with_a_note(tmp_path: Path) -> None:
    with closed_database(tmp_path / "opencode.db", DOCUMENT) as path:
        data = bytearray(path.read_bytes())
        page = data.index(b"Running the tests.") // 4096 * 4096
        data[page : page + 4096] = b"\x05" * 4096
        path.write_bytes(data)
        try:
            events = events_of(path, SESSION)
        except FormatError:
            return
    assert isinstance(events[-1], SessionEnd)
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]


def test_something_else_than_opencode_in_a_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as connection:
        connection.execute("CREATE TABLE sessions (id text)")
    with pytest.raises(FormatError, match="no database of OpenCode"):
        events_of(tmp_path / "opencode.db")
    assert list(find(tmp_path)) == []


def test_the_storage_tree() -> None:
    refs = {ref.session_id[:5]: ref for ref in find(TREE)}
    assert [ref.title for ref in find(TREE)] == ["Tree session", "Look (@explore subagent)", "First generation"]
    events = list(read(refs["ses_2"]))
    assert [(e.text, e.active) for e in of(events, UserMessage)] == [
        ("Rename the helper.", True), ("No, the other one.", False),
    ]  # fmt: skip
    (end,) = of(events, ToolResult)
    assert (end.outcome, end.exit_code) == ("timeout", None)
    assert [e.cwd for e in of(events, WorkspaceChange)] == ["/home/dev/other"]
    assert of(events, PlanUpdate)[-1].items == (PlanItem(text="rename", status="completed"),)
    assert summarize(events).responses == 1


def test_a_child_session_is_the_parents_doing() -> None:
    child = next(ref for ref in find(TREE) if ref.parent_id)
    start, *rest = read(child)
    assert isinstance(start, SessionStart)
    assert (start.parent_id[:5], start.parent_kind) == ("ses_2", "subagent")
    assert [e.origin for e in of(rest, UserMessage)] == ["subagent"]


def test_the_generation_before() -> None:
    oldest = list(find(TREE))[-1]
    events = list(read(oldest))
    assert [e.text for e in of(events, UserMessage)] == ["Hello from 2025."]
    assert [e.cwd for e in of(events, WorkspaceChange)] == ["/home/dev/slug"]
    assert [e.reason for e in of(events, Interruption)] == ["error: ProviderAuthError no key"]
    assert of(events, Usage) == []


def test_the_database_wins_over_the_tree(tmp_path: Path) -> None:
    shutil.copytree(TREE, tmp_path / "home")
    both = copy.deepcopy(DOCUMENT)
    both["info"]["id"] = "ses_20000001ffeCCCCCCCCCCCCCCC"
    with closed_database(tmp_path / "home" / "opencode.db", both):
        refs = {ref.session_id[:5]: ref for ref in find(tmp_path / "home")}
    assert refs["ses_2"].path.endswith("opencode.db")
    assert refs["ses_1"].path.endswith(".json")
    assert len(refs) == 3


def test_a_half_written_tree_loses_what_is_not_there_and_no_more(tmp_path: Path) -> None:
    record = "storage/session/p1/ses_20000001ffeCCCCCCCCCCCCCCC.json"
    messages = "storage/message/ses_20000001ffeCCCCCCCCCCCCCCC"
    first, second = "Rename the helper.", "No, the other one."
    for name, kept, said, lost in [
        (record, 0.6, [first, second], [("rows", "torn_line")]),
        (record, 0.0, [first, second], [("rows", "torn_line")]),
        (f"{messages}/msg_a1.json", 0.5, [second], [("message", "bad_json"), ("part/text", "bad_shape")]),
        ("storage/part/msg_a1/prt_a11.json", 0.5, [second], [("part", "bad_json")]),
        ("storage/part/msg_a1/prt_a11.json", 0.0, [second], [("part", "bad_json")]),
        (f"{messages}/msg_a9.json.tmp", 0.0, [first, second], []),
    ]:
        home = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        shutil.copytree(TREE, home)
        data = (home / name).read_bytes() if (home / name).is_file() else b""
        (home / name).write_bytes(data[: int(len(data) * kept)])
        refs = {ref.session_id[:5]: ref for ref in find(home)}
        assert len(refs) == 3
        assert refs["ses_2"].cwd == ("/home/dev/slug" if kept or name != record else "")
        events = list(read(refs["ses_2"]))
        assert [e.text for e in of(events, UserMessage)] == said, name
        assert [(e.record, e.reason) for e in of(events, Unknown)] == lost, name


def test_links_in_the_tree_are_not_followed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(TREE, home)
    part = home / "storage" / "part" / "msg_a1" / "prt_a11.json"
    part.rename(tmp_path / "elsewhere.json")
    part.symlink_to(tmp_path / "elsewhere.json")
    record = next((home / "storage" / "session" / "p1").glob("ses_1*.json"))
    (record.parent / "ses_9link.json").symlink_to(record)
    assert len(list(find(home))) == 3
    events = list(read(next(find(home))))
    assert [e.text for e in of(events, UserMessage)] == ["No, the other one."]


def test_a_message_file_by_itself_is_a_session_of_one_message() -> None:
    path = next(TREE.glob("storage/message/*/msg_a2.json"))
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert events[0].session_id == "ses_20000001ffeCCCCCCCCCCCCCCC"
    assert [e.text for e in of(events, AssistantMessage)] == ["Renaming."]
    assert recognise(path.read_bytes(), path.name)
