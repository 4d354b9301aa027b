"""Codex's tool calls, patches, and how they ended."""

from __future__ import annotations

from typing import Any

import pytest
from codex_rows import Events, call, event, item, meta, of, shell

from passdown.model.session import ToolCall, ToolResult

EXEC = "Chunk ID: 1\nWall time: 1.5000 seconds\n"


@pytest.mark.parametrize(
    ("output", "outcome", "code"),
    [
        (EXEC + "Process exited with code 0\nOriginal token count: 1\nOutput:\nExit code: 3\n", "ok", 0),
        (EXEC + "Process exited with code 2\nOutput:\n", "failed", 2),
        (EXEC + "Process running with session ID 77\nOutput:\n", "running", None),
        ("Wall time: 1.5000 seconds\naborted by user", "interrupted", None),
        ("aborted by user after 3.0s", "interrupted", None),
        ("Exit code: 1\nWall time: 1.5 seconds\nTotal output lines: 9\nOutput:\nx", "failed", 1),
        ("Exit code: 124\nWall time: 10 seconds\nOutput:\ncommand timed out after 10000 milliseconds\n", "timeout", 124),
        ("Exit code: 124\nWall time: 10 seconds\nOutput:\nmine", "failed", 124),
        ('{"output":"no\\n","metadata":{"exit_code":127,"duration_seconds":1.5}}', "failed", 127),
        ([{"type": "input_text", "text": "Exit code: 0\nWall time: 1.5 seconds\nOutput:\n"}], "ok", 0),
        ("exec command rejected by user", "rejected", None),
        ("exec_command failed: Rejected(\"rejected by user\")", "rejected", None),
        ("exec_command failed for `x`: CreateProcess { message: \"No such file\" }", "failed", None),
        ({"content": "went wrong", "success": False}, "failed", None),
        ("unsupported call: exec_command", "failed", None),
        ("something else", "unknown", None),
        (None, "unknown", None),
    ],
)  # fmt: skip
def test_outcomes(events: Events, output: Any, outcome: str, code: int | None) -> None:
    [result] = of(events(meta(), *shell("c", "make", output)), ToolResult)
    assert (result.outcome, result.exit_code) == (outcome, code)
    if "1.5" in str(output):
        assert result.duration_ms == 1500


def test_a_persons_reason_is_kept(events: Events) -> None:
    [result] = of(events(meta(), *shell("c", "rm x", "exec command rejected by user: not that one")), ToolResult)
    assert (result.outcome, result.reason) == ("rejected", "not that one")


def test_patches(events: Events) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+*** Add File: no.py\n*** Delete File: c.py\n*** End Patch"
    found = events(
        meta(),
        item("custom_tool_call", name="apply_patch", call_id="1", input=patch),
        event("patch_apply_end", call_id="1", success=True, changes={"/w/a.py": {"type": "update"}}),
        item("custom_tool_call_output", call_id="1", output='{"output":"Success.","metadata":{"exit_code":0}}'),
        item("custom_tool_call", name="apply_patch", call_id="2", input="*** Begin Patch\n*** Add File: n.py\n+x\n*** End Patch"),
        item("custom_tool_call_output", call_id="2", output="apply_patch verification failed: no"),
        *shell("3", f"cd src && apply_patch <<'EOF'\n{patch}\nEOF", "Exit code: 0\nWall time: 0 seconds\nOutput:\n"),
        *shell("4", "cat <<'EOF'\n*** Begin Patch\nEOF", "Exit code: 0\nWall time: 0 seconds\nOutput:\n"),
    )  # fmt: skip
    one, two, three, four = of(found, ToolCall)
    assert (one.action, one.paths) == ("edit", ("a.py", "b.py", "c.py"))
    assert (two.action, two.paths) == ("write", ("n.py",))
    assert (three.action, three.paths, three.command) == ("edit", ("a.py", "b.py", "c.py"), "")
    assert four.action == "run"
    first, second = of(found, ToolResult)[:2]
    assert (first.outcome, first.paths, second.outcome) == ("ok", ("/w/a.py",), "failed")


def test_numbers_of_event_rows_win_and_count_once(events: Events) -> None:
    found = events(
        meta(),
        call("a", "exec_command", {"cmd": "make"}),
        event("exec_command_end", call_id="a", exit_code=2, duration={"secs": 1, "nanos": 500000000}, status="failed"),
        item("function_call_output", call_id="a", output="trimmed"),
        *shell("b", "sleep 9", EXEC + "Process running with session ID 5\nOutput:\n"),
        event("exec_command_end", call_id="b", exit_code=1, status="failed"),
        call("c", "write_stdin", {"session_id": 5, "chars": ""}),
        item("function_call_output", call_id="c", output=EXEC + "Process exited with code 1\nOutput:\n"),
        *shell("d", "sleep 8", EXEC + "Process running with session ID 6\nOutput:\n"),
        event("exec_command_end", call_id="d", exit_code=0, status="completed"),
        call("e", "_fetch", {"n": 1}),
        event("mcp_tool_call_end", call_id="e", result={"Ok": {"content": [], "isError": True}}),
        item("function_call_output", call_id="e", output="Wall time: 0.5 seconds\nOutput:\nno"),
    )
    results = [(result.call_id, result.outcome, result.exit_code) for result in of(found, ToolResult)]
    assert results == [
        ("a", "failed", 2), ("b", "running", None), ("c", "failed", 1), ("d", "running", None), ("e", "failed", None),
        ("d", "ok", 0),
    ]  # fmt: skip
    assert of(found, ToolResult)[0].duration_ms == 1500
    assert of(found, ToolCall)[2].command == "sleep 9"


def test_scripts_without_items_still_tell_their_literal_commands(events: Events) -> None:
    source = 'const r = await tools.exec_command({cmd: "pytest -q \\"a b\\"", workdir: "/w"}); text(r);'
    found = events(
        meta(),
        item("custom_tool_call", name="exec", call_id="s", input=source),
        item("custom_tool_call_output", call_id="s", output='Script completed\nWall time 1.0 seconds\nOutput:\n{"exit_code":1,"output":"x"}'),
    )  # fmt: skip
    inner = of(found, ToolCall)[1]
    assert (inner.action, inner.command) == ("run", 'pytest -q "a b"')
    assert [(result.outcome, result.exit_code) for result in of(found, ToolResult)] == [("failed", 1), ("ok", None)]


def test_other_tools(events: Events) -> None:
    found = events(
        meta(),
        item("web_search_call", status="completed", action={"type": "search", "query": "x"}),
        item("local_shell_call", call_id="l", status="completed", action={"type": "exec", "command": ["ls", "a b"]}),
        call("v", "view_image", {"path": "/w/a.png"}),
        call("q", "request_user_input", {"questions": []}),
        item("tool_search_call", call_id="t", arguments={"query": "x"}),
        item("tool_search_output", call_id="t", status="completed", tools=[]),
        call("m", "_get", {}) | {"payload": {"type": "function_call", "name": "_get", "namespace": "mcp__x", "call_id": "m"}},
    )  # fmt: skip
    actions = [(one.tool, one.action) for one in of(found, ToolCall)]
    assert actions == [
        ("web_search", "web"), ("local_shell_call", "run"), ("view_image", "read"), ("request_user_input", "ask"),
        ("tool_search", "other"), ("mcp__x.get", "other"),
    ]  # fmt: skip
    assert of(found, ToolCall)[1].command == "ls 'a b'"
    assert of(found, ToolCall)[2].paths == ("/w/a.png",)
