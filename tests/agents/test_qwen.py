"""Qwen Code's sessions: each rule of the format in a small case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.qwen.sessions import find, read, recognise
from passdown.model.session import (
    AnyEvent,
    Compaction,
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

STORE = Path(__file__).resolve().parent.parent / "fixtures" / "qwen" / "store"
CHATS = STORE / "projects" / "-home-dev-slug" / "chats"
FIRST = CHATS / "cccc3333-0000-4000-8000-000000000001.jsonl"
FORK = CHATS / "cccc3333-0000-4000-8000-000000000002.jsonl"


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="qwen", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def session(folder: Path, *rows: dict[str, Any]) -> list[AnyEvent]:
    """Write the rows as one chain, and read them."""
    lines = []
    for number, row in enumerate(rows):
        link = {"uuid": f"r{number}", "parentUuid": f"r{number - 1}" if number else None, "sessionId": "s-1"}
        lines.append(json.dumps({**link, "timestamp": "2026-03-01T12:00:00.000Z", "cwd": "/w", **row}) + "\n")
    path = folder / "session.jsonl"
    path.write_text("".join(lines))
    return events_of(path)


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "parts": [{"text": text}]}} | more


def answer(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "model": "m", "message": {"role": "model", "parts": list(parts)}} | more


def shell(response: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    wanted = answer({"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "make"}}})
    parts = [{"functionResponse": {"id": "c", "name": "run_shell_command", "response": response}}]
    told = {"callId": "c", "status": "success"} | more
    return [wanted, {"type": "tool_result", "message": {"role": "user", "parts": parts}, "toolCallResult": told}]


def test_the_first_and_the_last_event() -> None:
    events = events_of(FIRST)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.agent_version) == ("cccc3333-0000-4000-8000-000000000001", "0.24.4")
    assert (start.cwd, start.branch) == ("/home/dev/slug", "main")
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (16, FIRST.stat().st_size)
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    said = [(e.origin, e.text, e.active) for e in of(events_of(FIRST), UserMessage)]
    assert said == [
        ("human", "Fix the slug helpers.", True),
        ("hook", "From a hook.", True),
        ("human", "A wrong turn.", False),
        ("human", "And the docs.", True),
        ("injected", "<task-notification>done</task-notification>", True),
        ("command", "/compress", True),
    ]


@pytest.mark.parametrize(
    ("more", "origin"),
    [
        ({}, "human"),
        ({"provenance": "real_user"}, "human"),
        ({"provenance": "goal_control"}, "injected"),
        ({"provenance": "system"}, "injected"),
        ({"subtype": "cron"}, "injected"),
        ({"subtype": "agent_launch_prompt"}, "subagent"),
        ({"isSidechain": True, "agentId": "explore-1"}, "subagent"),
    ],
)
def test_provenance_tells_who_wrote_it(tmp_path: Path, more: dict[str, Any], origin: str) -> None:
    assert [e.origin for e in of(session(tmp_path, user("go", **more)), UserMessage)] == [origin]


def test_what_a_rewind_left_behind_is_inactive() -> None:
    off = [type(event).__name__ for event in events_of(FIRST) if not event.active]
    assert off == ["UserMessage", "AssistantMessage", "Usage"]


def test_a_parent_that_is_missing_does_not_hide_the_history(tmp_path: Path) -> None:
    rewind = {"type": "system", "subtype": "rewind", "systemPayload": {}, "parentUuid": "r0"}
    events = session(tmp_path, user("one"), user("two"), rewind, user("three", parentUuid="lost"))
    assert [(e.text, e.active) for e in of(events, UserMessage)] == [("one", True), ("two", False), ("three", True)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (shell({"output": "x\nExit Code: 0"}), ("ok", 0)),
        (shell({"error": "x\nError: (none)\nExit Code: 2\nSignal: (none)"}, status="error"), ("failed", 2)),
        (shell({"output": "x"}, resultDisplay={"type": "shell_result", "exitCode": 3}), ("failed", 3)),
        (shell({"output": "x"}, resultDisplay={"type": "shell_result", "exitCode": 0}), ("ok", 0)),
        (shell({"error": "Path must be absolute"}, status="error"), ("failed", None)),
        (shell({"error": "[Operation Cancelled] Reason: User did not allow tool call"}, status="cancelled"),
         ("rejected", None)),
        (shell({"error": "[Operation Cancelled] Reason: x"}, status="cancelled"), ("interrupted", None)),
    ],
)  # fmt: skip
def test_how_a_call_ended(tmp_path: Path, rows: list[dict[str, Any]], expected: tuple[str, int | None]) -> None:
    events = session(tmp_path, *rows)
    assert [e.command for e in of(events, ToolCall)] == ["make"]
    assert [(e.outcome, e.exit_code) for e in of(events, ToolResult)] == [expected]


@pytest.mark.parametrize(
    ("tokens", "output"),
    [
        ({"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 4, "totalTokenCount": 110}, 10),
        ({"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 4, "totalTokenCount": 114}, 14),
    ],
)
def test_thoughts_are_part_of_the_output(tmp_path: Path, tokens: dict[str, int], output: int) -> None:
    [usage] = of(session(tmp_path, answer({"text": "x"}, usageMetadata=tokens, contextWindowSize=9)), Usage)
    assert (usage.output, usage.reasoning, usage.context, usage.window) == (output, 4, 100, 9)


def test_a_record_written_twice_is_one_response(tmp_path: Path) -> None:
    tokens = {"promptTokenCount": 1, "candidatesTokenCount": 1}
    row = answer({"text": "x"}, usageMetadata=tokens, uuid="same")
    assert len(of(session(tmp_path, row, row, answer({"text": "y"}, usageMetadata={})), Usage)) == 1


def test_models_places_plans_titles_and_compactions() -> None:
    events = events_of(FIRST)
    assert [(e.previous, e.model) for e in of(events, ModelChange)] == [("coder", "coder-plus")]
    assert [(e.cwd, e.branch) for e in of(events, WorkspaceChange)] == [("/home/dev/slug/docs", "docs")]
    assert [e.items for e in of(events, PlanUpdate)] == [(PlanItem(text="Trim", status="in_progress"),)]
    assert [e.title for e in of(events, Title)] == ["Slug helpers"]
    [compaction] = of(events, Compaction)
    assert (compaction.tokens_before, compaction.tokens_after) == (9000, 900)
    assert compaction.summary.startswith("<state_snapshot>")


def test_a_branched_session_has_copied_history() -> None:
    events = events_of(FORK)
    start, summary = events[0], summarize(events)
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == ("cccc3333-0000-4000-8000-000000000001", "fork")
    assert (summary.human_messages, summary.responses, summary.tool_calls) == (1, 0, 0)
    assert summary.copied == 7


def test_a_session_that_another_one_spawned(tmp_path: Path) -> None:
    parent = {"type": "system", "subtype": "parent_session", "systemPayload": {"parentSessionId": "p-1"}}
    start = session(tmp_path, parent, user("go"))[0]
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == ("p-1", "subagent")


def test_delegations_and_unknown_records(tmp_path: Path) -> None:
    wanted = {"functionCall": {"id": "c", "name": "task", "args": {"subagent_type": "Explore", "prompt": "Look."}}}
    events = session(tmp_path, answer(wanted), {"type": "system", "subtype": "never_seen"}, {"type": "odd"})
    assert [(e.name, e.prompt) for e in of(events, SubagentStart)] == [("Explore", "Look.")]
    assert [e.record for e in of(events, Unknown)] == ["system/never_seen", "odd"]


def test_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    shutil.copytree(STORE, home)
    (home / "projects" / "-home-dev-slug" / "chats" / "link.jsonl").symlink_to(FIRST)
    refs = {ref.session_id: ref for ref in find(home)}
    assert len(refs) == 2
    first = refs["cccc3333-0000-4000-8000-000000000001"]
    assert (first.cwd, first.branch, first.title) == ("/home/dev/slug", "docs", "Slug helpers")
    assert refs["cccc3333-0000-4000-8000-000000000002"].parent_kind == "fork"
    monkeypatch.setenv("QWEN_RUNTIME_DIR", str(tmp_path / "elsewhere"))
    assert list(find(home)) == []


def test_recognise_goes_by_content() -> None:
    assert recognise(FIRST.read_bytes(), "x")
    claude = {"uuid": "a", "parentUuid": None, "sessionId": "s", "type": "user", "message": {"content": "hi"}}
    assert not recognise(json.dumps(claude).encode() + b"\n", "x.jsonl")
    boundary = {"uuid": "a", "parentUuid": None, "sessionId": "s", "type": "system", "subtype": "compact_boundary"}
    assert not recognise(json.dumps(boundary).encode() + b"\n", "x.jsonl")
