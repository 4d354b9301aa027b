"""SWE-agent and mini-swe-agent: whose words, which call, how it ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Interruption,
    SessionStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    WorkspaceChange,
)

Told = Callable[..., list[AnyEvent]]


def of(kind: type[Any], events: list[AnyEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_swe_agent_before_1_0(told: Told) -> None:
    events = told("swe_agent/thought.traj")
    request, template = of(UserMessage, events)
    assert (request.text, request.origin) == ("The clock is off by one.\nIt shows 13 for 12.", "human")
    assert template.origin == "injected"
    assert "{{task}}" in template.text
    calls = of(ToolCall, events)
    assert [(call.tool, call.action) for call in calls] == [
        ("find_file", "search"), ("open", "read"), ("edit", "edit"), ("edit", "edit"), ("bash", "run"),
        ("submit", "other"),
    ]  # fmt: skip
    assert calls[1].paths == ("clock.py",)
    assert calls[2].paths == ("/repo/clock.py",)
    assert (calls[4].command, calls[4].cwd) == ("python clock.py", "/repo")
    results = of(ToolResult, events)
    assert [result.outcome for result in results] == ["ok", "ok", "failed", "ok", "unknown", "ok"]
    assert results[4].text == "Traceback (most recent call last):\nValueError: 13"
    assert results[5].text.strip().startswith("diff --git")


def test_swe_agent_since_1_0(told: Told) -> None:
    events = told("swe_agent/tools.traj")
    [start] = of(SessionStart, events)
    assert (start.session_id, start.agent_version, start.commit) == ("ledger__ledger-3", "1.1.0", "a" * 40)
    assert [e.text for e in of(UserMessage, events) if e.origin == "human"] == ["Totals are wrong."]
    results = of(ToolResult, events)
    assert [(r.call_id, r.outcome, r.duration_ms) for r in results] == [
        ("t0", "unknown", 250), ("t1", "failed", 500), ("t2", "timeout", 30000)
    ]  # fmt: skip
    assert [e.reason for e in of(Interruption, events)] == ["error: exit_cost"]
    assert {e.model for e in of(AssistantMessage, events)} == {"m-large"}


def test_a_folder_changes_with_the_steps(written: Told) -> None:
    history = [{"role": "user", "content": "Go.", "agent": "main", "message_type": "observation"}]
    trajectory = []
    for number, folder in enumerate(("/a", "/b", "/b")):
        history.append({"role": "assistant", "content": "x", "thought": "x", "action": "ls", "agent": "main"})
        history.append({"role": "user", "content": str(number), "agent": "main"})
        trajectory.append({"action": "ls", "observation": "", "state": {"working_dir": folder}})
    events = written({"history": history, "trajectory": trajectory})
    assert [call.cwd for call in of(ToolCall, events)] == ["/a", "/a", "/b"]
    assert [change.cwd for change in of(WorkspaceChange, events)] == ["/b"]


def test_steps_without_a_history(written: Told) -> None:
    steps = [{"action": "ls", "observation": "a.txt", "thought": "Look.", "state": '{"working_dir": "/w"}'}]
    events = written({"trajectory": steps, "info": {}})
    assert [e.command for e in of(ToolCall, events)] == ["ls"]
    assert [e.text for e in of(ToolResult, events)] == ["a.txt"]


def test_mini_swe_agent_second_format(told: Told) -> None:
    events = told("mini_swe_agent/second.traj.json")
    [start] = of(SessionStart, events)
    assert (start.session_id, start.agent_version, start.cwd) == ("parser__parser-12", "2.4.6", "/testbed")
    assert next((e.text, e.origin) for e in of(UserMessage, events)) == ("The parser drops the last row.", "human")
    assert [e.origin for e in of(UserMessage, events)[1:]] == ["injected", "injected"]
    assert [(r.outcome, r.exit_code) for r in of(ToolResult, events)] == [
        ("failed", 1), ("ok", 0), ("timeout", None), ("ok", 0)
    ]  # fmt: skip
    assert of(ToolResult, events)[0].text == "1 failed"
    assert [u.response_id for u in of(Usage, events)] == ["resp-1", "resp-2", "resp-3", "resp-4"]
    assert (of(Usage, events)[0].input, of(Usage, events)[0].cache_read) == (80, 20)
    assert of(ToolCall, events)[0].at == 1772359200000
    assert not of(Interruption, events)


def test_mini_swe_agent_first_format(told: Told) -> None:
    events = told("mini_swe_agent/first.traj.json")
    assert [call.command for call in of(ToolCall, events)] == ["cat hello.txt", "sleep 500"]
    assert [r.outcome for r in of(ToolResult, events)] == ["failed", "timeout"]
    assert [e.reason for e in of(Interruption, events)] == ["error: LimitsExceeded"]
    assert [e.text for e in of(UserMessage, events) if e.origin == "human"] == ["Say hello."]


def test_mini_swe_agent_responses_and_bare(told: Told) -> None:
    events = told("mini_swe_agent/responses.traj.json")
    assert [(e.text, e.reasoning) for e in of(AssistantMessage, events)] == [
        ("Files first.", True),
        ("I list them.", False),
    ]
    [usage] = of(Usage, events)
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == (40, 10, 9, 4)
    assert [(r.call_id, r.exit_code, r.text) for r in of(ToolResult, events)] == [("f1", 0, "a.txt")]
    bare = told("mini_swe_agent/bare.traj.json")
    assert [r.outcome for r in of(ToolResult, bare)] == ["ok", "ok"]
    assert of(SessionStart, bare)[0].agent == "mini_swe_agent"


def test_two_blocks_are_no_call(written: Told) -> None:
    block = "```bash\nls\n```"
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": f"{block}\n{block}"},
                {"role": "user", "content": "Please always provide EXACTLY ONE action."}]  # fmt: skip
    events = written({"info": {"mini_version": "1.0"}, "messages": messages})
    assert not of(ToolCall, events)
    assert [e.origin for e in of(UserMessage, events)] == ["human", "injected"]
