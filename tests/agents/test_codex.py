"""Codex rollouts of the real client, whole."""

from __future__ import annotations

from typing import Any

from codex_rows import FIXTURES, OWN, PARENT, of

from passdown.agents.codex.sessions import read, recognise
from passdown.model.session import SessionRef, SubagentStart, ToolCall, ToolResult, Usage, UserMessage, WorkspaceChange
from passdown.sessions.summary import summarize


def load(name: str) -> list[Any]:
    return list(read(SessionRef(agent="codex", path=str(FIXTURES / name), session_id="")))


def test_a_real_session_with_a_background_command_and_a_resume() -> None:
    found = load("real-0.171-background-and-resume.jsonl")
    assert [message.text for message in of(found, UserMessage) if message.origin == "human"] == [
        "Fix src/slug.py.",
        "Go on, please.",
    ]
    results = [(result.outcome, result.exit_code) for result in of(found, ToolResult)]
    assert results == [("failed", None), ("failed", 1), ("running", None), ("failed", 3)]
    started, polled = of(found, ToolCall)[2:]
    assert polled.tool == "write_stdin"
    assert polled.command == started.command == "sleep 2; echo done; exit 3"
    assert len(of(found, Usage)) == 6
    assert summarize(found).tokens_input == 64409 - 32202


def test_code_mode_takes_commands_and_patches_from_the_items() -> None:
    found = load("real-0.171-code-mode-parent.jsonl")
    inner = [(one.tool, one.action, one.command, one.paths) for one in of(found, ToolCall) if one.call_id[:4] == "exec"]
    assert inner == [
        ("apply_patch", "write", "", ("/home/dev/slug/notes.md",)),
        ("exec_command", "run", "cat notes.md; exit 4", ()),
    ]
    outcomes = {result.call_id[:4]: result.exit_code for result in of(found, ToolResult)}
    assert outcomes["exec"] == 4
    assert [result.outcome for result in of(found, ToolResult)].count("failed") == 2  # the command, and the bad patch
    [start] = of(found, SubagentStart)
    assert (start.child_id, start.name, start.prompt) == (
        OWN,
        "/".join(("", "root", "review")),
        "Review notes.md and say ok.",
    )


def test_a_subagents_copied_history_is_not_its_own() -> None:
    found = load("real-0.171-code-mode-child.jsonl")
    start = found[0]
    assert (start.session_id, start.parent_id, start.parent_kind) == (OWN, PARENT, "subagent")
    assert {event.line for event in found if event.copied} <= set(range(2, 28))
    own = [event for event in found if not event.copied]
    assert [one.tool for one in of(own, ToolCall)] == ["wait_agent"]
    summary = summarize(found)
    assert (summary.human_messages, summary.other_user_messages["subagent"]) == (0, 1)
    assert (summary.responses, summary.tokens_input) == (1, 17386 - 8693)


def test_bare_items_of_the_oldest_files() -> None:
    found = load("handmade-0.31-bare-items.jsonl")
    assert [message.text for message in of(found, UserMessage) if message.origin == "human"] == [
        "Fix the tests.",
        "Commit it.",
    ]
    assert found[0].branch == "main"
    assert of(found, WorkspaceChange)[0].cwd == "/home/dev/slug"
    first, second = of(found, ToolCall)
    assert (first.action, first.command) == ("run", "pytest -q")
    assert (second.action, second.paths) == ("edit", ("src/slug.py",))
    result = of(found, ToolResult)[0]
    assert (result.outcome, result.exit_code, result.text) == ("failed", 1, "1 failed\n")
    assert recognise((FIXTURES / "handmade-0.31-bare-items.jsonl").read_bytes(), "")
