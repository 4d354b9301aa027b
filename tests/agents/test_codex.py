"""Codex rollouts: each rule in a small session of its own, and damage."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.codex.sessions import find, read, recognise
from passdown.errors import UnsafeError
from passdown.model.session import (
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
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

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "codex"
OWN = "01a228c2-2194-7b00-8ff1-5d5acf7172e2"
PARENT = "01a228c2-1dd3-74d3-8e86-e500ddb367d8"
OLD_TURN = "01a228c2-1e65-7942-a751-b4985c9be19b"
NEW_TURN = "01a228c2-21f4-7670-a43a-96059eae3209"

Row = dict[str, Any]
Events = Callable[..., list[Any]]


def row(kind: str, payload: Row, second: float = 0) -> Row:
    stamp = f"2026-03-01T10:{int(second) // 60:02}:{second % 60:06.3f}Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def meta(identifier: str = OWN, **more: Any) -> Row:
    return row("session_meta", {"id": identifier, "cwd": "/w", "cli_version": "0.142.0", "source": "cli", **more})


def event(name: str, /, **payload: Any) -> Row:
    return row("event_msg", {"type": name, **payload})


def item(kind: str, **payload: Any) -> Row:
    return row("response_item", {"type": kind, **payload})


def said(role: str, text: str) -> Row:
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def prompt(text: str) -> list[Row]:
    return [said("user", text), event("user_message", message=text, images=[])]


def shell(call_id: str, command: str, output: Any) -> list[Row]:
    return [
        call(call_id, "exec_command", {"cmd": command}),
        item("function_call_output", call_id=call_id, output=output),
    ]


def call(call_id: str, name: str, arguments: Any) -> Row:
    return item("function_call", name=name, call_id=call_id, arguments=json.dumps(arguments))


def tokens(total: int, last: int, cached: int = 0) -> Row:
    def usage(number: int) -> Row:
        return {
            "input_tokens": number,
            "cached_input_tokens": cached,
            "output_tokens": 10,
            "reasoning_output_tokens": 4,
        }

    return event("token_count", info={"total_token_usage": usage(total), "last_token_usage": usage(last), "model_context_window": 900})  # fmt: skip


@pytest.fixture
def events(tmp_path: Path) -> Events:
    """Write rows (or raw lines) to a file and read it."""

    def run(*rows: Any, name: str = "session.jsonl", **options: Any) -> list[Any]:
        path = tmp_path / name
        lines = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in rows]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return list(read(SessionRef(agent="codex", path=str(path), session_id=""), **options))

    return run


def of(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


# --- the real client's own files -------------------------------------------------------------------------------------


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


# --- who said it -----------------------------------------------------------------------------------------------------


def test_a_prompt_is_counted_once_and_only_prompts_are(events: Events) -> None:
    found = events(
        meta(),
        said("developer", "<permissions instructions>…"),
        said("user", "# AGENTS.md instructions for /w"),
        said("user", "A text that some version puts in"),
        *prompt("Do it."),
        said("user", "<skill>\n<name>x</name></skill>"),
        said("assistant", "Done."),
        event("user_message", message="And this?", images=["data:…"], local_images=[]),
        said("user", "And this?"),
        said("assistant", "Yes."),
        said("user", "<user_shell_command>\nls\n</user_shell_command>"),
        event("entered_review_mode", target={"type": "uncommittedChanges"}, user_facing_hint="current changes"),
    )
    assert [(one.origin, one.text[:9]) for one in of(found, UserMessage)] == [
        ("injected", "<permissi"), ("injected", "# AGENTS."), ("injected", "A text th"), ("human", "Do it."),
        ("injected", "<skill>\n<"), ("human", "And this?"), ("shell", "<user_she"), ("command", "current c"),
    ]  # fmt: skip
    assert of(found, UserMessage)[5].images == 1
    assert [one.text for one in of(found, AssistantMessage)] == ["Done.", "Yes."]


def test_hooks_and_the_harness_are_told_by_their_marks(events: Events) -> None:
    def marked(role: str, text: str, kind: str) -> Row:
        one = said(role, text)
        one["payload"]["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": [kind]}
        return one

    done = {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "Fix it."}]}
    found = events(
        meta(history_mode="paginated"),
        marked("user", "whatever", "environments.environment_context"),
        marked("user", "Fix it.", "user.text"),
        event("item_completed", item=done),
        marked("developer", "from a hook", "hooks.additional_context"),
        event("item_completed", item={"type": "AgentMessage", "id": "a", "content": [{"type": "Text", "text": "Ok."}]}),
        said("assistant", "Ok."),
    )
    assert [one.origin for one in of(found, UserMessage)] == ["injected", "human", "hook"]
    assert len(of(found, AssistantMessage)) == 1


def test_answers_that_stand_in_events_only_are_read(events: Events) -> None:
    found = events(
        meta(), *prompt("Hello"), event("agent_message", message="One."), event("agent_message", message="Two.")
    )
    assert [one.text for one in of(found, AssistantMessage)] == ["One.", "Two."]


def test_an_editors_context_is_not_the_persons_words(events: Events) -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix a.py\n"
    assert of(events(meta(), *prompt(text)), UserMessage)[0].text == "Fix a.py"
    text = "\n# Review findings:\n\n## Finding 1 (a.py:1) [added]\n[P1] Bad\n\n## My request for Codex:\nCommit it\n"
    assert of(events(meta(), *prompt(text)), UserMessage)[0].text == "Commit it"


# --- results ---------------------------------------------------------------------------------------------------------

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


# --- the session's course --------------------------------------------------------------------------------------------


def test_usage_is_the_step_of_the_total(events: Events) -> None:
    found = events(
        meta(),
        row("turn_context", {"turn_id": "t", "cwd": "/w", "model": "gpt-5.5"}),
        event("token_count", info=None),
        tokens(100, 100, cached=40),
        tokens(100, 100, cached=40),
        tokens(250, 150, cached=90),
    )
    first, second = of(found, Usage)
    assert (first.input, first.cache_read, first.output, first.reasoning, first.context) == (60, 40, 10, 4, 100)
    assert (second.input, second.cache_read, second.context, second.window, second.model) == (
        100,
        50,
        150,
        900,
        "gpt-5.5",
    )


def test_a_usage_record_and_its_token_count_are_one_response(events: Events) -> None:
    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 10, "reasoning_output_tokens": 4}
    record = row("token_usage_record", {"response_id": "r1", "usage": usage, "thread_token_usage": usage})
    [only] = of(events(meta(), record, tokens(100, 100, cached=40), record), Usage)
    assert (only.response_id, only.input, only.cache_read) == ("r1", 60, 40)


def test_a_compaction_counts_once(events: Events) -> None:
    huge = {"message": "", "replacement_history": [{"type": "message", "content": [{"image_url": "data:" + "A" * 99}]}]}
    found = events(
        meta(),
        tokens(100, 100),
        row("compacted", huge),
        event("context_compacted"),
        event("item_completed", item={"type": "ContextCompaction", "id": "x"}),
        said("assistant", "On."),
        row("compacted", {"message": "So far: nothing."}),
        event("context_compacted"),
    )
    opaque, told = of(found, Compaction)
    assert (opaque.opaque, opaque.tokens_before) == (True, 100)
    assert (told.opaque, told.summary) == (False, "So far: nothing.")


def test_plans(events: Events) -> None:
    plan = {"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}, {"step": "c"}]}
    found = events(
        meta(),
        call("p", "update_plan", plan),
        event("item_completed", item={"type": "Plan", "id": "x", "text": "# Plan"}),
    )
    first, second = of(found, PlanUpdate)
    assert [(one.text, one.status) for one in first.items] == [
        ("a", "completed"),
        ("b", "in_progress"),
        ("c", "pending"),
    ]
    assert second.text == "# Plan"


def test_models_places_titles_and_interruptions(events: Events) -> None:
    found = events(
        meta(git={"branch": "main", "commit_hash": "1" * 40}),
        row("turn_context", {"cwd": "/w", "model": "a"}),
        call("c", "exec_command", {"cmd": "sleep 9"}),
        event("turn_aborted", reason="interrupted"),
        event("task_started", turn_id="t"),
        row("turn_context", {"cwd": "/w/sub", "model": "b"}),
        meta(cwd="/w/sub", git={"branch": "topic", "commit_hash": "2" * 40}),
        event("thread_name_updated", thread_name="Sleepless"),
        event("turn_aborted", reason="replaced"),
    )
    assert (found[0].branch, found[0].commit) == ("main", "1" * 40)
    assert [(one.previous, one.model) for one in of(found, ModelChange)] == [("a", "b")]
    assert [(one.cwd, one.branch) for one in of(found, WorkspaceChange)] == [("/w/sub", ""), ("", "topic")]
    assert [(one.during_tool, one.reason) for one in of(found, Interruption)] == [(True, ""), (False, "replaced")]
    assert of(found, Title)[0].title == "Sleepless"
    assert len(of(found, SessionStart)) == 1


@pytest.mark.parametrize("told", ["call", "event", "both", "activity"])
def test_a_subagent_starts_once_however_it_is_told(events: Events, told: str) -> None:
    rows = [call("s", "spawn_agent", {"message": "Look."})]
    if told in ("event", "both"):
        rows.append(event("collab_agent_spawn_end", call_id="s", new_thread_id="child-1", prompt="Look."))
    if told == "activity":
        rows.append(
            event("sub_agent_activity", kind="started", event_id="s", agent_thread_id="child-1", agent_path="/r")
        )
    if told != "event":
        rows.append(item("function_call_output", call_id="s", output='{"agent_id":"child-1","nickname":"Ada"}'))
    [start] = of(events(meta(), *rows), SubagentStart)
    assert (start.child_id, start.prompt, start.call_id) == ("child-1", "Look.", "s")


def test_a_subagent_that_did_not_start(events: Events) -> None:
    rows = [call("s", "spawn_agent", {"message": "x"}), item("function_call_output", call_id="s", output="collab spawn failed: no")]  # fmt: skip
    assert not of(events(meta(), *rows), SubagentStart)


def test_rolled_back_turns_are_not_active(events: Events) -> None:
    found = events(
        meta(), *prompt("One"), said("assistant", "1"), *prompt("Two"), said("assistant", "2"),
        *prompt("Three"), said("assistant", "3"), event("thread_rolled_back", num_turns=2),
        *prompt("Four"), said("assistant", "4"),
    )  # fmt: skip
    spoken = [(one.text, one.active) for one in found if isinstance(one, UserMessage | AssistantMessage)]
    assert spoken == [
        ("One", True), ("1", True), ("Two", False), ("2", False), ("Three", False), ("3", False), ("Four", True),
        ("4", True),
    ]  # fmt: skip
    assert summarize(found).rewound == 4


def test_rolling_back_more_than_there_is(events: Events) -> None:
    found = events(
        meta(), *prompt("One"), event("thread_rolled_back", num_turns=9), event("thread_rolled_back", num_turns=1)
    )
    assert [one.active for one in of(found, UserMessage)] == [False]


# --- copied history --------------------------------------------------------------------------------------------------


def forked(turn_of_parent: str, turn_of_child: str, identifier: str = OWN, pause: float = 0) -> list[Row]:
    return [
        meta(identifier, forked_from_id=PARENT),
        meta(PARENT, cwd="/elsewhere"),
        event("task_started", turn_id=turn_of_parent),
        row("turn_context", {"turn_id": turn_of_parent, "cwd": "/elsewhere", "model": "a"}),
        *prompt("Old"),
        said("assistant", "Old answer"),
        tokens(100, 100),
        row("event_msg", {"type": "task_started", "turn_id": turn_of_child}, pause),
        row("turn_context", {"turn_id": turn_of_child, "cwd": "/w", "model": "b"}, pause),
        *[one | {"timestamp": row("", {}, pause)["timestamp"]} for one in [*prompt("New"), tokens(150, 50)]],
    ]


def check_forked(found: list[Any]) -> None:
    assert (found[0].parent_id, found[0].parent_kind) == (PARENT, "fork")
    assert [(one.text, one.copied) for one in of(found, UserMessage)] == [("Old", True), ("New", False)]
    assert [(one.input, one.copied, one.model) for one in of(found, Usage)] == [(100, True, "a"), (50, False, "b")]
    assert not of([one for one in found if not one.copied], ModelChange)


def test_a_fork_by_the_time_in_its_turns_ids(events: Events) -> None:
    check_forked(events(*forked(OLD_TURN, NEW_TURN)))


def test_a_fork_by_its_parents_turns(events: Events, tmp_path: Path) -> None:
    parent = tmp_path / f"rollout-2026-03-01T09-00-00-{PARENT}.jsonl"
    parent.write_text(json.dumps(row("turn_context", {"turn_id": "turn-1"})) + "\n")
    check_forked(events(*forked("turn-1", "turn-2", "fork-0001")))


def test_a_fork_by_the_pause_after_copying(events: Events) -> None:
    check_forked(events(*forked("turn-1", "turn-2", "fork-0001", pause=9)))


def test_a_resumed_session_owns_all_its_rows(events: Events) -> None:
    found = events(meta(), *prompt("One"), meta(), event("task_started", turn_id=NEW_TURN), *prompt("Two"))
    assert not [one for one in found if one.copied]
    assert len(of(found, UserMessage)) == 2


# --- the store -------------------------------------------------------------------------------------------------------


def store(home: Path, name: str, *rows: Row, compressed: bool = False, folder: str = "sessions/2026/03/01") -> Path:
    path = home / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(json.dumps(one).encode() + b"\n" for one in rows)
    path.write_bytes(zstd.compress(data) if compressed else data)
    return path


def test_find(tmp_path: Path) -> None:
    identifiers = [f"01a228c2-2194-7b00-8ff1-{number:012}" for number in range(5)]
    names = [f"rollout-2026-03-01T10-00-00-{identifier}.jsonl" for identifier in identifiers]
    long = {"text": "x" * (100 << 10)}
    plain = store(tmp_path, names[0], meta(identifiers[0], git={"branch": "main"}, timestamp="2026-03-01T10:00:00.000Z"),
                  *[said("assistant", "x" * 999)] * 200, event("thread_name_updated", thread_name="Late name"))  # fmt: skip
    store(tmp_path, names[0] + ".zst", meta("wrong-copy-0"), compressed=True)
    packed = store(tmp_path, names[1] + ".zst", meta(identifiers[1]), compressed=True)
    archived = store(tmp_path, names[2], meta(identifiers[2], base_instructions=long), folder="archived_sessions")
    broken = store(tmp_path, names[3] + ".zst", meta(identifiers[3]))
    (tmp_path / "sessions/2026/03/01" / names[4]).symlink_to(plain)
    (tmp_path / "sessions" / "notes.jsonl").write_text("{}")
    for age, path in enumerate([plain, packed, archived, broken]):
        os.utime(path, (1_000_000_000 - age, 1_000_000_000 - age))
    refs = list(find(tmp_path))
    assert [ref.path for ref in refs] == [str(plain), str(packed), str(archived)]
    assert [ref.session_id for ref in refs] == identifiers[:3]
    first = refs[0]
    assert (first.title, first.branch, first.cwd, first.started_at) == ("Late name", "main", "/w", 1772359200000)
    assert (first.bytes, first.modified_at) == (plain.stat().st_size, 1_000_000_000_000)
    assert refs[2].cwd == "/w"
    assert [read(ref).__next__().session_id for ref in refs] == identifiers[:3]
    assert list(find(tmp_path / "nowhere")) == []


def test_a_rollout_compressed_meanwhile_is_found(tmp_path: Path) -> None:
    plain = store(tmp_path, f"rollout-2026-03-01T10-00-00-{OWN}.jsonl", meta(), *prompt("Hi"))
    [ref] = find(tmp_path)
    plain.with_name(plain.name + ".zst").write_bytes(zstd.compress(plain.read_bytes()))
    expected = list(read(ref))
    plain.unlink()
    assert list(read(ref)) == expected
    plain.with_name(plain.name + ".zst").unlink()
    with pytest.raises(FileNotFoundError):
        list(read(ref))


def test_compressed_and_rolled_back(tmp_path: Path) -> None:
    rows = [meta(), *prompt("One"), event("thread_rolled_back", num_turns=1)]
    path = store(tmp_path, "a.jsonl.zst", *rows, compressed=True)
    found = list(read(SessionRef(agent="codex", path=str(path), session_id="")))
    assert [one.active for one in of(found, UserMessage)] == [False]


def test_a_compressed_file_cut_short(tmp_path: Path) -> None:
    data = b"".join(json.dumps(one).encode() + b"\n" for one in [meta(), *prompt("Hi") * 5000])
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstd.compress(data)[:-40])
    found = list(read(SessionRef(agent="codex", path=str(path), session_id="")))
    assert isinstance(found[0], SessionStart)
    assert of(found, Unknown)[-1].reason == "torn_line"
    path.write_bytes(b"no such thing")
    assert [type(one) for one in read(SessionRef(agent="codex", path=str(path), session_id="x"))] == [
        SessionStart, Unknown, SessionEnd,
    ]  # fmt: skip


def test_links_are_refused(tmp_path: Path) -> None:
    path = store(tmp_path, "a.jsonl", meta())
    (tmp_path / "link.jsonl").symlink_to(path)
    with pytest.raises(UnsafeError):
        list(read(SessionRef(agent="codex", path=str(tmp_path / "link.jsonl"), session_id="")))


def test_recognise() -> None:
    def line(one: Row) -> bytes:
        return json.dumps(one).encode() + b"\n"

    assert recognise(line(meta()), "anything.txt")
    assert recognise(b"\xef\xbb\xbf" + line(meta()), "")
    assert recognise(line(meta(base_instructions="x" * (70 << 10)))[: 64 << 10], "")
    assert recognise(b"not json\n" + line(said("user", "x")), "")
    assert not recognise(
        line({"type": "user", "sessionId": "x", "message": {"role": "user", "content": "x"}}), "rollout-x.jsonl"
    )
    assert not recognise(line({"type": "session", "id": "x", "cwd": "/w"}), "")
    assert not recognise(b"", "rollout.jsonl")


# --- damage ----------------------------------------------------------------------------------------------------------


def test_damage(events: Events) -> None:
    first, second = (json.dumps(one).encode() for one in prompt("Hi"))
    found = events(
        b"\xef\xbb\xbf" + json.dumps(meta()).encode(),
        first + second,  # two records on one line
        b"\x00\x00\x00" + json.dumps(said("assistant", "After zeros")).encode(),
        json.dumps(said("assistant", "A\u2028B\u0085C"), ensure_ascii=False).encode(),
        json.dumps(said("assistant", "broken \ud800 pair")).encode(),
        json.dumps(said("assistant", "bad bytes Q")).encode().replace(b"Q", b"\xff"),
        b"{ not json",
        b"",
        b"[" * 50_000,
        json.dumps(row("wholly_new", {"type": "x"})).encode(),
        json.dumps(event("wholly_new_event")).encode(),
        json.dumps(item("message", role=7, content=3)).encode(),
        json.dumps(said("assistant", "x" * 5000)).encode(),
        json.dumps(row("event_msg", {"type": "thread_name_updated", "thread_name": "n"}) | {"timestamp": "long ago"}).encode(),
        json.dumps(said("assistant", "cut off")).encode()[:-9],
        max_line=60_000,
    )  # fmt: skip
    assert [one.text for one in of(found, UserMessage)] == ["Hi"]
    assert [one.text[:11] for one in of(found, AssistantMessage)] == [
        "After zeros", "A\u2028B\u0085C", "broken \ufffd pa", "bad bytes \ufffd", "xxxxxxxxxxx",
    ]  # fmt: skip
    unknown = [(one.reason, one.record) for one in of(found, Unknown)]
    assert unknown == [
        ("bad_json", ""), ("bad_json", ""), ("unknown_type", "wholly_new"), ("unknown_type", "event_msg/wholly_new_event"),
        ("bad_shape", "response_item/message"), ("bad_json", ""),
    ]  # fmt: skip
    assert of(found, Title)[0].at is None
    assert found[-1].records == 14


def test_a_torn_last_line_and_a_line_over_the_cap(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [json.dumps(one).encode() for one in [meta(), said("assistant", "x" * 9000), said("assistant", "y")]]
    path.write_bytes(b"\n".join(lines)[:-5])
    ref = SessionRef(agent="codex", path=str(path), session_id="")
    found = list(read(ref, max_line=2000))
    assert [(one.reason, one.line) for one in of(found, Unknown)] == [("line_too_long", 2), ("torn_line", 3)]
    assert (found[-1].records, found[-1].bytes) == (3, path.stat().st_size)
    path.write_bytes(b"\n".join(lines))
    assert not of(list(read(ref)), Unknown)


def test_damage_before_the_header_comes_after_the_start(events: Events) -> None:
    found = events(b"{ broken", meta(), said("assistant", "x"))
    assert [type(one) for one in found[:2]] == [SessionStart, Unknown]
    assert found[0].session_id == OWN


def test_a_file_without_a_header_takes_its_id_from_its_name(events: Events) -> None:
    found = events(said("assistant", "x"), name=f"rollout-2026-03-01T10-00-00-{OWN}.jsonl")
    assert found[0].session_id == OWN
    assert [type(one) for one in events(name="empty.jsonl")] == [SessionStart, SessionEnd]


def test_a_clock_that_goes_backwards_changes_no_order(events: Events) -> None:
    found = events(meta(), said("assistant", "a") | {"timestamp": "2026-03-01T12:00:00.000Z"}, said("assistant", "b"))
    assert [one.text for one in of(found, AssistantMessage)] == ["a", "b"]


# --- anything at all -------------------------------------------------------------------------------------------------

SAMPLE = b"".join(path.read_bytes() for path in sorted(FIXTURES.glob("*.jsonl")))
LINES = SAMPLE.splitlines()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


def check_stream(path: Path) -> None:
    found = list(read(SessionRef(agent="codex", path=str(path), session_id="x")))
    assert isinstance(found[0], SessionStart)
    assert isinstance(found[-1], SessionEnd)
    assert found[-1].bytes == path.stat().st_size
    assert sum(isinstance(one, SessionStart | SessionEnd) for one in found) == 2
    summarize(found)
    recognise(path.read_bytes()[: 64 << 10], "")


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400) | st.lists(st.sampled_from(LINES), max_size=5).map(b"\n".join))
def test_any_bytes_are_read(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(data)
    check_stream(path)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_any_mutation_is_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=12))
    mutated = []
    for line in lines:
        one = json.loads(line)
        target = one["payload"] if isinstance(one.get("payload"), dict) and data.draw(st.booleans()) else one
        key = data.draw(st.sampled_from(sorted(target)))
        target[key] = data.draw(JSON)
        mutated.append(json.dumps(one).encode())
    path = tmp_path_factory.getbasetemp() / "mutated.jsonl"
    path.write_bytes(b"\n".join(mutated)[: data.draw(st.integers(0, 99_999))])
    check_stream(path)


def test_the_fixtures_lie_in_a_store_as_codex_keeps_them(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "11" / "29"
    folder.mkdir(parents=True)
    for name, identifier in (("parent", PARENT), ("child", OWN)):
        shutil.copyfile(FIXTURES / f"real-0.171-code-mode-{name}.jsonl", folder / f"rollout-2026-11-29T19-22-20-{identifier}.jsonl")  # fmt: skip
    refs = {ref.session_id: ref for ref in find(tmp_path)}
    assert refs[OWN].parent_id == PARENT
    assert summarize(read(refs[OWN])).tool_calls == 1


def test_an_unknown_kind_of_item_is_said_to_be_unknown(events: Events) -> None:
    found = events(meta(), event("item_completed", item={"type": "Telepathy", "id": "x"}))
    assert [(one.reason, one.record) for one in of(found, Unknown)] == [("unknown_type", "item_completed/Telepathy")]


def test_an_answers_event_before_a_prompt_and_its_item(events: Events) -> None:
    found = events(meta(), event("agent_message", message="A"), said("user", "Hm"), said("assistant", "A"))
    assert [one.text for one in found if isinstance(one, UserMessage | AssistantMessage)] == ["Hm", "A"]
