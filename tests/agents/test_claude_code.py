"""Claude Code's sessions as a whole: discovery, responses, plans, compactions, titles, places."""

from __future__ import annotations

import shutil
from pathlib import Path

from claude_code_log import FIXTURE, FIXTURES, OTHER, OWN, Log, events_of, of

from passdown.agents.claude_code.records import milliseconds
from passdown.agents.claude_code.sessions import find, recognise
from passdown.model.session import (
    AssistantMessage,
    Compaction,
    ModelChange,
    PlanItem,
    PlanUpdate,
    SessionEnd,
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

# --- the fixture as a whole ------------------------------------------------------------------------------------------


def test_a_whole_session() -> None:
    events = events_of(FIXTURE)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd, start.branch) == (OWN, "/home/dev/slug", "main")
    assert isinstance(end, SessionEnd)
    assert end.ignored == {"file-history-snapshot": 1}
    summary = summarize(events)
    assert (summary.human_messages, summary.tool_calls, summary.failures) == (1, 5, 1)
    assert (summary.responses, summary.tokens_output, summary.tokens_cache_read) == (7, 144, 14000)
    assert (summary.subagents, summary.title) == (1, "Fix the slug tests")
    assert of(events, UserMessage)[0].text == "The tests fail. Fix src/slug.py."
    assert of(events, SubagentStart)[0].child_id == "a0c0ffee"
    inner = [event for event in events if event.agent_id == "a0c0ffee"]
    assert [type(event) for event in inner] == [UserMessage, ToolCall, ToolResult, Usage, AssistantMessage, Usage]
    assert inner[0].origin == "subagent"


def test_a_web_session() -> None:
    events = events_of(FIXTURES / "web.json")
    data = (FIXTURES / "web.json").read_bytes()
    call = of(events, ToolCall)[0]
    assert data[call.offset :].startswith(b"{")
    assert b"toolu_w" in data[call.offset : call.offset + 400]
    assert [event.outcome for event in of(events, ToolResult)] == ["ok"]
    assert events[-1].records == 3  # type: ignore[union-attr]
    assert recognise(data, "web.json")


def test_discovery(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(FIXTURES / "home", home)
    folder = home / "projects" / "-home-dev-slug"
    (folder / "agent-a1.jsonl").write_bytes((folder / OWN / "subagents" / "agent-a0c0ffee.jsonl").read_bytes())
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "notes.jsonl").write_bytes(b'{"type":"summary","summary":"Old work","leafUuid":"x"}\n')
    (folder / "link.jsonl").symlink_to(folder / f"{OWN}.jsonl")
    (home / "projects" / "away").symlink_to(folder)
    [ref] = find(home)
    assert (ref.session_id, ref.cwd, ref.branch, ref.title) == (OWN, "/home/dev/slug", "main", "Fix the slug tests")
    assert ref.bytes == (folder / f"{OWN}.jsonl").stat().st_size
    assert ref.started_at == milliseconds("2026-03-01T10:00:01Z")
    assert ref.modified_at == (folder / f"{OWN}.jsonl").stat().st_mtime_ns // 1_000_000
    assert list(find(tmp_path / "nowhere")) == []


def test_recognition_goes_by_content() -> None:
    assert recognise(FIXTURE.read_bytes(), "whatever.txt")
    assert recognise(b'\xef\xbb\xbf{"type":"user","message":{"role":"user","content":"hi"}}\n', "x")
    assert not recognise(b'{"uuid":"1","parentUuid":null,"type":"user","message":{"role":"user","parts":[]}}\n', "x")
    assert not recognise(b'{"type":"message","id":"1","message":{"role":"user","content":"hi"}}\n', "x")
    assert not recognise(b"", "x.jsonl")


# --- responses and tokens --------------------------------------------------------------------------------------------


def test_a_response_is_counted_once_by_its_fullest_row(log: Log, tmp_path: Path) -> None:
    log.prompt("Go.")
    log.say("one", output=1)
    log.call("Read", "t1", {"file_path": "/a"}, output=40)
    log.result("t1", "text")
    log.call("Read", "t2", {"file_path": "/b"}, output=40)
    log.result("t2", "text")
    log.say("two", "msg_2", output=7)
    log.say("again", "msg_1", output=40)
    usages = of(log.events(tmp_path), Usage)
    assert [(usage.response_id, usage.output, usage.context) for usage in usages] == [
        ("msg_1", 40, 113), ("msg_2", 7, 113),
    ]  # fmt: skip
    assert usages[0].line == 3


def test_an_error_row_is_no_response(log: Log, tmp_path: Path) -> None:
    log.prompt("Go.")
    log.say("API Error: 429", "x", model="<synthetic>", isApiErrorMessage=True)
    events = log.events(tmp_path)
    assert of(events, Usage) == []
    assert of(events, AssistantMessage) == []
    assert events[-1].ignored == {"assistant/synthetic": 1}  # type: ignore[union-attr]


def test_text_thinking_and_model_changes(log: Log, tmp_path: Path) -> None:
    log.block({"type": "thinking", "thinking": "Hm."})
    log.say("\n\n")
    log.say("Yes.", "msg_2", model="claude-sonnet-4-5")
    events = log.events(tmp_path)
    assert [(event.text, event.reasoning) for event in of(events, AssistantMessage)] == [("Hm.", True), ("Yes.", False)]
    assert [(event.previous, event.model) for event in of(events, ModelChange)] == [
        ("claude-opus-4-6", "claude-sonnet-4-5")
    ]


# --- plans, compactions, titles, places ------------------------------------------------------------------------------


def test_a_todo_list_is_told_whole(log: Log, tmp_path: Path) -> None:
    todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "strange"}, {"content": 3}, "x"]
    log.call("TodoWrite", "t1", {"todos": todos})
    [plan] = of(log.events(tmp_path), PlanUpdate)
    assert plan.items == (PlanItem(text="a", status="completed"), PlanItem(text="b"))


def test_task_tools_change_one_item_at_a_time(log: Log, tmp_path: Path) -> None:
    for number, text in ((1, "write"), (2, "test")):
        log.call("TaskCreate", f"c{number}", {"subject": text, "description": "x"})
        log.result(f"c{number}", f"Task #{number} created successfully: {text}", toolUseResult={"task": {"id": number}})
    log.call("TaskUpdate", "u1", {"taskId": "1", "status": "in_progress"})
    log.result("u1", "Updated task #1 status")
    log.call("TaskUpdate", "u2", {"taskId": "2", "status": "deleted"})
    log.result("u2", "Updated task #2 status")
    log.call("TaskUpdate", "u3", {"taskId": "1", "status": "completed"})
    log.result("u3", "no", error=True)
    plans = [[(item.text, item.status) for item in plan.items] for plan in of(log.events(tmp_path), PlanUpdate)]
    assert plans == [
        [("write", "pending")],
        [("write", "pending"), ("test", "pending")],
        [("write", "in_progress"), ("test", "pending")],
        [("write", "in_progress")],
    ]


def test_a_plan_of_plan_mode(log: Log, tmp_path: Path) -> None:
    log.call("ExitPlanMode", "t1", {"plan": "# Plan A"})
    log.result("t1", "approved", toolUseResult={"plan": "# Plan A"})
    log.call("ExitPlanMode", "t2", {"allowedPrompts": []})
    log.result("t2", "approved", toolUseResult={"plan": "# Plan B", "filePath": "/plans/b.md"})
    assert [plan.text for plan in of(log.events(tmp_path), PlanUpdate)] == ["# Plan A", "# Plan B"]


def test_a_plan_handed_over_names_its_session(log: Log, tmp_path: Path) -> None:
    log.prompt(f"Implement the following plan:\n\n# P\n\nIf needed, read the full transcript at: /x/-y/{OTHER}.jsonl")
    events = log.events(tmp_path)
    assert (events[0].parent_id, events[0].parent_kind) == (OTHER, "continuation")  # type: ignore[union-attr]


def test_compactions(log: Log, tmp_path: Path) -> None:
    log.prompt("Go.")
    log.say("Yes.")
    data = {"trigger": "auto", "preTokens": 1000, "postTokens": 100}
    log.add("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=log.last, compactMetadata=data)
    log.prompt("This session is being continued from a previous conversation. We did x.", isCompactSummary=True)
    log.add("system", subtype="microcompact_boundary", microcompactMetadata={"preTokens": 500, "tokensSaved": 200})
    log.add("system", subtype="compact_boundary", compactMetadata={"trigger": "manual"})
    log.say("On.", "msg_2")
    events = log.events(tmp_path)
    full, micro, lost = of(events, Compaction)
    assert (full.trigger, full.tokens_before, full.tokens_after, full.opaque) == ("auto", 1000, 100, False)
    assert full.summary.endswith("We did x.")
    assert full.line == 3
    assert (micro.micro, micro.tokens_before, micro.tokens_after) == (True, 500, 300)
    assert (lost.trigger, lost.summary, lost.opaque) == ("manual", "", True)
    assert summarize(events).human_messages == 1


def test_titles(log: Log, tmp_path: Path) -> None:
    log.plain(type="summary", summary="Another session", leafUuid="77777777-0000-4000-8000-000000000000")
    log.plain(type="summary", summary="This session", leafUuid=f"00000000-0000-4000-8000-{3:012d}")
    log.prompt("Go.")
    log.plain(type="ai-title", aiTitle="Better", sessionId=OWN)
    log.plain(type="ai-title", aiTitle="Better", sessionId=OWN)
    log.plain(type="custom-title", customTitle="Best", sessionId=OWN)
    log.plain(type="ai-title", aiTitle="Better", sessionId=OWN)
    events = log.events(tmp_path)
    assert [event.title for event in of(events, Title)] == ["This session", "Better", "Best"]
    assert events[-1].ignored == {"summary": 1, "ai-title": 2}  # type: ignore[union-attr]


def test_the_place_changes(log: Log, tmp_path: Path) -> None:
    log.prompt("Go.")
    log.say("Yes.", gitBranch="feature")
    log.say("Yes.", gitBranch="", cwd="/home/dev/slug/src")
    log.say("Sub.", isSidechain=True, agentId="a1", cwd="/elsewhere")
    changes = of(log.events(tmp_path), WorkspaceChange)
    assert [(change.cwd, change.branch) for change in changes] == [
        ("/home/dev/slug", "feature"), ("/home/dev/slug/src", "feature"),
    ]  # fmt: skip


def test_unused_and_unknown_records(log: Log, tmp_path: Path) -> None:
    for kind in ("api-request", "tools-used", "atis-latch", "cost-state", "pr-link"):
        log.plain(type=kind, sessionId=OWN, anything=[1, 2])
    log.add("attachment", attachment={"type": "prompt_snapshot", "systemPrompt": ["x"]})
    log.add("progress", data={"type": "bash_progress", "output": "x"})
    log.plain(type="brand-new", sessionId=OWN)
    log.plain(silly="this")
    events = log.events(tmp_path)
    assert [(event.record, event.reason) for event in of(events, Unknown)] == [
        ("brand-new", "unknown_type"), ("", "bad_shape"),
    ]  # fmt: skip
    end = events[-1]
    assert isinstance(end, SessionEnd)
    assert end.ignored["attachment/prompt_snapshot"] == end.ignored["progress/bash_progress"] == 1
    assert sum(end.ignored.values()) + 2 == end.records == 9
