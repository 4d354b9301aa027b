"""Gemini CLI's sessions: each rule of the format in a small case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.gemini.sessions import find, read, recognise, refer
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
)
from passdown.sessions.summary import summarize

STORE = Path(__file__).resolve().parent.parent / "fixtures" / "gemini" / "store"
LOG = STORE / "tmp" / "slug" / "chats" / "session-2026-03-01T11-00-bbbb2222.jsonl"
CHILD = LOG.parent / "bbbb2222-0000-4000-8000-000000000001" / "bbbb2222-0000-4000-8000-000000000009.jsonl"
[DOCUMENT] = STORE.glob("tmp/*/chats/*.json")
HEAD = {"sessionId": "s-1", "projectHash": "0", "startTime": "2026-03-01T11:00:00.000Z", "kind": "main"}


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="gemini", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def session(folder: Path, *rows: dict[str, Any]) -> list[AnyEvent]:
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (HEAD, *rows)))
    return events_of(path)


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"id": "u", "timestamp": "2026-03-01T11:00:01.000Z", "type": "user", "content": content} | more


def answer(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "a",
        "timestamp": "2026-03-01T11:00:02.000Z",
        "type": "gemini",
        "content": "",
        "toolCalls": calls,
    } | more


def called(name: str, status: str = "success", **response: Any) -> dict[str, Any]:
    result = [{"functionResponse": {"id": "c", "name": name, "response": response}}]
    return {"id": "c", "name": name, "args": {"command": "make"}, "status": status, "result": result}


def test_the_header_is_the_first_event_and_the_size_the_last() -> None:
    events = events_of(LOG)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd, start.at) == (
        "bbbb2222-0000-4000-8000-000000000001", "/home/dev/slug", 1772362800000,
    )  # fmt: skip
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (21, LOG.stat().st_size)
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    said = [(e.origin, e.text.strip()[:40]) for e in of(events_of(LOG), UserMessage)]
    assert said == [
        ("injected", "This is the Gemini CLI. Today is a day."),
        ("hook", "From a hook."),
        ("human", "Fix @src/slug.py"),
        ("injected", "--- Content from referenced files ---\nde"),
        ("human", "A wrong turn."),
        ("human", "Push it."),
        ("command", "/memory show"),
        ("injected", "<state_snapshot>Helpers are fixed.</stat"),
        ("human", "And now?"),
    ]


@pytest.mark.parametrize(
    ("content", "origins"),
    [
        ("Fix it.", ["human"]),
        ([{"text": "Fix it."}], ["human"]),
        (["Fix it."], ["human"]),
        ({"text": "Fix it."}, ["human"]),
        ("/chat save x", ["command"]),
        ("/home/dev/a.py is broken", ["human"]),
        ("?", ["command"]),
        ("<session_context>\nToday", ["injected"]),
        ("I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:", ["shell"]),
        ("<hook_context>only a hook</hook_context>", ["hook"]),
        ([{"inlineData": {"mimeType": "image/png", "data": ""}}], ["human"]),
        ("", []),
        ([{"functionResponse": {"id": "x", "name": "y", "response": {}}}], []),
    ],
)
def test_the_text_tells_who_wrote_it(tmp_path: Path, content: Any, origins: list[str]) -> None:
    assert [e.origin for e in of(session(tmp_path, user(content)), UserMessage)] == origins


def test_a_message_written_twice_counts_once() -> None:
    events = events_of(LOG)
    assert [e.call_id for e in of(events, ToolCall)] == ["k1", "k2", "k4", "k3"]
    assert [e.call_id for e in of(events, ToolResult)] == ["k1", "k2", "k4", "k3"]
    assert [e.response_id for e in of(events, Usage)] == ["a1", "a2", "a3", "a4", "a5"]
    assert len([e for e in of(events, AssistantMessage) if e.response_id == "a1"]) == 2


def test_tokens() -> None:
    usage = of(events_of(LOG), Usage)[0]
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning, usage.context) == (60, 40, 7, 2, 100)


def test_a_call_that_has_not_ended_has_no_result(tmp_path: Path) -> None:
    running = answer(called("run_shell_command", "executing"))
    assert of(session(tmp_path, running), ToolResult) == []
    ended = session(tmp_path, running, answer(called("run_shell_command", output="x\nExit Code: 0")))
    assert [(e.outcome, e.exit_code) for e in of(ended, ToolResult)] == [("ok", 0)]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (called("run_shell_command", output="Output: x\nExit Code: 2\nProcess Group PGID: 1"), ("failed", 2)),
        (called("run_shell_command", output="Output: x\nProcess Group PGID: 1"), ("ok", 0)),
        (called("run_shell_command", output="<untrusted_context>\nOutput: (empty)\n</untrusted_context>"), ("ok", 0)),
        (called("run_shell_command", output="Output: a\nExit Code: 1\nmore\nProcess Group PGID: 1"), ("ok", 0)),
        (called("run_shell_command", output="Output: x\nSignal: 9\nProcess Group PGID: 1"), ("failed", None)),
        (called("run_shell_command", output="A summary of what was printed."), ("ok", None)),
        (called("run_shell_command", output="Exit Code: 9\n" + "x" * 3000 + "\nExit Code: 0\n"), ("ok", 0)),
        (called("read_file", output="Exit Code: 1"), ("ok", None)),
        (called("run_shell_command", "cancelled", error="[Operation Cancelled] Reason: x"), ("interrupted", None)),
        (called("run_shell_command", "cancelled", error="User denied execution."), ("rejected", None)),
        (called("run_shell_command", "error", error="Command timed out after 60s"), ("timeout", None)),
        (called("run_shell_command", output="Command moved to background (PID: 7)"), ("running", None)),
        (called("list_directory", "error", error="Path not in workspace"), ("failed", None)),
    ],
)
def test_how_a_call_ended(tmp_path: Path, call: dict[str, Any], expected: tuple[str, int | None]) -> None:
    [result] = of(session(tmp_path, answer(call)), ToolResult)
    assert (result.outcome, result.exit_code) == expected


def test_calls_inside_the_content(tmp_path: Path) -> None:
    wanted = {"functionCall": {"id": "c", "name": "read_file", "args": {"file_path": "a.py"}}}
    given = {"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "text"}}}
    events = session(tmp_path, answer(content=[{"text": "I look."}, wanted]), user([given]))
    assert [(e.action, e.paths) for e in of(events, ToolCall)] == [("read", ("a.py",))]
    assert [(e.outcome, e.text) for e in of(events, ToolResult)] == [("ok", "text")]


def test_what_was_rewound_is_inactive() -> None:
    off = [event for event in events_of(LOG) if not event.active]
    assert [(type(e).__name__, getattr(e, "text", "")) for e in off] == [
        ("UserMessage", "A wrong turn."), ("AssistantMessage", "Turning wrong."), ("Usage", ""),
    ]  # fmt: skip


def test_a_rewind_to_nothing_takes_everything_back(tmp_path: Path) -> None:
    events = session(tmp_path, user("one"), {"$rewindTo": "gone"}, user("two") | {"id": "v"})
    assert [(e.text, e.active) for e in of(events, UserMessage)] == [("one", False), ("two", True)]


def test_a_new_history_is_a_compaction(tmp_path: Path) -> None:
    [compaction] = of(events_of(LOG), Compaction)
    assert compaction.summary == "<state_snapshot>Helpers are fixed.</state_snapshot>"
    kept = session(tmp_path, user("one"), {"$set": {"messages": [user("one"), user("put in") | {"id": "v"}]}})
    assert of(kept, Compaction) == []
    assert [(e.origin, e.text) for e in of(kept, UserMessage)] == [("human", "one"), ("injected", "put in")]


def test_models_plans_titles_and_interruptions() -> None:
    events = events_of(LOG)
    assert [e.model for e in of(events, ModelChange)] == ["gemini-2.5-flash", "gemini-2.5-pro"]
    assert [e.title for e in of(events, Title)] == ["Fix the slug helpers"]
    assert [e.during_tool for e in of(events, Interruption)] == [True]
    assert [e.items for e in of(events, PlanUpdate)] == [
        (PlanItem(text="Lower-case", status="completed"), PlanItem(text="Trim", status="in_progress"))
    ]


def test_an_error_is_an_interruption_and_a_subagent_has_an_id(tmp_path: Path) -> None:
    broken = {"id": "e", "timestamp": "", "type": "error", "content": "429"}
    delegated = {"id": "c", "name": "anything", "args": {"prompt": "Look."}, "status": "success", "agentId": "child-1"}
    events = session(tmp_path, answer(delegated), broken, {"id": "z", "type": "odd"})
    assert [e.reason for e in of(events, Interruption)] == ["error: 429"]
    assert [(e.child_id, e.prompt) for e in of(events, SubagentStart)] == [("child-1", "Look.")]
    assert [e.record for e in of(events, Unknown)] == ["odd"]


def test_a_subagents_log_names_its_parent() -> None:
    events = events_of(CHILD)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == ("bbbb2222-0000-4000-8000-000000000001", "subagent")
    assert summarize(events).human_messages == 0


def test_the_older_document() -> None:
    events = events_of(DOCUMENT)
    summary, end = summarize(events), events[-1]
    assert (summary.human_messages, summary.tool_calls, summary.responses) == (1, 1, 1)
    assert (summary.title, summary.cwds) == ("A guide", ("/home/dev/other",))
    assert isinstance(end, SessionEnd)
    assert end.bytes == DOCUMENT.stat().st_size
    [said] = of(events, UserMessage)
    assert DOCUMENT.read_bytes()[said.offset :].startswith(b'{\n      "id": "u1"')


def test_a_document_that_is_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    data = DOCUMENT.read_bytes()
    path = tmp_path / "session.json"
    path.write_bytes(data[: data.index(b'"thoughts"')])
    events = events_of(path)
    assert [e.text for e in of(events, UserMessage)] == ["Add a guide."]
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]


def test_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home" / ".gemini"
    shutil.copytree(STORE, home)
    chats = home / "tmp" / "slug" / "chats"
    (chats / "session-old.json").write_text(DOCUMENT.read_text())
    (chats / "session-old.jsonl").write_text(json.dumps(HEAD) + "\n")  # the document was carried on as a log
    (chats / "session-link.jsonl").symlink_to(LOG)
    refs = {ref.session_id: ref for ref in find(home)}
    assert sorted(refs) == sorted({
        "s-1", "bbbb2222-0000-4000-8000-000000000001", "bbbb2222-0000-4000-8000-000000000002",
        "bbbb2222-0000-4000-8000-000000000009",
    })  # fmt: skip
    main = refs["bbbb2222-0000-4000-8000-000000000001"]
    assert (main.cwd, main.title, main.started_at) == ("/home/dev/slug", "Fix the slug helpers", 1772362800000)
    assert refs["bbbb2222-0000-4000-8000-000000000009"].parent_kind == "subagent"
    assert refs["bbbb2222-0000-4000-8000-000000000002"].cwd == "/home/dev/other"

    from passdown.agents.table import AGENTS, home_of

    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    assert home_of(next(row for row in AGENTS if row.id == "gemini")) == home


def test_recognise_goes_by_content() -> None:
    for path in (LOG, DOCUMENT, CHILD):
        assert recognise(path.read_bytes(), "x")
    assert not recognise(b'{"method":"generateContentStream","response":[]}\n', "session-x.jsonl")
    assert not recognise(b'{"messages": [], "model": "x"}', "session-x.json")
    assert refer(STORE / "projects.json") is None
