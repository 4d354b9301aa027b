"""Copilot CLI's sessions: each rule of the format in a small case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.copilot.plans import Todos, checklist
from passdown.agents.copilot.sessions import find, read, recognise, refer
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

STORE = Path(__file__).resolve().parent.parent / "fixtures" / "copilot" / "store"
FIRST = STORE / "session-state" / "aaaa1111-0000-4000-8000-000000000001" / "events.jsonl"
SECOND = STORE / "session-state" / "aaaa1111-0000-4000-8000-000000000002.jsonl"


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="copilot", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def session(folder: Path, *rows: dict[str, Any]) -> list[AnyEvent]:
    """Write events after a `session.start`, and read them."""
    start = {"type": "session.start", "data": {"sessionId": "s-1", "copilotVersion": "1.0.70", "context": {}}}
    path = folder / "events.jsonl"
    path.write_text("".join(json.dumps({"id": "x", "parentId": None} | row) + "\n" for row in (start, *rows)))
    return events_of(path)


def call(tool: str, arguments: Any, call_id: str = "c") -> dict[str, Any]:
    return {"type": "tool.execution_start", "data": {"toolCallId": call_id, "toolName": tool, "arguments": arguments}}


def done(text: Any = "", **more: Any) -> dict[str, Any]:
    return {
        "type": "tool.execution_complete",
        "data": {"toolCallId": "c", "success": True, "result": {"content": text}} | more,
    }


def test_the_header_is_the_first_event_and_the_size_the_last() -> None:
    events = events_of(FIRST)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.agent_version) == ("aaaa1111-0000-4000-8000-000000000001", "1.0.70")
    assert (start.cwd, start.branch, start.commit) == ("/home/dev/slug", "main", "1" * 40)
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (30, FIRST.stat().st_size)
    assert end.ignored["hook.start"] == 1
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    said = [(e.origin, e.agent_id, e.text) for e in of(events_of(FIRST), UserMessage)]
    assert said == [
        ("human", "", "Fix the slug helpers."),
        ("injected", "", "<system_reminder>Tools are deferred.</system_reminder>"),
        ("human", "", "Go on."),
        ("subagent", "c6", "Check the helpers."),
    ]


@pytest.mark.parametrize(
    ("more", "origin"),
    [
        ({}, "human"),
        ({"source": "user"}, "human"),
        ({"source": "skill-pdf"}, "injected"),
        ({"source": "agent-1"}, "subagent"),
        ({"isAutopilotContinuation": True}, "injected"),
        ({"parentAgentTaskId": "t", "delivery": "queued"}, "human"),
    ],
)
def test_the_source_tells_who_wrote_it(tmp_path: Path, more: dict[str, Any], origin: str) -> None:
    events = session(tmp_path, {"type": "user.message", "data": {"content": "go", "attachments": []} | more})
    assert [e.origin for e in of(events, UserMessage)] == [origin]


def test_images_are_counted(tmp_path: Path) -> None:
    attached = [{"type": "file", "mimeType": "image/png"}, {"type": "image"}, {"type": "file", "path": "a.py"}]
    events = session(tmp_path, {"type": "user.message", "data": {"content": "look", "attachments": attached}})
    assert [e.images for e in of(events, UserMessage)] == [2]


def test_calls_and_their_results() -> None:
    events = events_of(FIRST)
    calls = {e.call_id: e for e in of(events, ToolCall)}
    results = {e.call_id: (e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)}
    assert [(e.tool, e.action) for e in calls.values()] == [
        ("view", "read"), ("bash", "run"), ("sql", "other"), ("edit", "edit"), ("bash", "run"), ("task", "delegate"),
    ]  # fmt: skip
    assert (calls["c1"].paths, calls["c2"].command) == (("src/slug.py",), "pytest -q")
    assert results["c2"] == ("failed", 1, "")
    assert results["c5"] == ("rejected", None, "keep the build")
    assert next(e.paths for e in of(events, ToolResult) if e.call_id == "c4") == ("src/slug.py",)


@pytest.mark.parametrize(
    ("tool", "data", "expected"),
    [
        ("bash", done("ok\n<exited with exit code 0>"), ("ok", 0)),
        ("bash", done("no\n<command with id: 3 completed with exit code 2>"), ("failed", 2)),
        ("powershell", done("no\n<shellId: a completed with exit code -1>\n"), ("failed", -1)),
        ("bash", done("cut", toolTelemetry={"metrics": {"exit_code": 1.0}}), ("failed", 1)),
        ("bash", done("cut", shellExecution={"exitCode": 127}), ("failed", 127)),
        ("bash", done("no word of its end"), ("unknown", None)),
        ("bash", done("<command started in detached background with shellId: x>"), ("running", None)),
        ("stop_bash", done("<command with id: 22 stopped>"), ("ok", None)),
        ("view", done("<exited with exit code 1>"), ("ok", None)),
        ("grep", done(success=False, error={"message": "bad regex", "code": "failure"}), ("failed", None)),
        ("grep", done(success=False, error="bad regex"), ("failed", None)),
        ("bash", done(success=False, error={"message": "denied by rules", "code": "denied"}), ("failed", None)),
        ("bash", done(success=False, error={"message": "x", "code": "aborted"}), ("interrupted", None)),
        ("bash", done(success=False, error={"message": "x", "code": "timeout"}), ("timeout", None)),
        ("view", done([{"type": "text", "text": "blocks"}]), ("ok", None)),
    ],
)
def test_how_a_call_ended(tmp_path: Path, tool: str, data: dict[str, Any], expected: tuple[str, int | None]) -> None:
    [result] = of(session(tmp_path, call(tool, {"command": "make"}), data), ToolResult)
    assert (result.outcome, result.exit_code) == expected


def test_a_refusal_keeps_the_persons_words(tmp_path: Path) -> None:
    error = {"message": "The user rejected this tool call. User feedback: use make instead", "code": "rejected"}
    [result] = of(session(tmp_path, call("bash", {"command": "x"}), done(success=False, error=error)), ToolResult)
    assert (result.outcome, result.reason) == ("rejected", "use make instead")


def test_a_shell_left_running_is_followed() -> None:
    events = events_of(SECOND)
    results = [(e.call_id, e.outcome, e.exit_code) for e in of(events, ToolResult)]
    assert results == [
        ("d1", "running", None), ("d2", "failed", 2), ("d3", "running", None), ("d3", "failed", 3), ("d4", "ok", 0),
    ]  # fmt: skip
    assert next(e.command for e in of(events, ToolCall) if e.call_id == "d2") == ""


def test_usage_is_counted_once_a_response() -> None:
    first, second = summarize(events_of(FIRST)), summarize(events_of(SECOND))
    assert (first.responses, first.tokens_output, first.tokens_input) == (7, 100, 700)
    assert (second.responses, second.tokens_input, second.tokens_cache_read) == (1, 5000, 6000)
    usage = of(events_of(SECOND), Usage)[0]
    assert (usage.context, usage.window, usage.cache_write, usage.reasoning) == (12000, 64000, 1000, 4)


def test_a_chunked_answer_is_one_response(tmp_path: Path) -> None:
    data = {"messageId": "m", "apiCallId": "a", "content": "part", "outputTokens": 5, "toolRequests": []}
    events = session(tmp_path, *({"type": "assistant.message", "data": data | {"chunkIndex": n}} for n in range(3)))
    assert len(of(events, Usage)) == 1
    assert len(of(events, AssistantMessage)) == 3


def test_models_places_and_interruptions() -> None:
    events = events_of(FIRST)
    assert [(e.previous, e.model) for e in of(events, ModelChange)] == [("gpt-4.1", "claude-sonnet-4.6")]
    assert [(e.branch, e.commit) for e in of(events, WorkspaceChange)] == [("fix-slug", "2" * 40)]
    assert [(e.during_tool, e.reason) for e in of(events, Interruption)] == [(False, "")]


def test_a_subagents_events_carry_its_id() -> None:
    events = events_of(FIRST)
    [child] = of(events, SubagentStart)
    assert (child.child_id, child.name, child.prompt, child.agent_id) == ("c6", "car", "Check the helpers.", "")
    assert [e.text for e in of(events, AssistantMessage) if e.agent_id == "c6"] == ["All good."]
    assert summarize(events).human_messages == 2


def test_compactions(tmp_path: Path) -> None:
    [compaction] = of(events_of(FIRST), Compaction)
    assert (compaction.summary, compaction.tokens_before) == ("<overview>Helpers fixed.</overview>", 160095)
    rows = [
        {"type": "session.compaction_complete", "data": {"success": False, "error": "no"}},
        {"type": "session.truncation", "data": {"preTruncationTokensInMessages": 9}},
        {"type": "session.compaction_complete", "data": {"success": True, "trigger": "manual"}},
    ]
    assert [(e.trigger, e.opaque) for e in of(session(tmp_path, *rows), Compaction)] == [
        ("auto", True), ("manual", True),
    ]  # fmt: skip


def test_a_persons_own_command(tmp_path: Path) -> None:
    asked = {"toolCallId": "c", "toolName": "bash", "arguments": {"command": "git status"}}
    rows = [{"type": "tool.user_requested", "data": asked}, done("clean\n<exited with exit code 0>")]
    events = session(tmp_path, *rows)
    assert [(e.origin, e.text) for e in of(events, UserMessage)] == [("shell", "git status")]
    assert [(e.command, e.action) for e in of(events, ToolCall)] == [("git status", "run")]


def test_rarer_events(tmp_path: Path) -> None:
    rows = [
        {"type": "session.title_changed", "data": {"title": "Slugs"}},
        {"type": "session.error", "data": {"message": "429"}},
        {"type": "exit_plan_mode.requested", "data": {"planContent": "1. Trim"}},
        {"type": "session.task_complete", "data": {"summary": "All done."}},
        {"type": "assistant.reasoning", "data": {"content": "Hm."}},
        {"type": "assistant.message", "data": {"content": "Yes.", "reasoningText": "Hm."}},
        {"type": "skill.invoked", "data": {"name": "pdf", "content": "How to."}},
        {"type": "session.never_seen", "data": {}},
    ]
    events = session(tmp_path, *rows)
    assert [e.title for e in of(events, Title)] == ["Slugs"]
    assert [e.reason for e in of(events, Interruption)] == ["error: 429"]
    assert [e.text for e in of(events, PlanUpdate)] == ["1. Trim"]
    assert [e.text for e in of(events, AssistantMessage)] == ["All done.", "Hm.", "Yes."]
    assert [(e.origin, e.text) for e in of(events, UserMessage)] == [("injected", "How to.")]
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [("session.never_seen", "unknown_type")]


def test_the_todo_list_in_sql() -> None:
    [update] = of(events_of(FIRST), PlanUpdate)
    assert update.items == (PlanItem(text="Lower-case it's text", status="in_progress"), PlanItem(text="Trim"))
    todos = Todos()
    assert todos.run("SELECT id FROM todos") is None
    assert todos.run("INSERT INTO todos VALUES ('a', 'One; two', 'why (so)', 'pending')") == (
        PlanItem(text="One; two"),
    )
    assert todos.run("UPDATE todos SET status = 'done' WHERE id IN ('a', 'b')") == (
        PlanItem(text="One; two", status="completed"),
    )
    assert todos.run("UPDATE todos SET status = 'done' WHERE title LIKE '%x%'") is None
    assert todos.run("DELETE FROM todos WHERE status = 'done'") == ()
    assert todos.run("INSERT INTO other (id) VALUES ('a')") is None


@pytest.mark.parametrize("statement", ["INSERT INTO todos (" + "'" * 20_001, "UPDATE todos SET x " + " \t" * 10_000,
                                       "INSERT INTO todos VALUES (" + "''" * 9_000])  # fmt: skip
def test_no_statement_takes_long(statement: str) -> None:
    assert Todos().run(statement) is None


def test_the_older_checklist() -> None:
    assert checklist("# Plan\n- [x] One\n* [ ] Two\n- [~] Three\n") == (
        PlanItem(text="One", status="completed"), PlanItem(text="Two"), PlanItem(text="Three", status="in_progress"),
    )  # fmt: skip


def test_find_reads_both_layouts_and_no_links(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(STORE, home)
    (home / "session-state" / "link.jsonl").symlink_to(SECOND)
    (home / "session-state" / "no.jsonl").write_text("no session\n")
    refs = {ref.session_id: ref for ref in find(home)}
    first = refs["aaaa1111-0000-4000-8000-000000000001"]
    assert len(refs) == 2
    assert (first.title, first.branch, first.commit) == ("Fix the slug helpers", "fix-slug", "2" * 40)
    assert (first.cwd, first.remote) == ("/home/dev/slug", "https://github.com/dev/slug")
    assert (first.started_at, first.bytes) == (1772359200000, FIRST.stat().st_size)
    assert list(find(tmp_path / "nowhere")) == []
    assert refer(home / "session-state" / "no.jsonl") is None


def test_recognise_goes_by_content() -> None:
    assert recognise(FIRST.read_bytes(), "x")
    assert not recognise(b'{"type":"user","message":{}}\n', "events.jsonl")
    assert not recognise(b'{"type":"session.start","data":[],"parentId":null}\n', "events.jsonl")
    assert not recognise(b"", "events.jsonl")
