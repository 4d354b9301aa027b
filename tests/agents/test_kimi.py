"""Kimi's sessions: each rule of Kimi Code's records and of Kimi CLI's wire and contexts in a small case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.kimi.sessions import find, read, recognise, refer
from passdown.agents.table import AGENTS, home_of
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
from passdown.sessions.read import recognise as recognise_file
from passdown.sessions.summary import summarize

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "kimi"
CODE = FIXTURES / "code"
SESSIONS = CODE / "sessions" / "wd_slug_0123456789ab"
MAIN = SESSIONS / "session_aaaa1111-0000-4000-8000-000000000001" / "agents" / "main" / "wire.jsonl"
CHILD = MAIN.parent.parent / "agent-0" / "wire.jsonl"
FORK = SESSIONS / "session_bbbb2222-0000-4000-8000-000000000002" / "agents" / "main" / "wire.jsonl"
CLI = FIXTURES / "cli"
[WIRE] = CLI.rglob("wire.jsonl")
[CONTEXT] = CLI.rglob("context.jsonl")


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="kimi", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def rows(folder: Path, *records: dict[str, Any]) -> list[AnyEvent]:
    """Write records of Kimi Code, and read them."""
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps({"time": 1785600000000} | record) + "\n" for record in records))
    return events_of(path)


def step(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"type": kind, **fields}}


def test_where_and_when_a_session_begins() -> None:
    events = events_of(MAIN)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd) == ("session_aaaa1111-0000-4000-8000-000000000001", "/home/dev/slug")
    assert start.at == 1785600000000
    assert [e.title for e in of(events, Title)] == ["Slug helpers"]
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (43, MAIN.stat().st_size)
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    said = [(e.origin, e.text.split("\n")[0]) for e in of(events_of(MAIN), UserMessage)]
    assert said == [
        ("human", "Fix the slug helpers."), ("injected", "<system-reminder>"), ("command", "carefully"),
        ("shell", "ls"), ("injected", "slug.py"), ("human", "And truncate."), ("queued", "stop, wrong file"),
    ]  # fmt: skip


def test_a_steer_that_gets_to_the_model_is_a_request(tmp_path: Path) -> None:
    text = [{"type": "text", "text": "no, the other"}]
    user = {"role": "user", "content": text, "origin": {"kind": "user"}}
    steer = {"type": "turn.steer", "input": text, "origin": {"kind": "user"}}
    events = rows(tmp_path, steer, {"type": "context.append_message", "message": user})
    assert [(e.origin, e.text) for e in of(events, UserMessage)] == [("human", "no, the other")]


def test_how_calls_ended() -> None:
    events = events_of(MAIN)
    ended = [(e.call_id, e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)]
    assert ended == [
        ("Bash_0", "failed", 1, ""), ("TodoList_1", "ok", None, ""), ("Bash_2", "rejected", None, "not yet"),
        ("Bash_3", "running", None, ""), ("Bash_4", "timeout", None, ""), ("Edit_5", "ok", None, ""),
        ("Agent_6", "ok", None, ""), ("Bash_3", "failed", 2, ""),
    ]  # fmt: skip
    first = of(events, ToolCall)[0]
    assert (first.action, first.command, first.cwd) == ("run", "pytest -q", "/home/dev/slug")
    assert [e.paths for e in of(events, ToolCall) if e.action == "edit"] == [("/home/dev/slug/slug.py",)]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"output": "fine"}, ("ok", 0)),
        ({"output": [{"type": "text", "text": "x\nCommand failed with exit code: 127."}], "isError": True}, ("failed", 127)),
        ({"output": "x", "isError": True, "message": "Command failed with exit code: 3."}, ("failed", 3)),
        ({"output": "Interrupted by user", "isError": True}, ("interrupted", None)),
        ({"output": "Aborted before command started", "isError": True}, ("interrupted", None)),
        ({"output": "Command cannot be empty.", "isError": True}, ("failed", None)),
        ("text", ("ok", 0)),
    ],
)  # fmt: skip
def test_how_a_command_ended(tmp_path: Path, result: Any, expected: tuple[str, int | None]) -> None:
    call = step("tool.call", toolCallId="c", name="Bash", args={"command": "make"})
    [end] = of(rows(tmp_path, call, step("tool.result", toolCallId="c", result=result)), ToolResult)
    assert (end.outcome, end.exit_code) == expected


def test_tokens_are_counted_once() -> None:
    spent = [(e.response_id, e.input, e.output, e.cache_read, e.cache_write) for e in of(events_of(MAIN), Usage)]
    assert spent == [("s1", 900, 40, 100, 0), ("s2", 50, 20, 1000, 5), ("line-31", 10, 200, 900, 0)]


def test_a_step_may_be_told_after_its_record(tmp_path: Path) -> None:
    usage = {"inputOther": 5, "output": 6, "inputCacheRead": 7, "inputCacheCreation": 8}
    record = {"type": "usage.record", "model": "m", "usage": usage}
    end = step("step.end", uuid="s", usage=usage)
    assert len(of(rows(tmp_path, step("step.begin", uuid="s"), record, end), Usage)) == 1
    assert len(of(rows(tmp_path, end, record, step("step.begin", uuid="t"), end, record), Usage)) == 2


def test_plans_models_and_compactions() -> None:
    events = events_of(MAIN)
    [plan] = of(events, PlanUpdate)
    assert plan.items == (PlanItem(text="Fix slugify", status="in_progress"), PlanItem(text="Fix truncate"))
    [compaction] = of(events, Compaction)
    assert (compaction.trigger, compaction.tokens_before, compaction.tokens_after) == ("manual", 1200, 300)
    assert compaction.summary == "slugify is done; truncate is left."
    [change] = of(events, ModelChange)
    assert (change.previous, change.model) == ("moonshot-ai/kimi-k2.7-code", "moonshot-ai/kimi-k3")
    [stop] = of(events, Interruption)
    assert not stop.during_tool


def test_a_plan_that_is_approved(tmp_path: Path) -> None:
    call = step(
        "tool.call", toolCallId="c", name="ExitPlanMode", args={}, display={"kind": "plan_review", "plan": "1. x"}
    )
    events = rows(tmp_path, call, step("tool.result", toolCallId="c", result={"output": "ok"}))
    assert [e.text for e in of(events, PlanUpdate)] == ["1. x"]


def test_a_subagent_has_a_log_of_its_own() -> None:
    [begun] = of(events_of(MAIN), SubagentStart)
    assert (begun.name, begun.call_id, begun.prompt) == ("explore", "Agent_6", "Where is slugify used?")
    events = events_of(CHILD)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == ("session_aaaa1111-0000-4000-8000-000000000001", "subagent")
    assert [e.origin for e in of(events, UserMessage)] == ["subagent"]


def test_what_was_undone_and_what_came_with_a_fork() -> None:
    events = events_of(FORK)
    said = [(e.text, e.active, e.copied) for e in of(events, UserMessage)]
    assert said == [
        ("Fix the slug helpers.", True, True), ("Try it with regex.", False, False),
        ("Try it without regex.", True, False),
    ]  # fmt: skip
    assert [(e.text, e.active) for e in of(events, AssistantMessage)] == [("With regex.", False), ("Without.", True)]
    assert summarize(events).rewound == 2


def test_kinds_that_are_not_known(tmp_path: Path) -> None:
    events = rows(tmp_path, {"type": "turn.v9"}, step("step.middle"), {"type": "llm.request"}, {"x": 1})
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("turn.v9", "unknown_type"), ("context.append_loop_event", "unknown_type"), ("", "bad_shape"),
    ]  # fmt: skip


def test_the_wire_of_kimi_cli() -> None:
    events = events_of(WIRE)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.cwd, start.at) == ("/home/dev/slug", 1760000001500)
    assert [(e.origin, e.text, e.images) for e in of(events, UserMessage)] == [
        ("human", "Fix the slug helpers.", 0), ("subagent", "Look around.", 0), ("command", "keep the plan", 0),
        ("human", "Go on.", 1),
    ]  # fmt: skip
    assert [(e.call_id, e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)] == [
        ("t1", "ok", None, ""), ("t2", "failed", 1, ""), ("t3", "ok", None, ""), ("t4", "rejected", None, "later"),
        ("t5", "ok", None, ""),
    ]  # fmt: skip
    assert [e.command for e in of(events, ToolCall) if e.action == "run"] == ["pytest -q", "git push"]
    assert [(e.response_id, e.input, e.window) for e in of(events, Usage)] == [("msg-1", 500, 262144)]
    assert [(e.child_id, e.name, e.prompt) for e in of(events, SubagentStart)] == [("t5", "coder", "Look around.")]
    assert [e.agent_id for e in of(events, AssistantMessage)] == ["", "", "t5"]
    assert [(e.items, e.text) for e in of(events, PlanUpdate)] == [
        ((PlanItem(text="truncate", status="completed"),), ""), ((), "1. cut to n-1"),
    ]  # fmt: skip
    assert [e.opaque for e in of(events, Compaction)] == [True]
    assert len(of(events, Interruption)) == 1
    assert not of(events, Unknown)


def test_a_context_of_kimi_cli() -> None:
    events = events_of(CONTEXT)
    assert [e.origin for e in of(events, UserMessage)] == ["injected", "human"]
    [result] = of(events, ToolResult)
    assert (result.outcome, result.exit_code) == ("failed", 2)
    assert not of(events, Unknown)


def test_find(tmp_path: Path, isolated_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in AGENTS if row.id == "kimi")
    for name in ("KIMI_CODE_HOME", "KIMI_SHARE_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert home_of(row) == isolated_home / ".kimi"
    code = isolated_home / ".kimi-code"
    shutil.copytree(CODE, code)
    assert home_of(row) == code
    found = {ref.session_id: ref for ref in find(code)}
    main = "session_aaaa1111-0000-4000-8000-000000000001"
    assert sorted(found) == [f"agent-0.{main}", main, "session_bbbb2222-0000-4000-8000-000000000002"]
    assert (found[main].cwd, found[main].title, found[main].parent_kind) == ("/home/dev/slug", "Slug helpers", "")
    assert found[f"agent-0.{main}"].parent_id == main
    older = tmp_path / "older"
    shutil.copytree(CLI, older)
    assert {ref.session_id: ref.cwd for ref in find(older)} == {
        "cccc3333-0000-4000-8000-000000000003": "/home/dev/slug",
        "dddd4444-0000-4000-8000-000000000004": "/home/dev/slug",
    }
    [context] = older.rglob("context.jsonl")
    (context.with_name("wire.jsonl")).write_bytes(WIRE.read_bytes())
    assert refer(context) is None


@pytest.mark.parametrize("path", [MAIN, CHILD, FORK, WIRE, CONTEXT], ids=lambda path: path.parent.name)
def test_content_decides(path: Path, tmp_path: Path) -> None:
    assert recognise(path.read_bytes(), "x")
    renamed = tmp_path / "renamed.jsonl"
    renamed.write_bytes(path.read_bytes())
    assert recognise_file(renamed).id == "kimi"


def test_an_undo_may_reach_behind_an_earlier_one(tmp_path: Path) -> None:
    def sent(text: str) -> dict[str, Any]:
        return {
            "type": "context.append_message",
            "message": {"role": "user", "content": text, "origin": {"kind": "user"}},
        }

    undo = {"type": "context.undo", "count": 1}
    events = rows(tmp_path, sent("a"), sent("b"), sent("c"), undo, undo, sent("d"), {**undo, "count": 9}, sent("e"))
    assert [(e.text, e.active) for e in of(events, UserMessage)] == [
        ("a", False), ("b", False), ("c", False), ("d", False), ("e", True),
    ]  # fmt: skip
