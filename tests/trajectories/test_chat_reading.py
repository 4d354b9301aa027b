"""Chat messages: OpenAI's and Anthropic's shape, rows for training, several in one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.errors import FormatError, UsageError
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Interruption,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.sessions.read import read_session, recognise, refer_to_begun

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
Told = Callable[..., list[AnyEvent]]


def of(kind: type[Any], events: list[AnyEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_openai(told: Told) -> None:
    events = told("chat/openai.json")
    assert [(e.text, e.origin, e.images) for e in of(UserMessage, events)] == [
        ("What is in the folder?", "human", 1), ("Thanks, now remove it.", "human", 0)
    ]  # fmt: skip
    assert [(call.call_id, call.action) for call in of(ToolCall, events)] == [
        ("c1", "run"), ("c2", "read"), ("call-3", "other")
    ]  # fmt: skip
    assert [(r.call_id, r.outcome, r.exit_code) for r in of(ToolResult, events)] == [
        ("c2", "failed", None), ("c1", "ok", 0), ("call-3", "ok", None)
    ]  # fmt: skip
    assert [e.text for e in of(AssistantMessage, events) if e.reasoning] == ["Look first."]


def test_anthropic(told: Told) -> None:
    events = told("chat/anthropic.json")
    assert [(r.call_id, r.outcome, r.exit_code) for r in of(ToolResult, events)] == [
        ("u1", "failed", 1), ("u2", "ok", None)
    ]  # fmt: skip
    assert [e.text for e in of(UserMessage, events)] == ["Run the tests.", "Only fix what fails."]
    assert [(e.text, e.reasoning) for e in of(AssistantMessage, events)] == [
        ("pytest it is", True), ("I run them.", False), ("I will.", False)
    ]  # fmt: skip
    [usage] = of(Usage, events)
    assert (usage.input, usage.cache_read, usage.cache_write, usage.context) == (30, 100, 7, 137)


def test_calls_in_text(told: Told) -> None:
    events = told("chat/rows.jsonl", "frames__frames-1")
    calls = of(ToolCall, events)
    assert [(call.tool, call.command, call.paths) for call in calls] == [
        ("bash", "python reproduce.py", ()), ("str_replace_editor", "", ("/testbed/index.py",)), ("submit", "", ())
    ]  # fmt: skip
    assert calls[1].arguments["old_str"] == "a"
    assert [r.text for r in of(ToolResult, events)] == [
        "AttributeError: freq",
        "The file /testbed/index.py has been edited.",
    ]
    assert [e.text for e in of(AssistantMessage, events)] == ["I reproduce it.", "I mend it."]
    assert [e.text for e in of(UserMessage, events) if e.origin == "human"] == ["Index has no freq."]
    assert of(WorkspaceChange, events)[0].cwd == "/testbed"
    assert {event.line for event in events[1:-1]} == {1}


def test_rows_by_number_and_by_name(told: Told) -> None:
    second = told("chat/rows.jsonl", "2")
    assert of(SessionStart, second)[0].session_id == "frames__frames-2"
    assert [(r.outcome, r.exit_code) for r in of(ToolResult, second)] == [("failed", 1)]
    assert [e.reason for e in of(Interruption, second)] == ["error: max_iterations"]
    assert [e.text for e in of(AssistantMessage, told("chat/rows.jsonl", "3"))] == ["hi"]


def test_a_row_is_named_behind_a_hash() -> None:
    by_name = list(read_session(f"{FIXTURES}/chat/rows.jsonl#frames__frames-3"))
    assert of(SessionStart, by_name)[0].session_id == "frames__frames-3"
    ref = refer_to_begun(f"{FIXTURES}/chat/rows.jsonl#2")
    assert (ref.session_id, ref.inner, ref.path) == ("frames__frames-2", "2", f"{FIXTURES}/chat/rows.jsonl")


@pytest.mark.parametrize("inner", ["", "4", "nothing"])
def test_several_rows_and_none_named(told: Told, inner: str) -> None:
    with pytest.raises(UsageError, match="frames__frames-1, frames__frames-2, frames__frames-3"):
        told("chat/rows.jsonl", inner)


def test_a_hash_in_a_files_own_name_is_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a#1.json"
    path.write_bytes((FIXTURES / "chat/openai.json").read_bytes())
    assert len(of(ToolCall, list(read_session(path)))) == 3


def test_a_list_of_rows(written: Told) -> None:
    rows = [{"id": name, "messages": [{"role": "user", "content": name}]} for name in ("a", "b")]
    assert [e.text for e in of(UserMessage, written(rows, inner="b"))] == ["b"]


def test_messages_one_a_line(told: Told) -> None:
    events = told("chat/lines.jsonl")
    assert [e.text for e in of(UserMessage, events)] == ["Count to three."]
    assert [e.line for e in of(AssistantMessage, events)] == [3]
    end = of(SessionEnd, events)[-1]
    assert (end.records, end.bytes) == (3, (FIXTURES / "chat/lines.jsonl").stat().st_size)


def test_a_plan_and_a_prompt_in_a_template(written: Told) -> None:
    text = "Example.\n--------------------- NEW TASK DESCRIPTION ---------------------\nBuild it.\n--------------------- END OF NEW TASK DESCRIPTION ---------------------\nBe strict."
    call = {
        "id": "p",
        "function": {"name": "TodoWrite", "arguments": {"todos": [{"content": "one", "status": "done"}]}},
    }
    events = written([{"role": "user", "content": text}, {"role": "assistant", "content": "", "tool_calls": [call]}])
    assert next((e.text, e.origin) for e in of(UserMessage, events)) == ("Build it.", "human")
    assert [item.status for e in events for item in getattr(e, "items", ())] == ["completed"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("chat/openai.json", "chat"), ("chat/anthropic.json", "chat"), ("chat/rows.jsonl", "chat"),
        ("chat/lines.jsonl", "chat"), ("mini_swe_agent/bare.traj.json", "mini_swe_agent"),
        ("mini_swe_agent/first.traj.json", "mini_swe_agent"), ("mini_swe_agent/responses.traj.json", "mini_swe_agent"),
        ("swe_agent/thought.traj", "swe_agent"), ("swe_agent/tools.traj", "swe_agent"), ("atif/run.json", "atif"),
        ("atif/wild.json", "atif"), ("openhands/results.jsonl", "openhands"),
    ],
)  # fmt: skip
def test_content_decides_not_the_name(tmp_path: Path, name: str, found: str) -> None:
    path = tmp_path / "claude-session.jsonl"
    path.write_bytes((FIXTURES / name).read_bytes())
    assert recognise(path).id == found


def test_what_is_no_session_is_not_taken_for_one(tmp_path: Path) -> None:
    for data in (
        b"",
        b"[]",
        b"{}",
        b'{"messages": []}',
        b'{"role": "x"}',
        b'[{"instance_id": "a", "model_patch": ""}]',
    ):
        path = tmp_path / "x.json"
        path.write_bytes(data)
        with pytest.raises(FormatError):
            recognise(path)
