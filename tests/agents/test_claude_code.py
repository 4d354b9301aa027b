"""Claude Code's sessions: each rule of the format in a small case, damage, and arbitrary bytes."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.claude_code.origins import classify, notice_of
from passdown.agents.claude_code.records import milliseconds
from passdown.agents.claude_code.sessions import find, read, recognise
from passdown.errors import UnsafeError
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

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "claude_code"
OWN = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
FIXTURE = FIXTURES / "home" / "projects" / "-home-dev-slug" / f"{OWN}.jsonl"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)


class Log:
    """A log under way: each row goes on from the one before unless told otherwise."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, **fields: Any) -> str:
        number = len(self.rows) + 1
        uuid = f"00000000-0000-4000-8000-{number:012d}"
        row = {
            "parentUuid": self.last, "isSidechain": False, "cwd": "/home/dev/slug", "sessionId": OWN,
            "version": "2.1.50", "gitBranch": "main", "type": kind, "uuid": uuid,
            "timestamp": f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}.000Z",
        }  # fmt: skip
        self.rows.append(row | fields)
        self.last = uuid
        return uuid

    def plain(self, **row: Any) -> None:
        self.rows.append(row)

    def prompt(self, content: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def block(self, block: dict[str, Any], message: str = "msg_1", output: int = 5, **fields: Any) -> str:
        model = fields.pop("model", "claude-opus-4-6")
        usage = {"input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100}
        body = {"id": message, "model": model, "content": [block], "usage": usage | {"output_tokens": output}}
        return self.add("assistant", message=body, requestId=f"req_{message}", **fields)

    def say(self, text: str, message: str = "msg_1", **fields: Any) -> str:
        return self.block({"type": "text", "text": text}, message, **fields)

    def call(self, tool: str, call_id: str, arguments: dict[str, Any], message: str = "msg_1", **fields: Any) -> str:
        return self.block({"type": "tool_use", "id": call_id, "name": tool, "input": arguments}, message, **fields)

    def result(self, call_id: str, text: Any, *, error: bool = False, **fields: Any) -> str:
        block = {"tool_use_id": call_id, "type": "tool_result", "content": text, "is_error": error}
        return self.prompt([block], **fields)

    def bytes(self) -> bytes:
        return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in self.rows)

    def events(self, folder: Path) -> list[AnyEvent]:
        path = folder / f"{OWN}.jsonl"
        path.write_bytes(self.bytes())
        return events_of(path)


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="claude_code", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def log() -> Log:
    return Log()


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


# --- branches --------------------------------------------------------------------------------------------------------


def test_parallel_calls_and_progress_fork_without_a_rewind(log: Log, tmp_path: Path) -> None:
    log.prompt("Go.")
    first = log.call("Read", "t1", {})
    second = log.call("Read", "t2", {})
    log.add("progress", parentUuid=first, data={"type": "hook_progress", "hookEvent": "PostToolUse"})
    log.result("t1", "a", parentUuid=first)
    log.result("t2", "b", parentUuid=second)
    log.say("Done.", "msg_2", parentUuid=first)
    log.prompt("More.")
    assert all(event.active for event in log.events(tmp_path))


def test_an_edited_prompt_leaves_the_old_branch(log: Log, tmp_path: Path) -> None:
    log.prompt("First.")
    tip = log.say("Done.")
    log.prompt("Wrong turn.")
    log.call("Bash", "t1", {"command": "rm x"}, "msg_2")
    log.result("t1", "")
    log.prompt("Right turn.", parentUuid=tip)
    log.say("Better.", "msg_3")
    events = log.events(tmp_path)
    off = [event for event in events if not event.active]
    assert {event.line for event in off} == {3, 4, 5}
    assert [event.text for event in of(events, UserMessage) if event.active] == ["First.", "Right turn."]
    assert summarize(events).rewound == len(off)


def test_going_back_to_the_old_branch_takes_back_the_new_one(log: Log, tmp_path: Path) -> None:
    tip = log.say("Hello.")
    log.prompt("One.")
    one = log.say("1", "msg_2")
    log.prompt("Two.", parentUuid=tip)
    log.say("2", "msg_3")
    log.prompt("On with one.", parentUuid=one)
    events = log.events(tmp_path)
    assert {event.line for event in events if not event.active} == {4, 5}


def test_a_rewind_to_the_very_start(log: Log, tmp_path: Path) -> None:
    log.prompt("First try.")
    log.say("Hm.")
    log.prompt("Second try.", parentUuid=None)
    log.say("Good.", "msg_2")
    assert {event.line for event in log.events(tmp_path) if not event.active} == {1, 2}


def test_a_far_rewind_is_found(log: Log, tmp_path: Path) -> None:
    tip = log.say("Hello.")
    log.prompt("Old.")
    for number in range(40):
        log.call("Read", f"t{number}", {}, f"msg_{number + 2}")
        log.result(f"t{number}", "x" * 80_000)
    log.prompt("New.", parentUuid=tip)
    events = log.events(tmp_path)
    assert [event.text for event in of(events, UserMessage) if event.active] == ["New."]


def test_many_lost_or_far_parents_take_no_longer(tmp_path: Path) -> None:
    rows = ['{"type":"user","uuid":"root","parentUuid":null,"message":{"content":"Hi."}}']
    for number in range(20_000):
        parent = "root" if number % 2 else f"lost{number}"
        rows.append(f'{{"type":"user","uuid":"u{number}","parentUuid":"{parent}","message":{{"content":"x"}}}}')
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(rows))
    started = time.process_time()
    assert len(of(events_of(path), UserMessage)) == 20_001
    assert time.process_time() - started < 10


def test_a_lost_parent_is_no_rewind(log: Log, tmp_path: Path) -> None:
    log.prompt("First.")
    log.say("Done.")
    log.prompt("Second.", parentUuid="99999999-0000-4000-8000-000000000000")
    log.add("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid="9999", compactMetadata={})
    log.prompt("Summary.", isCompactSummary=True)
    log.prompt("Third.")
    assert all(event.active for event in log.events(tmp_path))


def test_a_command_off_the_path_is_not_taken_back(log: Log, tmp_path: Path) -> None:
    tip = log.say("Done.")
    log.prompt("<command-name>/exit</command-name>")
    log.prompt("Back again.", parentUuid=tip)
    assert all(event.active for event in log.events(tmp_path))


def test_rows_without_a_chain_are_all_active(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"type": "user", "uuid": f"u{n}", "message": {"content": f"Message {n}."}} for n in range(3)]
    rows += [{"parentUuid": None, **row} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert all(event.active for event in events_of(path))


def test_a_fork_begins_with_another_sessions_rows(log: Log, tmp_path: Path) -> None:
    log.prompt("Theirs.", sessionId=OTHER)
    log.say("Theirs too.", sessionId=OTHER)
    log.prompt("Ours.")
    events = log.events(tmp_path)
    assert (events[0].parent_id, events[0].parent_kind) == (OTHER, "fork")  # type: ignore[union-attr]
    assert [(event.text, event.copied) for event in of(events, UserMessage)] == [("Theirs.", True), ("Ours.", False)]
    assert summarize(events).human_messages == 1
    assert summarize(events).responses == 0


# --- subagents -------------------------------------------------------------------------------------------------------


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


# --- who wrote it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "origin", "clean"),
    [
        ("Fix it.", "human", "Fix it."),
        ("<div> is broken", "human", "<div> is broken"),
        ("<ide_selection>x</ide_selection>Fix it.", "human", "Fix it."),
        ("<system-reminder>\nx\n</system-reminder>\n<ide_opened_file>y</ide_opened_file>\nFix it.", "human", "Fix it."),
        ("<system-reminder>x</system-reminder>", "injected", "<system-reminder>x</system-reminder>"),
        ("<command-message>x is running</command-message>\n<command-name>/x</command-name>", "command", "/x"),
        ("<command-name>/x</command-name><command-args>do it</command-args>", "command", "do it"),
        ("<bash-input>git pull</bash-input>", "shell", "git pull"),
        ("<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>", "injected", None),
        ("<local-command-stdout>Bye!</local-command-stdout>", "injected", None),
        ("<task-notification>\n<task-id>b1</task-id></task-notification>", "injected", None),
        ("Caveat: The messages below were generated by the user while running local commands.", "injected", None),
        ("Operation stopped by hook: no", "hook", None),
        ("Implement the following plan:\n\n# Plan", "plan", None),
        ("Implement a plan.", "human", "Implement a plan."),
    ],
)
def test_origins(text: str, origin: str, clean: str | None) -> None:
    assert classify(text) == (origin, text if clean is None else clean)


def test_what_a_row_says_is_surer_than_its_words(log: Log, tmp_path: Path) -> None:
    log.prompt("Base directory for this skill: /x", isMeta=True)
    log.prompt("Stop hook feedback:\nno", isMeta=True)
    log.prompt("Hello.", origin={"kind": "human"}, promptSource="typed")
    log.prompt("Hello.", promptSource="sdk")
    log.prompt("An agent wrote.", origin={"kind": "task-notification"}, promptSource="system")
    log.prompt("Do it so.", planContent="# Plan")
    log.prompt([{"type": "image", "source": {}}, {"type": "text", "text": "Like this."}])
    events = of(log.events(tmp_path), UserMessage)
    assert [event.origin for event in events] == ["injected", "hook", "human", "human", "injected", "plan", "human"]
    assert events[-1].images == 1


def test_a_reply_stands_beside_a_result(log: Log, tmp_path: Path) -> None:
    log.call("Bash", "t1", {"command": "ls"})
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    log.prompt([result, {"type": "text", "text": "Only in src, please."}])
    events = log.events(tmp_path)
    assert [event.outcome for event in of(events, ToolResult)] == ["ok"]
    assert [(event.origin, event.text) for event in of(events, UserMessage)] == [("human", "Only in src, please.")]


def test_interruptions(log: Log, tmp_path: Path) -> None:
    log.prompt([{"type": "text", "text": "[Request interrupted by user]"}])
    log.prompt([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    events = log.events(tmp_path)
    assert [event.during_tool for event in of(events, Interruption)] == [False, True]
    assert of(events, UserMessage) == []


def test_hooks_and_attachments(log: Log, tmp_path: Path) -> None:
    log.add("attachment", attachment={"type": "hook_additional_context", "content": ["Mind the gap."]})
    log.add("attachment", attachment={"type": "skill_listing", "content": "many"})
    log.add("system", subtype="local_command", content="<command-name>/mcp</command-name>")
    events = log.events(tmp_path)
    assert [(event.origin, event.text) for event in of(events, UserMessage)] == [
        ("hook", "Mind the gap."), ("command", "/mcp"),
    ]  # fmt: skip
    assert events[-1].ignored == {"attachment/skill_listing": 1}  # type: ignore[union-attr]


def queue(log: Log, operation: str, content: str | None = None) -> None:
    text = {} if content is None else {"content": content}
    log.plain(type="queue-operation", operation=operation, timestamp="2026-03-01T10:00:00Z", sessionId=OWN, **text)


def test_a_queued_prompt_with_no_other_trace_was_typed(log: Log, tmp_path: Path) -> None:
    queue(log, "enqueue", "<task-notification>x</task-notification>")
    queue(log, "enqueue", "And the docs.")
    queue(log, "remove")
    log.say("Fine.")
    queue(log, "enqueue", "Never read.")
    queue(log, "enqueue", "/model")
    events = of(log.events(tmp_path), UserMessage)
    assert [(event.origin, event.text, event.line) for event in events] == [
        ("human", "And the docs.", 2), ("queued", "Never read.", 5),
    ]  # fmt: skip


def test_a_queued_prompt_is_told_once(log: Log, tmp_path: Path) -> None:
    queue(log, "enqueue", "One.")
    queue(log, "dequeue")
    log.prompt("One.")
    queue(log, "enqueue", "Two.")
    queue(log, "remove", "Two.")
    log.add("attachment", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "Two."})
    queue(log, "enqueue", "Three.")
    log.add("attachment", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "Three."})
    queue(log, "remove", "Three.")
    log.say("Fine.")
    events = of(log.events(tmp_path), UserMessage)
    assert [(event.origin, event.text) for event in events] == [
        ("human", "One."),
        ("human", "Two."),
        ("human", "Three."),
    ]


def test_prompts_taken_back_from_the_queue(log: Log, tmp_path: Path) -> None:
    queue(log, "enqueue", "Hm.")
    queue(log, "popAll", "Hm.")
    log.say("Fine.")
    assert [event.origin for event in of(log.events(tmp_path), UserMessage)] == ["queued"]


# --- calls and results -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "action", "paths"),
    [
        ("Bash", {"command": "ls"}, "run", ()),
        ("PowerShell", {"command": "ls"}, "run", ()),
        ("Edit", {"file_path": "C:\\x\\a.py"}, "edit", ("C:\\x\\a.py",)),
        ("NotebookEdit", {"notebook_path": "/a.ipynb"}, "edit", ("/a.ipynb",)),
        ("Write", {"file_path": "/a"}, "write", ("/a",)),
        ("Read", {"file_path": "/a"}, "read", ("/a",)),
        ("Grep", {"pattern": "x", "path": "src"}, "search", ("src",)),
        ("Agent", {"prompt": "x"}, "delegate", ()),
        ("TodoWrite", {"todos": []}, "plan", ()),
        ("WebFetch", {"url": "https://example.com"}, "web", ()),
        ("AskUserQuestion", {"questions": []}, "ask", ()),
        ("mcp__x__y", {"path": 3}, "other", ()),
    ],
)
def test_calls(
    log: Log, tmp_path: Path, tool: str, arguments: dict[str, Any], action: str, paths: tuple[str, ...]
) -> None:
    log.call(tool, "t1", arguments)
    [call] = of(log.events(tmp_path), ToolCall)
    assert (call.tool, call.action, call.paths, call.arguments) == (tool, action, paths, arguments)
    assert call.command == ("ls" if action == "run" else "")
    assert call.cwd == "/home/dev/slug"


@pytest.mark.parametrize(
    ("text", "error", "twin", "expected"),
    [
        ("4 passed", False, {"stdout": "4 passed", "interrupted": False}, ("ok", 0, "")),
        ("Exit code 2\nboom", True, "Error: Exit code 2\nboom", ("failed", 2, "")),
        ("Exit code 143\nCommand timed out after 2m 0s\n", True, None, ("timeout", 143, "")),
        ("npm error", True, None, ("failed", None, "")),
        ("", False, {"returnCodeInterpretation": "No matches found"}, ("failed", 1, "")),
        ("part", False, {"interrupted": True}, ("interrupted", None, "")),
        ("[Request interrupted by user for tool use]", True, None, ("interrupted", None, "")),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", True, None, ("interrupted", None, "")),
        ("<tool_use_error>File does not exist.</tool_use_error>", True, None, ("failed", None, "")),
        ("Command running in background with ID: b1.", False, {"backgroundTaskId": "b1"}, ("running", None, "")),
        (REJECTED + "STOP what you are doing.", True, "User rejected tool use", ("rejected", None, "")),
        (
            REJECTED
            + "To tell you how to proceed, the user said:\nuse uv\n\nNote: The user's next message may contain "
            "a correction or preference.",
            True,
            None,
            ("rejected", None, "use uv"),
        ),
        (
            REJECTED + "To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n  x",
            True,
            None,
            ("rejected", None, ""),
        ),
        (
            "Claude requested permissions to use Bash, but you haven't granted it yet.",
            True,
            None,
            ("rejected", None, ""),
        ),
    ],
)
def test_endings(
    log: Log, tmp_path: Path, text: str, error: bool, twin: Any, expected: tuple[str, int | None, str]
) -> None:
    log.call("Bash", "t1", {"command": "x"})
    log.result("t1", text, error=error, toolUseResult=twin)
    [result] = of(log.events(tmp_path), ToolResult)
    assert (result.outcome, result.exit_code, result.reason) == expected
    assert result.text == text


def test_edits_name_the_file_they_changed(log: Log, tmp_path: Path) -> None:
    log.call("Edit", "t1", {"file_path": "/a"})
    log.result("t1", "ok", toolUseResult={"filePath": "/a", "oldString": "x", "originalFile": "y" * 1000})
    log.call("Read", "t2", {"file_path": "/b"})
    log.result("t2", [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}])
    results = of(log.events(tmp_path), ToolResult)
    assert [(result.paths, result.exit_code) for result in results] == [(("/a",), None), ((), None)]
    assert results[1].text == "one\ntwo"


def test_background_work_ends_later(log: Log, tmp_path: Path) -> None:
    for number in (1, 2):
        log.call("Bash", f"t{number}", {"command": "make", "run_in_background": True})
        log.result(f"t{number}", "running", toolUseResult={"backgroundTaskId": f"b{number}"})
    notice = (
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>REDACTED</tool-use-id>\n<output-file>/x</output-file>\n"
        '<status>failed</status>\n<summary>Background command "make" failed with exit code 2</summary>\n'
        "</task-notification>"
    )
    log.prompt(notice)
    log.prompt(notice)
    log.call("BashOutput", "t3", {"bash_id": "b2"})
    log.result("t3", "all", toolUseResult={"shellId": "b2", "status": "completed", "exitCode": 0})
    results = of(log.events(tmp_path), ToolResult)
    assert [(result.call_id, result.outcome, result.exit_code) for result in results] == [
        ("t1", "running", None), ("t2", "running", None), ("t1", "failed", 2), ("t3", "ok", None), ("t2", "ok", 0),
    ]  # fmt: skip
    assert notice_of("<task-notification>nothing</task-notification>") is None


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


# --- damage ----------------------------------------------------------------------------------------------------------

GOOD = b'{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-03-01T10:00:00Z","message":{"content":"%s"}}'


def texts_and_reasons(path: Path, data: bytes, **options: Any) -> tuple[list[str], list[str]]:
    path.write_bytes(data)
    events = events_of(path, **options)
    return [event.text for event in of(events, UserMessage)], [event.reason for event in of(events, Unknown)]


@pytest.mark.parametrize(
    ("data", "texts", "reasons"),
    [
        (GOOD % b"a" + b"\n" + (GOOD % b"b")[:40], ["a"], ["torn_line"]),
        (GOOD % b"a" + b"\n" + (GOOD % b"b")[:40] + b"\n" + GOOD % b"c" + b"\n", ["a", "c"], ["bad_json"]),
        (GOOD % b"a" + GOOD % b"b" + b"\n", ["a", "b"], []),
        (b"\xef\xbb\xbf" + GOOD % b"a" + b"\r\n", ["a"], []),
        (b"\x00\x00\x00" + GOOD % b"a" + b"\x00\n\x00\x00\n", ["a"], []),
        (GOOD % b"x \\ud83d y" + b"\n", ["x \ufffd y"], []),
        (GOOD % "a\u2028b\u2029c\u0085d".encode() + b"\n", ["a\u2028b\u2029c\u0085d"], []),
        (GOOD % b"\xff\xfe" + b"\n", ["\ufffd\ufffd"], []),
        (b"[1, 2]\n", [], ["bad_shape"]),
        (b'"text"\n7\nnull\n', [], ["bad_json"] * 3),
        (b'{"type":"user","message":"text"}\n', [], ["bad_shape"]),
        (b"\n\n  \n" + GOOD % b"a", ["a"], []),
        (b'{"type":"user","message":{"content":' + b"[" * 100_000 + b"\n", [], ["bad_json"]),
        (b"", [], []),
    ],
)
def test_damage(tmp_path: Path, data: bytes, texts: list[str], reasons: list[str]) -> None:
    assert texts_and_reasons(tmp_path / "x.jsonl", data) == (texts, reasons)


def test_a_line_over_the_cap_is_passed_over(tmp_path: Path) -> None:
    data = GOOD % b"a" + b"\n" + GOOD % (b"b" * 500) + b"\n" + GOOD % b"c" + b"\n"
    assert texts_and_reasons(tmp_path / "x.jsonl", data, max_line=300) == (["a", "c"], ["line_too_long"])


def test_a_clock_that_goes_backwards_does_not_matter(log: Log, tmp_path: Path) -> None:
    log.prompt("One.", timestamp="2026-03-01T11:00:00.000Z")
    log.prompt("Two.", timestamp="2026-03-01T10:00:00.000+01:00")
    log.prompt("Three.", timestamp="yesterday")
    events = of(log.events(tmp_path), UserMessage)
    assert [event.at for event in events] == [1772362800000, 1772355600000, None]


def test_a_missing_file_and_a_link_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        events_of(tmp_path / "gone.jsonl")
    (tmp_path / "link.jsonl").symlink_to(FIXTURE)
    with pytest.raises(UnsafeError):
        events_of(tmp_path / "link.jsonl")


def test_offsets_lead_to_the_rows() -> None:
    data = FIXTURE.read_bytes()
    for event in events_of(FIXTURE)[1:-1]:
        if not event.agent_id and not isinstance(event, SessionEnd):
            line = data[event.offset :].split(b"\n", 1)[0]
            json.loads(line)
            assert data[: event.offset].count(b"\n") == event.line - 1


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=400))
def test_arbitrary_bytes_never_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "x.jsonl"
    path.write_bytes(data)
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    recognise(data, "x")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.just("user")
    | st.just("tool_use"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "content", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(pick=st.data())
def test_mutated_rows_never_raise(tmp_path_factory: pytest.TempPathFactory, pick: st.DataObject) -> None:
    rows = [json.loads(line) for line in FIXTURE.read_bytes().splitlines()]
    for _ in range(pick.draw(st.integers(1, 4))):
        target: Any = pick.draw(st.sampled_from(rows))
        while isinstance(target, dict) and target and pick.draw(st.booleans()):
            key = pick.draw(st.sampled_from(sorted(target)))
            if not isinstance(target[key], dict):
                break
            target = target[key]
        if isinstance(target, dict) and target:
            target[pick.draw(st.sampled_from(sorted(target)))] = pick.draw(VALUES)
    path = tmp_path_factory.mktemp("mutated") / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    events = events_of(path)
    end = events[-1]
    assert isinstance(end, SessionEnd)
    assert end.records == len(rows)
    summarize(events)
