"""Claude Code's subagents: in rows of the log, in progress rows, in files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from claude_code_log import FIXTURE, OTHER, OWN, REJECTED, Log, events_of, of

from passdown.model.session import SessionStart, SubagentStart, ToolCall, ToolResult, Usage, UserMessage
from passdown.sessions.summary import summarize


def test_subagents_between_the_main_agents_rows(log: Log, tmp_path: Path) -> None:
    log.call("Task", "toolu_a", {"subagent_type": "x", "prompt": "Do A."})
    log.call("Task", "toolu_b", {"prompt": "Do B."})
    a = log.prompt("Do A.", isSidechain=True, parentUuid=None)
    b = log.prompt("Do B.", isSidechain=True, parentUuid=None)
    log.call("Bash", "t1", {"command": "ls"}, "msg_a", isSidechain=True, parentUuid=a)
    log.say("B.", "msg_b", isSidechain=True, parentUuid=b)
    log.result("t1", "x", isSidechain=True, parentUuid=f"00000000-0000-4000-8000-{5:012d}")
    log.result("toolu_a", "done")
    events = log.events(tmp_path)
    assert [(event.child_id, event.call_id, event.name) for event in of(events, SubagentStart)] == [
        ("toolu_a", "toolu_a", "x"), ("toolu_b", "toolu_b", ""),
    ]  # fmt: skip
    assert [event.agent_id for event in of(events, ToolCall)] == ["", "", "toolu_a"]
    assert [event.agent_id for event in of(events, ToolResult)] == ["toolu_a", ""]
    assert {event.origin for event in of(events, UserMessage)} == {"subagent"}
    assert sorted(event.agent_id for event in of(events, Usage)) == ["", "toolu_a", "toolu_b"]


def progress(log: Log, agent: str, call_id: str, inner: dict[str, Any]) -> None:
    data = {"message": inner, "type": "agent_progress", "prompt": "Do A.", "agentId": agent}
    log.add("progress", data=data, parentToolUseID=call_id)


def delegated(log: Log) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    block = {"type": "tool_use", "id": "t1", "name": "Grep", "input": {"path": "/x"}}
    log.call("Agent", "toolu_a", {"prompt": "Do A."})
    progress(log, "a1", "toolu_a", {"type": "user", "message": {"content": [{"type": "text", "text": "Do A."}]}})
    for _ in range(2):
        body = {"id": "msg_a", "model": "claude-haiku-4-5", "content": [block], "usage": usage}
        progress(log, "a1", "toolu_a", {"type": "assistant", "requestId": "r", "message": body})
    log.result("toolu_a", "done", toolUseResult={"agentId": "a1", "status": "completed", "totalDurationMs": 12})


def test_subagents_in_progress_rows(log: Log, tmp_path: Path) -> None:
    delegated(log)
    events = log.events(tmp_path)
    assert [event.child_id for event in of(events, SubagentStart)] == ["a1"]
    assert [(event.agent_id, event.tool) for event in of(events, ToolCall)] == [
        ("", "Agent"),
        ("a1", "Grep"),
        ("a1", "Grep"),
    ]
    assert sorted(event.response_id for event in of(events, Usage)) == ["msg_1", "msg_a"]
    assert of(events, ToolResult)[0].duration_ms == 12


def test_a_file_beside_wins_over_progress_rows(log: Log, tmp_path: Path) -> None:
    delegated(log)
    folder = tmp_path / OWN / "subagents"
    folder.mkdir(parents=True)
    inner = Log()
    inner.prompt("Do A.", isSidechain=True, agentId="a1")
    inner.say("A.", "msg_z", isSidechain=True, agentId="a1")
    (folder / "agent-a1.jsonl").write_bytes(inner.bytes())
    (folder / "agent-acompact-1.jsonl").write_bytes(inner.bytes())
    (folder / "agent-a2.jsonl").symlink_to(folder / "agent-a1.jsonl")
    events = log.events(tmp_path)
    assert sorted(event.response_id for event in of(events, Usage)) == ["msg_1", "msg_z"]
    assert [event.text for event in of(events, UserMessage)] == ["Do A."]
    assert events[-1].ignored["progress/agent_progress"] == 3  # type: ignore[union-attr]


def test_subagents_files_beside_the_log(log: Log, tmp_path: Path) -> None:
    log.call("Task", "toolu_a", {"prompt": "Do A."})
    log.result("toolu_a", "done", toolUseResult={"agentId": "a1"})
    for agent, session in (("a1", OWN), ("a2", OTHER)):
        inner = Log()
        inner.say("A.", f"msg_{agent}", isSidechain=True, agentId=agent, sessionId=session)
        (tmp_path / f"agent-{agent}.jsonl").write_bytes(inner.bytes())
    assert sorted(event.response_id for event in of(log.events(tmp_path), Usage)) == ["msg_1", "msg_a1"]


def test_a_subagents_own_file_names_its_parent() -> None:
    events = events_of(FIXTURE.parent / OWN / "subagents" / "agent-a0c0ffee.jsonl")
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.parent_id, start.parent_kind) == ("a0c0ffee", OWN, "subagent")
    assert summarize(events).human_messages == 0


def test_a_refused_subagent_never_began(log: Log, tmp_path: Path) -> None:
    log.call("Task", "toolu_a", {"prompt": "Do A."})
    log.result("toolu_a", REJECTED, error=True)
    log.call("Task", "toolu_b", {"prompt": "Do B."})
    assert [event.call_id for event in of(log.events(tmp_path), SubagentStart)] == ["toolu_b"]
