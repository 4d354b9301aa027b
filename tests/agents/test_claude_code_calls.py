"""Claude Code's tool calls and how they ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_code_log import REJECTED, Log, of

from passdown.agents.claude_code.origins import notice_of
from passdown.model.session import ToolCall, ToolResult


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
            "<persisted-output>\nOutput too large (59.5KB). Full output saved to: /x.txt\n\nPreview (first 2KB):\nok",
            False,
            {"stdout": "ok", "stderr": "", "interrupted": False, "persistedOutputPath": "/x.txt"},
            ("ok", 0, ""),
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
