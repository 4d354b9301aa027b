"""Each rule of OpenCode's format in a small case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opencode_documents import T, answer, asked, export, of, tool

from passdown.model.session import (
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    SessionStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (tool(metadata={"exit": 0}), ("ok", 0, "")),
        (tool(metadata={"exit": 2}), ("failed", 2, "")),
        (tool(metadata={}), ("unknown", None, "")),
        (
            tool(metadata={"exit": None}, output="x\n<shell_metadata>\nUser aborted the command"),
            ("interrupted", None, ""),
        ),
        (tool(output="shell tool terminated command after exceeding timeout 9 ms"), ("timeout", None, "")),
        (tool(metadata={"exit": 0}, output="exceeding timeout"), ("ok", 0, "")),
        (tool("invalid", metadata={}), ("failed", None, "")),
        (tool("mcp_thing", metadata={"exit": "odd", "files": 7}), ("ok", None, "")),
        (tool("read", metadata=[]), ("ok", None, "")),
        (
            tool(status="error", error="The user rejected permission to use this specific tool call."),
            ("rejected", None, ""),
        ),
        (
            tool(
                status="error", error="The user rejected permission to use it with the following feedback: no: ask me"
            ),
            ("rejected", None, "no: ask me"),
        ),
        (tool(status="error", error="The user has specified a rule which prevents you"), ("rejected", None, "")),
        (tool("question", status="error", error="The user dismissed this question"), ("rejected", None, "")),
        (tool(status="error", error="Tool execution aborted"), ("interrupted", None, "")),
        (tool("read", status="error", error="File not found"), ("failed", None, "")),
        (tool("webfetch", status="error", error="Request timed out after 30 s"), ("timeout", None, "")),
    ],
)
def test_how_a_call_ended(tmp_path: Path, part: dict[str, Any], expected: tuple[Any, ...]) -> None:
    (end,) = of(export(tmp_path, answer(part)), ToolResult)
    assert (end.outcome, end.exit_code, end.reason) == expected


def test_a_call_without_an_end(tmp_path: Path) -> None:
    live = {"created": T}
    running, pending = tool(status="running", time={"start": T}), tool(status="pending")
    assert [e.outcome for e in of(export(tmp_path, answer(running, time=live)), ToolResult)] == ["running"]
    assert of(export(tmp_path, answer(pending, time=live)), ToolResult) == []
    assert [e.outcome for e in of(export(tmp_path, answer(running)), ToolResult)] == ["interrupted"]


@pytest.mark.parametrize(
    ("patch", "action", "paths"),
    [
        ("*** Add File: a\n+x", "write", ("a",)),
        ("*** Delete File: a", "delete", ("a",)),
        ("*** Update File: a\n*** Move to: b\n*** Add File: c", "edit", ("a", "c", "b")),
        (7, "edit", ()),
    ],
)
def test_patches(tmp_path: Path, patch: Any, action: str, paths: tuple[str, ...]) -> None:
    (made,) = of(export(tmp_path, answer(tool("apply_patch", input={"patchText": patch}))), ToolCall)
    assert (made.action, made.paths) == (action, paths)


def test_several_steps_in_one_message_are_several_responses(tmp_path: Path) -> None:
    steps = [{"id": f"prt_{n}", "type": "step-finish", "tokens": {"input": n, "output": 1}} for n in (1, 2)]
    events = export(tmp_path, answer(*steps, tokens={"input": 2, "output": 1}))
    assert [(e.response_id, e.input) for e in of(events, Usage)] == [("msg_9", 1), ("prt_2", 2)]


@pytest.mark.parametrize(("total", "output"), [(15, 5), (19, 9), (None, 5)])
def test_reasoning_is_part_of_the_output(tmp_path: Path, total: int | None, output: int) -> None:
    tokens = {"input": 10, "output": 5, "reasoning": 4, "total": total}
    (usage,) = of(export(tmp_path, answer(tokens=tokens)), Usage)
    assert (usage.output, usage.reasoning) == (output, 4)


def test_a_request_that_never_came_back_is_no_response(tmp_path: Path) -> None:
    failed = answer(error={"name": "APIError", "data": {"message": "429"}}, modelID="other", tokens={"input": 0})
    events = export(tmp_path, asked("x"), answer({"type": "text", "text": "hi"}), failed)
    assert of(events, Usage) == []
    assert of(events, ModelChange) == []
    assert [e.reason for e in of(events, Interruption)] == ["error: APIError 429"]


def test_a_compaction_that_failed_is_none(tmp_path: Path) -> None:
    request = {"info": {"id": "msg_1", "role": "user"}, "parts": [{"type": "compaction", "auto": False}]}
    failed = answer(summary=True, error={"name": "MessageAbortedError"})
    events = export(tmp_path, request, failed)
    assert of(events, Compaction) == []
    assert events[-1].ignored == {"user/compaction": 1}  # type: ignore[union-attr]
    (done,) = of(export(tmp_path, request, answer({"type": "text", "text": "sum"}, summary=True)), Compaction)
    assert (done.trigger, done.summary) == ("manual", "sum")


def test_a_command_that_runs_as_a_subagent_is_no_request(tmp_path: Path) -> None:
    part = {
        "type": "subtask",
        "prompt": "You are a reviewer.",
        "description": "review",
        "agent": "x",
        "command": "review",
    }
    (said,) = of(export(tmp_path, {"info": {"id": "msg_1", "role": "user"}, "parts": [part]}), UserMessage)
    assert (said.origin, said.text) == ("command", "/review")


@pytest.mark.parametrize(
    ("revert", "inactive"),
    [
        ({"messageID": "msg_2"}, {"second", "two"}),
        ({"messageID": "msg_1b", "partID": "prt_b"}, {"b", "second", "two"}),
        ({"messageID": ""}, set()),
        (None, set()),
    ],
)
def test_what_was_reverted_is_inactive(tmp_path: Path, revert: Any, inactive: set[str]) -> None:
    parts = [{"id": f"prt_{name}", "type": "text", "text": name} for name in ("a", "b")]
    messages = [asked("first"), answer(*parts, identifier="msg_1b"), asked("second", "msg_2"),
                answer({"type": "text", "text": "two"}, identifier="msg_3")]  # fmt: skip
    events = export(tmp_path, *messages, revert=revert)
    said = of(events, UserMessage) + of(events, AssistantMessage)
    assert {e.text for e in said if not e.active} == inactive


def test_a_redacted_parent_still_makes_a_child(tmp_path: Path) -> None:
    start, *rest = export(tmp_path, asked("look"), parentID="REDACTED")
    assert isinstance(start, SessionStart)
    assert (start.parent_id, start.parent_kind) == ("", "subagent")
    assert [e.origin for e in of(rest, UserMessage)] == ["subagent"]


def test_unknown_kinds_are_counted(tmp_path: Path) -> None:
    inline = {"info": asked("x")["info"] | {"parts": [{"type": "text"}]}, "parts": []}
    robot = {"info": {"id": "msg_2", "role": "robot"}, "parts": [{"type": "text", "text": "x"}]}
    events = export(tmp_path, inline, robot, answer({"type": "hologram"}, {"type": "tool"}))
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("message with inline parts", "unknown_type"), ("message/robot", "unknown_type"), ("part/text", "bad_shape"),
        ("part/hologram", "unknown_type"), ("part/tool", "bad_shape"),
    ]  # fmt: skip
