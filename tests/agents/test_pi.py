"""Pi's sessions: each rule of the format in a small case."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pi_entries import FIXTURES, HEADER, STORE, call, events_of, of, result, session, user

from passdown.agents.pi.sessions import find, read, recognise
from passdown.model.session import (
    AssistantMessage,
    Compaction,
    Interruption,
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
)
from passdown.sessions.summary import summarize


def test_a_tree_starts_with_its_header_and_ends_with_its_size() -> None:
    path = FIXTURES / "tree.jsonl"
    events = events_of(path)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd) == ("11111111-1111-7111-8111-111111111111", "/home/dev/slug")
    assert (start.line, start.at) == (1, 1772359200000)
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (17, path.stat().st_size)
    assert end.ignored == {"model_change": 1, "thinking_level_change": 1, "custom": 1, "label": 1}
    assert not of(events, Unknown)


def test_who_wrote_a_message() -> None:
    said = [(e.origin, e.text) for e in of(events_of(FIXTURES / "tree.jsonl"), UserMessage)]
    assert said == [
        ("hook", "Injected by an extension."),
        ("human", "Fix the slug helpers."),
        ("injected", "The quick way failed."),
        ("human", "Do it properly."),
        ("shell", "git status"),
        ("command", "cut a release"),
    ]


def test_the_abandoned_branch_is_inactive_and_everything_else_is_active() -> None:
    events = events_of(FIXTURES / "tree.jsonl")
    assert {event.line for event in events if not event.active} == {6, 7}
    assert summarize(events).rewound == 5


def test_offsets_point_at_the_lines() -> None:
    data = (FIXTURES / "tree.jsonl").read_bytes()
    for event in events_of(FIXTURES / "tree.jsonl")[:-1]:
        assert data[event.offset :].startswith(b'{"type"')
        assert data[: event.offset].count(b"\n") == event.line - 1


def test_calls_results_and_usage() -> None:
    events = events_of(FIXTURES / "tree.jsonl")
    test, edit, shell = of(events, ToolCall)
    assert (test.action, test.command, test.response_id) == ("run", "pytest -q", "r1")
    assert (edit.action, edit.paths) == ("edit", ("src/slug.py",))
    assert (shell.tool, shell.action, shell.command) == ("bashExecution", "run", "git status")
    ends = [(e.call_id, e.outcome, e.exit_code) for e in of(events, ToolResult)]
    assert ends == [("call_1", "failed", 1), ("call_2", "ok", None), ("b0000005", "ok", 0)]
    first, branch, last = of(events, Usage)
    assert (first.input, first.cache_read, first.cache_write, first.output, first.context) == (100, 50, 5, 20, 155)
    assert (branch.input, branch.output, last.model) == (30, 6, "model-b")


def test_model_change_title_and_compaction() -> None:
    events = events_of(FIXTURES / "tree.jsonl")
    assert of(events, ModelChange) == []  # the first model answered on the abandoned branch only
    assert [e.title for e in of(events, Title)] == ["Slug helpers"]
    (compaction,) = of(events, Compaction)
    assert (compaction.summary, compaction.tokens_before, compaction.opaque) == ("## Goal\nSlugs.", 50000, False)


def test_another_model_answers(tmp_path: Path) -> None:
    answers = [
        {"message": {"role": "assistant", "model": name, "content": [{"type": "text", "text": "x"}]}}
        for name in ("a", "a", "b")
    ]
    refused = {"message": {"role": "assistant", "model": "c", "content": [], "stopReason": "error"}}
    changes = of(session(tmp_path, *answers, refused), ModelChange)
    assert [(e.previous, e.model) for e in changes] == [("a", "b")]


def test_linear_v1() -> None:
    events = events_of(FIXTURES / "linear-v1.jsonl")
    counted = summarize(events)
    assert (counted.human_messages, counted.other_user_messages) == (1, {"hook": 1})
    assert (counted.responses, counted.tokens_cache_write, counted.compactions) == (1, 40, 1)
    assert [e.outcome for e in of(events, ToolResult)] == ["interrupted"]
    (stop,) = of(events, Interruption)
    assert (stop.during_tool, stop.reason) == (True, "")
    assert all(event.active for event in events)


def test_a_fork_marks_what_it_copied() -> None:
    fork, parent = find(STORE)
    events = list(read(fork))
    assert isinstance(events[0], SessionStart)
    assert (events[0].parent_id, events[0].parent_kind) == (parent.session_id, "fork")
    assert {e.line for e in events if e.copied} == {2, 3}
    assert summarize(events).human_messages == 1
    assert not any(e.copied for e in read(parent))


def test_a_fork_whose_parent_is_gone_owns_its_history(tmp_path: Path) -> None:
    fork = next(find(STORE))
    events = events_of(Path(shutil.copy(fork.path, tmp_path)))
    assert isinstance(events[0], SessionStart)
    assert (events[0].parent_id[:4], events[0].parent_kind) == ("3333", "fork")
    assert summarize(events).human_messages == 2


def test_a_fork_into_another_folder_finds_its_parent(tmp_path: Path) -> None:
    shutil.copytree(STORE, tmp_path / "home")
    fork = Path(next(find(tmp_path / "home")).path)
    elsewhere = fork.parent.parent / "--elsewhere--"
    elsewhere.mkdir()
    moved = fork.rename(elsewhere / fork.name)
    assert {e.line for e in events_of(moved) if e.copied} == {2, 3}


def test_a_new_session_out_of_another_is_a_continuation(tmp_path: Path) -> None:
    parent = tmp_path / "2026-01-01T00-00-00-000Z_parent.jsonl"
    parent.write_text(json.dumps(HEADER) + '\n{"type":"message","id":"99999999","parentId":null}\n')
    header = HEADER | {"parentSession": f"/elsewhere/{parent.name}"}
    start = session(tmp_path, user("hello"), header=header)[0]
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == ("parent", "continuation")


def test_a_v1_fork_is_compared_line_by_line(tmp_path: Path) -> None:
    rows = (FIXTURES / "linear-v1.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "2025_a.jsonl").write_text("".join(rows))
    header = json.loads(rows[0]) | {"id": "b", "branchedFrom": "C:\\pi\\2025_a.jsonl"}
    fork = tmp_path / "2025_b.jsonl"
    own = '{"type":"message","timestamp":"2025-12-02T08:00:01.000Z","message":{"role":"user","content":"new"}}\n'
    fork.write_text(json.dumps(header) + "\n" + "".join(rows[1:4]) + own)
    assert {e.line for e in events_of(fork)[:-1] if not e.copied} == {1, 5}


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("1 failed\n\n\nCommand exited with code 2", {}, ("failed", 2, "")),
        ("Command exited with code 1", {}, ("failed", 1, "")),
        ("Command exited with code 1\nand more", {}, ("failed", None, "")),
        ("fine", {"error": False}, ("ok", 0, "")),
        ("Command exited with code 9", {"error": False}, ("ok", 0, "")),
        ("seen", {"error": False, "details": {"_type": "bashResult", "exitCode": 3}}, ("failed", 3, "")),
        ("out\n\nCommand timed out after 5 seconds", {}, ("timeout", None, "")),
        ("out\n\nCommand aborted", {}, ("interrupted", None, "")),
        ("Operation aborted", {"tool": "read"}, ("interrupted", None, "")),
        ("Skipped due to queued user message.", {"tool": "edit"}, ("interrupted", None, "")),
        ("Blocked by user", {}, ("rejected", None, "")),
        ("User rejected the command: use make instead", {}, ("rejected", None, "use make instead")),
        ("Could not find the exact text in a.py.", {"tool": "edit"}, ("failed", None, "")),
        ("done", {"tool": "edit", "error": False}, ("ok", None, "")),
    ],
)
def test_how_a_call_ended(tmp_path: Path, text: str, more: dict[str, Any], expected: tuple[Any, ...]) -> None:
    (end,) = of(session(tmp_path, result(text, **more)), ToolResult)
    assert (end.outcome, end.exit_code, end.reason) == expected


def test_a_cancelled_shell_command_is_interrupted(tmp_path: Path) -> None:
    shell = {"message": {"role": "bashExecution", "command": "make", "output": "", "exitCode": None, "cancelled": True}}
    (end,) = of(session(tmp_path, shell), ToolResult)
    assert (end.outcome, end.exit_code) == ("interrupted", None)


def test_an_api_error_says_so(tmp_path: Path) -> None:
    message = {"role": "assistant", "model": "m", "content": [], "stopReason": "error", "errorMessage": "429"}
    (stop,) = of(session(tmp_path, {"message": message}), Interruption)
    assert stop.reason == "error: 429"


def test_subagents_todos_and_nested_usage(tmp_path: Path) -> None:
    events = session(
        tmp_path,
        call("subagent", {"tasks": [{"agent": "scout", "task": "look"}, {"agent": "worker", "task": "do"}]}),
        result("ok", tool="subagent", error=False, usage={"input": 7, "output": 3}),
        call("todo", {"action": "add", "text": "write"}),
        result("ok", tool="todo", error=False, details={"todos": [{"id": 1, "text": "write", "done": True}]}),
    )
    assert [(e.name, e.prompt) for e in of(events, SubagentStart)] == [("scout", "look"), ("worker", "do")]
    assert of(events, PlanUpdate)[0].items == (PlanItem(text="write", status="completed"),)
    (usage,) = of(events, Usage)
    assert (usage.input, usage.agent_id) == (7, "c")


def test_files_given_on_the_command_line_are_not_the_request(tmp_path: Path) -> None:
    text = '<file name="/home/dev/a.md">\nbody </file> of a\n</file>\nSummarise it.'
    said = of(session(tmp_path, user(text)), UserMessage)
    assert [(e.origin, e.text) for e in said][1:] == [("human", "Summarise it.")]
    assert said[0].origin == "injected"


def test_unknown_kinds_are_counted(tmp_path: Path) -> None:
    events = session(tmp_path, {"type": "new_thing"}, {"message": {"role": "robot"}}, {"message": None})
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("new_thing", "unknown_type"), ("message/robot", "unknown_type"), ("message/", "bad_shape"),
    ]  # fmt: skip


def test_a_new_root_leaves_everything_before_it_behind(tmp_path: Path) -> None:
    events = session(tmp_path, user("1"), user("2"), user("3") | {"parentId": None})
    assert [e.active for e in of(events, UserMessage)] == [False, False, True]


def test_find_lists_the_newest_first_and_skips_links(tmp_path: Path) -> None:
    home = tmp_path / "agent"
    shutil.copytree(STORE, home)
    folder = home / "sessions" / "--home-dev-slug--"
    (folder / "link.jsonl").symlink_to(next(folder.glob("*_3333*.jsonl")))
    (folder / "other.jsonl").write_text('{"type":"else"}\n')
    newest, oldest = find(home)
    assert (newest.session_id[:4], newest.title, newest.parent_id[:4]) == ("4444", "Another way", "3333")
    assert (oldest.session_id[:4], oldest.cwd, oldest.started_at) == ("3333", "/home/dev/slug", 1772442000000)
    assert oldest.bytes == Path(oldest.path).stat().st_size
    assert list(find(tmp_path / "nowhere")) == []


@pytest.mark.parametrize("name", ["tree.jsonl", "linear-v1.jsonl"])
def test_recognised_by_content(name: str) -> None:
    assert recognise((FIXTURES / name).read_bytes(), "whatever.txt")


@pytest.mark.parametrize(
    "head",
    [
        b"", b"{}", b'{"info":{"id":"ses_1"}}', b'{"type":"user","message":{"role":"user"},"uuid":"1"}',
        b'{"timestamp":"x","type":"session_meta","payload":{}}', b'{"type":"session_start","id":"1"}',
    ],
)  # fmt: skip
def test_other_formats_are_not_pi(head: bytes) -> None:
    assert not recognise(head, "session.jsonl")


def test_answers_keep_their_reasoning_apart() -> None:
    said = [(e.reasoning, e.text) for e in of(events_of(FIXTURES / "tree.jsonl"), AssistantMessage)]
    assert said == [(True, "Look first."), (False, "Trying the quick way."), (False, "Editing.")]
