"""ATIF: by the book, and what calls itself so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    ModelChange,
    PlanUpdate,
    SessionEnd,
    SessionStart,
    SubagentStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)

Told = Callable[..., list[AnyEvent]]


def of(kind: type[Any], events: list[AnyEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_by_the_book(told: Told) -> None:
    events = told("atif/run.json")
    [start] = of(SessionStart, events)
    assert (start.session_id, start.agent, start.originator, start.agent_version) == (
        "run-7",
        "atif",
        "harbourmaster",
        "3.1",
    )
    assert start.cwd == "/srv/ledger"
    users = of(UserMessage, events)
    assert [(u.text, u.origin, u.copied) for u in users] == [
        ("An older request that was taken along.", "human", True),
        ("Round the totals to two places.", "human", False),
        ("Here are the answers the other agent provided.", "injected", False),
        ("find all callers", "subagent", False),
    ]
    assert users[1].images == 1
    calls = {call.call_id: call for call in of(ToolCall, events)}
    assert calls["c1"].action == "run"
    assert calls["c1"].command == "pytest -q"
    assert (calls["c2"].action, calls["c2"].paths) == ("read", ("/srv/ledger/totals.py",))
    results = {result.call_id: (result.outcome, result.exit_code) for result in of(ToolResult, events)}
    assert results == {
        "c1": ("failed", 1), "c2": ("ok", None), "c3": ("ok", None), "c4": ("ok", None), "c5": ("timeout", None)
    }  # fmt: skip
    assert [said.text for said in of(AssistantMessage, events) if said.reasoning] == ["totals.py is the likely place"]
    assert [(item.text, item.status) for item in of(PlanUpdate, events)[0].items] == [
        ("round", "in_progress"), ("test", "pending")
    ]  # fmt: skip
    assert [(change.previous, change.model) for change in of(ModelChange, events)] == [("m-large", "m-small")]


def test_tokens_are_counted_once_and_cached_ones_are_no_fresh_input(told: Told) -> None:
    first, second, child = of(Usage, told("atif/run.json"))
    assert (first.input, first.cache_read, first.cache_write, first.output, first.reasoning) == (150, 1000, 50, 80, 20)
    assert (second.input, second.context) == (1500, 1500)
    assert child.agent_id == "child-1"


def test_before_1_2_prompt_tokens_hold_no_cached_ones(written: Told) -> None:
    step = {"step_id": 1, "source": "agent", "message": "x",
            "metrics": {"prompt_tokens": 10, "cached_tokens": 90, "completion_tokens": 1}}  # fmt: skip
    for version, fresh in (("ATIF-v1.1", 10), ("ATIF-v1.2", 0)):
        [usage] = of(Usage, written({"schema_version": version, "agent": {}, "steps": [step]}))
        assert usage.input == fresh, version


def test_subagents_and_summaries(told: Told) -> None:
    events = told("atif/run.json")
    [child] = of(SubagentStart, events)
    assert (child.child_id, child.name, child.call_id) == ("child-1", "searcher", "c4")
    assert [e.text for e in of(AssistantMessage, events) if e.agent_id == "child-1"] == ["two callers"]
    [compaction] = of(Compaction, events)
    assert compaction.opaque
    end = of(SessionEnd, events)[-1]
    assert (end.records, end.ignored) == (10, {"system": 1, "continued_trajectory_ref": 1})


def test_a_result_before_its_call_stands_behind_it(told: Told) -> None:
    events = told("atif/wild.json")
    places = [type(e).__name__ for e in events if getattr(e, "call_id", "") == "w1"]
    assert places == ["ToolCall", "ToolResult"]
    [result] = [e for e in of(ToolResult, events) if e.call_id == "w1"]
    assert result.outcome == "failed"
    [call] = [e for e in of(ToolCall, events) if e.call_id == "w1"]
    assert (call.tool, call.action, call.paths) == ("Write", "write", ("/app/a.txt",))


def test_a_result_whose_call_never_comes_is_told_in_the_end(written: Told) -> None:
    steps = [{"source": "system", "message": "Tool result for z9",
              "observation": {"type": "tool_result", "content": "lost", "result": {"success": True}}}]  # fmt: skip
    events = written({"schema_version": "ATIF-v1.4", "steps": steps})
    assert [(e.call_id, e.outcome, e.text) for e in of(ToolResult, events)] == [("z9", "ok", "lost")]


def test_checks_and_calls_in_text(told: Told) -> None:
    calls = of(ToolCall, told("atif/wild.json"))
    assert [call.command for call in calls] == ["", "bun test", "cat a.txt", "ls"]
    outcomes = [result.outcome for result in of(ToolResult, told("atif/wild.json"))]
    assert outcomes == ["failed", "failed", "unknown", "ok"]
    said = [message.text for message in of(AssistantMessage, told("atif/wild.json"))]
    assert "It is there.\nLook at it." in said


def test_what_the_harness_answers_without_a_call_is_nobodys_request(told: Told) -> None:
    [put_in] = [e for e in of(UserMessage, told("atif/wild.json")) if e.origin != "human"]
    assert (put_in.origin, put_in.text) == ("injected", "Previous response had parsing errors")


def test_a_step_of_nobody_is_counted(written: Told) -> None:
    steps: list[Any] = [{"source": "oracle", "message": "?"}, 7, {"source": "user", "message": "Go."}]
    events = written({"schema_version": "ATIF-v1.7", "steps": steps})
    assert [(e.record, e.reason) for e in of(Unknown, events)] == [("oracle", "unknown_type"), ("", "bad_shape")]
    assert of(SessionEnd, events)[-1].records == 3


def test_a_redacted_source_is_an_agents_where_only_an_agent_has_such_fields(written: Told) -> None:
    steps = [{"source": "<redacted>", "message": "hm", "model_name": "m"}]
    events = written({"schema_version": "ATIF-v1.7", "steps": steps})
    assert [e.text for e in of(AssistantMessage, events)] == ["hm"]


def test_a_summarising_subagent_names_its_parent(written: Told) -> None:
    agent = {"name": "t", "version": "2", "extra": {"parent_session_id": "run-1"}}
    [start] = of(SessionStart, written({"schema_version": "ATIF-v1.5", "agent": agent, "steps": []}))
    assert (start.parent_id, start.parent_kind) == ("run-1", "subagent")
