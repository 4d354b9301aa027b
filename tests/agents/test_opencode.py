"""OpenCode's sessions: the three containers, each rule of the format in a small case, damage, and arbitrary bytes."""

from __future__ import annotations

import copy
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.opencode.sessions import find, read, recognise
from passdown.errors import FormatError, UsageError
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
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
    WorkspaceChange,
)
from passdown.sessions.summary import summarize

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


# --- one session, read from an export ------------------------------------------------------------------------------


def test_an_export_starts_with_its_session_and_ends_with_its_rows() -> None:
    events = events_of(EXPORT)
    start, title, end = events[0], events[1], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.agent_version, start.cwd, start.at) == (SESSION, "1.4.3", "/home/dev/slug", T)
    assert isinstance(title, Title)
    assert title.title == "Slug helpers"
    assert isinstance(end, SessionEnd)
    assert end.records == len(DOCUMENT["messages"]) + sum(len(m["parts"]) for m in DOCUMENT["messages"])
    assert end.ignored == {"step-start": 1, "user/file": 1}
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    said = [(e.origin, e.text[:30], e.images) for e in of(events_of(EXPORT), UserMessage)]
    assert said == [
        ("human", "Fix the slug helpers.", 1),
        ("injected", "Called the Read tool with the ", 0),
        ("shell", "git status", 0),
        ("injected", "Continue if you have next step", 0),
    ]


def test_what_the_model_said() -> None:
    said = [(e.reasoning, e.text, e.model, e.response_id) for e in of(events_of(EXPORT), AssistantMessage)]
    assert said == [
        (True, "Look first.", "model-a", "msg_02"),
        (False, "Running the tests.", "model-a", "msg_02"),
    ]


def test_calls() -> None:
    calls = {e.call_id: e for e in of(events_of(EXPORT), ToolCall)}
    assert (calls["call_04"].action, calls["call_04"].command, calls["call_04"].cwd) == (
        "run", "pytest -q", "/home/dev/slug",
    )  # fmt: skip
    assert (calls["call_05"].action, calls["call_05"].paths) == ("read", ("/home/dev/slug/src/slug.py",))
    assert (calls["call_03"].action, calls["call_03"].paths) == ("edit", ("src/slug.py", "old.py"))
    assert [e.action for e in of(events_of(EXPORT), ToolCall)] == [
        "run", "read", "plan", "delegate", "edit", "run", "run", "edit",
    ]  # fmt: skip


def test_results() -> None:
    ends = [(e.outcome, e.exit_code, e.reason, e.duration_ms) for e in of(events_of(EXPORT), ToolResult)]
    assert ends == [
        ("failed", 1, "", 300),
        ("ok", None, "", 100),
        ("ok", None, "", 10),
        ("ok", None, "", 100),
        ("ok", None, "", 50),
        ("ok", 0, "", 50),
        ("rejected", None, "use make clean", 100),
        ("interrupted", None, "", 100),
    ]
    assert of(events_of(EXPORT), ToolResult)[4].paths == ("src/slug.py",)


def test_usage_is_counted_once_a_response() -> None:
    usage = of(events_of(EXPORT), Usage)
    assert [(e.response_id, e.input, e.output, e.cache_read, e.cache_write) for e in usage] == [
        ("msg_02", 100, 28, 50, 5),
        ("msg_03", 10, 7, 200, 0),
        ("msg_07", 400, 16, 0, 0),
    ]
    assert (usage[0].reasoning, usage[0].context) == (8, 155)


def test_models_plans_subagents_compactions_interruptions() -> None:
    events = events_of(EXPORT)
    assert [(e.previous, e.model) for e in of(events, ModelChange)] == [("model-a", "model-b")]
    assert of(events, PlanUpdate)[0].items == (
        PlanItem(text="fix", status="in_progress"), PlanItem(text="test", status="pending"),
    )  # fmt: skip
    (task,) = of(events, SubagentStart)
    assert (task.child_id, task.name, task.prompt) == ("ses_0fffffffffeBBBBBBBBBBBBBBB", "explore", "Find the callers.")
    whole, micro = of(events, Compaction)
    assert (whole.trigger, whole.summary, whole.micro) == ("auto", "Goal: slugs.", False)
    assert (micro.micro, micro.at) == (True, T + 60000)
    (stop,) = of(events, Interruption)
    assert (stop.during_tool, stop.reason) == (True, "")


def test_the_place_of_an_event_is_its_row() -> None:
    rows = [row for m in DOCUMENT["messages"] for row in (m["info"], *m["parts"])]
    for event in of(events_of(EXPORT), ToolCall):
        assert rows[event.line - 1]["callID"] == event.call_id
        assert event.offset == event.line


# --- the other containers ------------------------------------------------------------------------------------------


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


# --- rules ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (tool(metadata={"exit": 0}), ("ok", 0, "")),
        (tool(metadata={"exit": 2}), ("failed", 2, "")),
        (tool(metadata={}), ("unknown", None, "")),
        (
            tool(metadata={"exit": None}, output="x\n<shell_metadata>\nUser aborted the command"),
            ("interrupted", None, ""),
        ),
        (tool(output="shell tool terminated command after exceeding timeout 9 ms"), ("timeout", None, "")),
        (tool(metadata={"exit": 0}, output="exceeding timeout"), ("ok", 0, "")),
        (tool("invalid", metadata={}), ("failed", None, "")),
        (tool("mcp_thing", metadata={"exit": "odd", "files": 7}), ("ok", None, "")),
        (tool("read", metadata=[]), ("ok", None, "")),
        (
            tool(status="error", error="The user rejected permission to use this specific tool call."),
            ("rejected", None, ""),
        ),
        (
            tool(
                status="error", error="The user rejected permission to use it with the following feedback: no: ask me"
            ),
            ("rejected", None, "no: ask me"),
        ),
        (tool(status="error", error="The user has specified a rule which prevents you"), ("rejected", None, "")),
        (tool("question", status="error", error="The user dismissed this question"), ("rejected", None, "")),
        (tool(status="error", error="Tool execution aborted"), ("interrupted", None, "")),
        (tool("read", status="error", error="File not found"), ("failed", None, "")),
        (tool("webfetch", status="error", error="Request timed out after 30 s"), ("timeout", None, "")),
    ],
)
def test_how_a_call_ended(tmp_path: Path, part: dict[str, Any], expected: tuple[Any, ...]) -> None:
    (end,) = of(export(tmp_path, answer(part)), ToolResult)
    assert (end.outcome, end.exit_code, end.reason) == expected


def test_a_call_without_an_end(tmp_path: Path) -> None:
    live = {"created": T}
    running, pending = tool(status="running", time={"start": T}), tool(status="pending")
    assert [e.outcome for e in of(export(tmp_path, answer(running, time=live)), ToolResult)] == ["running"]
    assert of(export(tmp_path, answer(pending, time=live)), ToolResult) == []
    assert [e.outcome for e in of(export(tmp_path, answer(running)), ToolResult)] == ["interrupted"]


@pytest.mark.parametrize(
    ("patch", "action", "paths"),
    [
        ("*** Add File: a\n+x", "write", ("a",)),
        ("*** Delete File: a", "delete", ("a",)),
        ("*** Update File: a\n*** Move to: b\n*** Add File: c", "edit", ("a", "c", "b")),
        (7, "edit", ()),
    ],
)
def test_patches(tmp_path: Path, patch: Any, action: str, paths: tuple[str, ...]) -> None:
    (made,) = of(export(tmp_path, answer(tool("apply_patch", input={"patchText": patch}))), ToolCall)
    assert (made.action, made.paths) == (action, paths)


def test_several_steps_in_one_message_are_several_responses(tmp_path: Path) -> None:
    steps = [{"id": f"prt_{n}", "type": "step-finish", "tokens": {"input": n, "output": 1}} for n in (1, 2)]
    events = export(tmp_path, answer(*steps, tokens={"input": 2, "output": 1}))
    assert [(e.response_id, e.input) for e in of(events, Usage)] == [("msg_9", 1), ("prt_2", 2)]


@pytest.mark.parametrize(("total", "output"), [(15, 5), (19, 9), (None, 5)])
def test_reasoning_is_part_of_the_output(tmp_path: Path, total: int | None, output: int) -> None:
    tokens = {"input": 10, "output": 5, "reasoning": 4, "total": total}
    (usage,) = of(export(tmp_path, answer(tokens=tokens)), Usage)
    assert (usage.output, usage.reasoning) == (output, 4)


def test_a_request_that_never_came_back_is_no_response(tmp_path: Path) -> None:
    failed = answer(error={"name": "APIError", "data": {"message": "429"}}, modelID="other", tokens={"input": 0})
    events = export(tmp_path, asked("x"), answer({"type": "text", "text": "hi"}), failed)
    assert of(events, Usage) == []
    assert of(events, ModelChange) == []
    assert [e.reason for e in of(events, Interruption)] == ["error: APIError 429"]


def test_a_compaction_that_failed_is_none(tmp_path: Path) -> None:
    request = {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "compaction", "auto": False}]}
    failed = answer(summary=True, error={"name": "MessageAbortedError"})
    events = export(tmp_path, request, failed)
    assert of(events, Compaction) == []
    assert events[-1].ignored == {"user/compaction": 1}  # type: ignore[union-attr]
    (done,) = of(export(tmp_path, request, answer({"type": "text", "text": "sum"}, summary=True)), Compaction)
    assert (done.trigger, done.summary) == ("manual", "sum")


def test_a_command_that_runs_as_a_subagent_is_no_request(tmp_path: Path) -> None:
    part = {
        "type": "subtask",
        "prompt": "You are a reviewer.",
        "description": "review",
        "agent": "x",
        "command": "review",
    }
    (said,) = of(export(tmp_path, {"info": {"id": "msg_1", "role": "user"}, "parts": [part]}), UserMessage)
    assert (said.origin, said.text) == ("command", "/review")


@pytest.mark.parametrize(
    ("revert", "inactive"),
    [
        ({"messageID": "msg_2"}, {"second", "two"}),
        ({"messageID": "msg_1b", "partID": "prt_b"}, {"b", "second", "two"}),
        ({"messageID": ""}, set()),
        (None, set()),
    ],
)
def test_what_was_reverted_is_inactive(tmp_path: Path, revert: Any, inactive: set[str]) -> None:
    parts = [{"id": f"prt_{name}", "type": "text", "text": name} for name in ("a", "b")]
    messages = [asked("first"), answer(*parts, identifier="msg_1b"), asked("second", "msg_2"),
                answer({"type": "text", "text": "two"}, identifier="msg_3")]  # fmt: skip
    events = export(tmp_path, *messages, revert=revert)
    said = of(events, UserMessage) + of(events, AssistantMessage)
    assert {e.text for e in said if not e.active} == inactive


def test_a_redacted_parent_still_makes_a_child(tmp_path: Path) -> None:
    start, *rest = export(tmp_path, asked("look"), parentID="REDACTED")
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == ("", "subagent")
    assert [e.origin for e in of(rest, UserMessage)] == ["subagent"]


def test_unknown_kinds_are_counted(tmp_path: Path) -> None:
    inline = {"info": asked("x")["info"] | {"parts": [{"type": "text"}]}, "parts": []}
    robot = {"info": {"id": "msg_2", "role": "robot"}, "parts": [{"type": "text", "text": "x"}]}
    events = export(tmp_path, inline, robot, answer({"type": "hologram"}, {"type": "tool"}))
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("message with inline parts", "unknown_type"), ("message/robot", "unknown_type"), ("part/text", "bad_shape"),
        ("part/hologram", "unknown_type"), ("part/tool", "bad_shape"),
    ]  # fmt: skip


# --- damage --------------------------------------------------------------------------------------------------------


def test_an_export_cut_off_keeps_what_was_whole(tmp_path: Path) -> None:
    data = EXPORT.read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(data[: data.index(b'"msg_03"') + 200])
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert events[0].session_id == SESSION
    assert [e.call_id for e in of(events, ToolCall)] == ["call_04", "call_05"]
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"slug helpers.", b"slug \\ud83d.", "Fix the slug \ufffd."),
        (b"slug helpers.", b"slug \xff.", "Fix the slug \ufffd."),
        (b"slug helpers.", "slug\u2028\u0085.".encode(), "Fix the slug\u2028\u0085."),
    ],
    ids=["surrogate", "utf8", "u2028"],
)
def test_broken_text_is_mended(tmp_path: Path, old: bytes, new: bytes, said: str) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(b"\xef\xbb\xbf" + EXPORT.read_bytes().replace(old, new) + b"\x00\x00\n")
    events = events_of(path)
    assert of(events, UserMessage)[0].text == said
    assert len(of(events, ToolCall)) == 8
    assert not of(events, Unknown)


def test_deep_nesting_and_other_documents(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for data in (b"[" * 200_000, b"{}", b"", b"null", b'{"info":' * 50_000, b'{"messages":[[[[]]]]}', b'{"info":{}}'):
        path.write_bytes(data)
        events = events_of(path)
        assert isinstance(events[0], SessionStart)
        assert isinstance(events[-1], SessionEnd)


def test_a_clock_that_runs_backwards_keeps_the_order_of_an_export(tmp_path: Path) -> None:
    earlier = asked("two", "msg_2")
    earlier["info"]["time"]["created"] = T - 10**6
    assert [e.text for e in of(export(tmp_path, asked("one"), earlier), UserMessage)] == ["one", "two"]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        events_of(tmp_path / "gone.json")


@pytest.mark.parametrize(
    "head",
    [
        b"", b"{}", b'{"info": {"model_stats": {}, "exit_status": "x"}, "messages": []}', b'{"type":"session","id":"x"}',
        b'{"id":"msg_01abc","type":"message","role":"assistant","content":[]}', b"SQLite format 3\x00" + b"\x00" * 100,
    ],
)  # fmt: skip
def test_other_formats_are_not_opencode(head: bytes) -> None:
    assert not recognise(head, "some.json")


FIXED = EXPORT.read_bytes()


@settings(max_examples=100, deadline=None)
@given(
    cut=st.integers(0, len(FIXED)), at=st.integers(0, len(FIXED)), size=st.integers(0, 60), noise=st.binary(max_size=60)
)
def test_no_bytes_make_it_fail(
    tmp_path_factory: pytest.TempPathFactory, cut: int, at: int, size: int, noise: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "export.json"
    path.write_bytes((FIXED[:at] + noise + FIXED[at + size :])[: max(cut, 1)])
    recognise(path.read_bytes(), path.name)
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_no_value_in_any_field_makes_it_fail(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    document = copy.deepcopy(DOCUMENT)
    for _ in range(data.draw(st.integers(1, 3))):
        node: Any = document
        for _ in range(data.draw(st.integers(1, 7))):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(node[key], (dict, list)) or not node[key]:
                break
            node, parent = node[key], node
        else:
            node = parent
        node[key] = data.draw(JSON)
    path = tmp_path_factory.mktemp("fuzz") / "export.json"
    path.write_text(json.dumps(document))
    events = events_of(path)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)
