"""OpenHands' conversations: each rule of both generations in a small case."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from passdown.agents.openhands.sessions import find, read, recognise, refer
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
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.sessions.read import recognise as recognise_file
from passdown.sessions.summary import summarize

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "openhands"
STORE = FIXTURES / "store"
CONVERSATION = STORE / "conversations" / "dddd4444000040008000000000000001"
STATE = CONVERSATION / "base_state.json"
OLDER = FIXTURES / "before-the-sdk.json"


def events_of(path: Path, **options: Any) -> list[AnyEvent]:
    return list(read(SessionRef(agent="openhands", path=str(path), session_id=""), **options))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def lines(folder: Path, *rows: dict[str, Any]) -> list[AnyEvent]:
    """Write the events one a line, and read them."""
    path = folder / "events.jsonl"
    base = {"id": "00000000-0000", "timestamp": "2026-03-01T13:00:00.000000", "source": "agent"}
    path.write_text("".join(json.dumps(base | row) + "\n" for row in rows))
    return events_of(path)


def action(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"kind": "ActionEvent", "tool_name": tool, "tool_call_id": "c", "action": {"kind": "X", **arguments}}


def observed(**observation: Any) -> dict[str, Any]:
    return {"kind": "ObservationEvent", "tool_name": "terminal", "tool_call_id": "c", "observation": observation}


def test_a_folder_is_one_session() -> None:
    events = events_of(STATE)
    start, end = events[0], events[-1]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd) == ("dddd4444-0000-4000-8000-000000000001", "/home/dev/slug")
    assert start.at == 1772370000000
    assert isinstance(end, SessionEnd)
    files = sorted((CONVERSATION / "events").iterdir())
    assert (end.records, end.bytes) == (19, sum(file.stat().st_size for file in files))
    assert not of(events, Unknown)
    assert events_of(files[7]) == events  # any event stands for its conversation


def test_offsets_grow_from_event_to_event() -> None:
    offsets = [event.offset for event in events_of(STATE)[1:-2]]
    assert offsets == sorted(offsets)
    first = sorted((CONVERSATION / "events").iterdir())
    assert offsets[0] == sum(file.stat().st_size for file in first[:2])


def test_what_the_critic_sends_in_the_users_name_nobody_typed(tmp_path: Path) -> None:
    asks = "The task appears incomplete (iteration 1/3, predicted success likelihood: 37.8%).\n\nPlease review it."
    rows = [
        {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": text}}
        for text in ("hi", asks)
    ]
    assert [(event.text, event.origin) for event in of(lines(tmp_path, *rows), UserMessage)] == [
        ("hi", "human"),
        (asks, "injected"),
    ]


def test_who_wrote_a_message(tmp_path: Path) -> None:
    said = [(e.origin, e.text) for e in of(events_of(STATE), UserMessage)]
    assert said == [("human", "Fix the slug helpers."), ("hook", "From a hook."), ("injected", "A skill.")]
    put_in = {"kind": "MessageEvent", "source": "environment", "llm_message": {"role": "user", "content": "reminder"}}
    assert [e.origin for e in of(lines(tmp_path, put_in), UserMessage)] == ["injected"]


def test_calls_and_their_results() -> None:
    events = events_of(STATE)
    assert [(e.tool, e.action, e.command) for e in of(events, ToolCall)] == [
        ("file_editor", "read", ""), ("task_tracker", "plan", ""), ("terminal", "run", "pytest -q"),
        ("terminal", "run", "git push"), ("terminal", "run", "make slow"), ("nonsense", "other", ""),
        ("finish", "other", ""),
    ]  # fmt: skip
    assert [(e.call_id, e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)] == [
        ("o1", "ok", None, ""), ("o2", "ok", None, ""), ("o3", "failed", 1, ""), ("o4", "rejected", None, "not yet"),
        ("o5", "running", None, ""), ("o6", "failed", None, ""), ("o7", "ok", None, ""),
    ]  # fmt: skip
    assert next(e.cwd for e in of(events, ToolCall) if e.call_id == "o4") == "/home/dev/slug/tests"


@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        ({"content": [], "exit_code": 0}, ("ok", 0)),
        ({"output": "x", "exit_code": 2}, ("failed", 2)),
        ({"content": "x", "metadata": {"exit_code": 3}}, ("failed", 3)),
        ({"content": "x", "is_error": True, "exit_code": None, "metadata": {"exit_code": -1}}, ("failed", None)),
        ({"content": "x\n[The command timed out after 60 seconds.]", "exit_code": -1}, ("timeout", None)),
        ({"content": "x", "exit_code": -1, "metadata": {"suffix": "has no new output after 10"}}, ("running", None)),
        ({"content": "x", "exit_code": -1}, ("unknown", None)),
        ({"error": "no"}, ("failed", None)),
    ],
)
def test_how_a_command_ended(tmp_path: Path, observation: dict[str, Any], expected: tuple[str, int | None]) -> None:
    [result] = of(lines(tmp_path, action("terminal", command="make"), observed(**observation)), ToolResult)
    assert (result.outcome, result.exit_code) == expected


def test_input_for_a_running_command_is_no_command(tmp_path: Path) -> None:
    [call] = of(lines(tmp_path, action("terminal", command="C-c", is_input=True)), ToolCall)
    assert (call.action, call.command) == ("run", "")


def test_a_command_left_running_gets_its_end(tmp_path: Path) -> None:
    def of_call(row: dict[str, Any], call: str) -> dict[str, Any]:
        return row | {"tool_call_id": call}

    waiting = {"exit_code": -1, "content": "[The command has no new output after 10 seconds.]"}
    rows = [
        of_call(action("terminal", command="make slow"), "a"), of_call(observed(**waiting), "a"),
        of_call(action("terminal", command="", is_input=True), "b"), of_call(observed(**waiting), "b"),
        of_call(action("terminal", command="y", is_input=True), "c"), of_call(observed(exit_code=2), "c"),
        of_call(action("terminal", command="true"), "d"), of_call(observed(exit_code=0), "d"),
    ]  # fmt: skip
    results = [(e.call_id, e.outcome, e.exit_code) for e in of(lines(tmp_path, *rows), ToolResult)]
    assert results == [
        ("a", "running", None), ("b", "running", None), ("c", "ok", None), ("a", "failed", 2), ("d", "ok", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "expected"), [("view", "read"), ("create", "write"), ("str_replace", "edit"), ("undo_edit", "edit")]
)
def test_what_the_editor_does(tmp_path: Path, command: str, expected: str) -> None:
    [call] = of(lines(tmp_path, action("file_editor", command=command, path="/w/a.py")), ToolCall)
    assert (call.action, call.paths) == (expected, ("/w/a.py",))


def test_parallel_calls_are_one_response() -> None:
    usage = of(events_of(STATE), Usage)
    assert [e.response_id for e in usage] == ["resp-1", "resp-2", "resp-3", "resp-4", "resp-5", "resp-6", "side-1"]
    assert (usage[0].input, usage[0].cache_read, usage[0].cache_write, usage[0].context) == (850, 100, 50, 1000)
    assert usage[0].window == 128000
    assert usage[-1].agent_id  # the condenser's prompt is not the conversation's context
    assert summarize(events_of(STATE)).context_tokens == 6000


def test_running_totals_count_where_the_state_says_nothing(tmp_path: Path) -> None:
    def totals(prompt: int, read: int) -> dict[str, Any]:
        spent = {"prompt_tokens": prompt, "completion_tokens": 5, "cache_read_tokens": read}
        value = {"usage_to_metrics": {"default": {"model_name": "m", "accumulated_token_usage": spent}}}
        return {"kind": "ConversationStateUpdateEvent", "source": "environment", "key": "stats", "value": value}

    usage = of(lines(tmp_path, totals(100, 0), totals(100, 0), totals(300, 150)), Usage)
    assert [(e.input, e.cache_read, e.output, e.model) for e in usage] == [(100, 0, 5, "m"), (50, 150, 0, "m")]


def test_models_plans_compactions_and_interruptions(tmp_path: Path) -> None:
    events = events_of(STATE)
    assert [(e.previous, e.model) for e in of(events, ModelChange)] == [("openai/mock", "openai/other")]
    assert [e.items for e in of(events, PlanUpdate)] == [
        (PlanItem(text="Lower-case", status="completed"), PlanItem(text="Trim", status="in_progress"))
    ]
    assert [(e.summary, e.opaque) for e in of(events, Compaction)] == [("Helpers are fixed.", False)]
    assert [(e.during_tool, e.reason) for e in of(events, Interruption)] == [(False, "")]
    assert of(events, AssistantMessage)[-1].text == "All done."
    broken = {"kind": "ConversationErrorEvent", "code": "Limit", "detail": "out of credit"}
    assert [e.reason for e in of(lines(tmp_path, broken), Interruption)] == ["error: out of credit"]


def test_a_hooks_refusal_is_no_persons(tmp_path: Path) -> None:
    refused = {"kind": "UserRejectObservation", "tool_call_id": "c", "rejection_reason": "blocked"}
    rows = [action("terminal", command="x"), refused | {"rejection_source": "hook"}]
    assert [(e.outcome, e.reason) for e in of(lines(tmp_path, *rows), ToolResult)] == [("failed", "")]
    rows[1] = refused | {"rejection_reason": "User rejected the action"}
    assert [(e.outcome, e.reason) for e in of(lines(tmp_path, *rows), ToolResult)] == [("rejected", "")]


def test_where_it_works_is_learned_from_the_terminal(tmp_path: Path) -> None:
    rows = [action("terminal", command="x"), observed(exit_code=0, metadata={"working_dir": "/w"})]
    assert [e.cwd for e in of(lines(tmp_path, *rows, *rows), WorkspaceChange)] == ["/w"]


def test_other_agents_calls_and_delegations(tmp_path: Path) -> None:
    foreign = {"kind": "ACPToolCallEvent", "tool_call_id": "k", "title": "Read", "status": "failed", "content": "no"}
    rows = [foreign, action("task", prompt="Look.", subagent_type="explore"), {"kind": "NeverSeenEvent"}]
    events = lines(tmp_path, *rows)
    assert [(e.tool, e.action) for e in of(events, ToolCall)] == [("Read", "other"), ("task", "delegate")]
    assert [e.outcome for e in of(events, ToolResult)] == ["failed"]
    assert [(e.name, e.prompt) for e in of(events, SubagentStart)] == [("explore", "Look.")]
    assert [e.record for e in of(events, Unknown)] == ["NeverSeenEvent"]


def test_events_of_before_the_sdk() -> None:
    events = events_of(OLDER)
    assert [(e.origin, e.text) for e in of(events, UserMessage)] == [("human", "Fix it.")]
    assert [(e.tool, e.action, e.command) for e in of(events, ToolCall)] == [
        ("execute_bash", "run", "pytest -q"), ("execute_bash", "edit", ""),
    ]  # fmt: skip
    assert [(e.outcome, e.exit_code) for e in of(events, ToolResult)] == [("failed", 1), ("failed", None)]
    usage = of(events, Usage)
    assert [(e.input, e.cache_read, e.cache_write) for e in usage] == [(50, 30, 20), (50, 30, 20)]
    assert [e.summary for e in of(events, Compaction)] == ["Tests were run."]
    assert [e.text for e in of(events, AssistantMessage)] == ["The tests first.", "One test is red."]
    assert [e.cwd for e in of(events, WorkspaceChange)] == ["/workspace/slug"]
    assert not of(events, Unknown)
    assert OLDER.read_bytes()[of(events, ToolCall)[0].offset :].startswith(b'{\n  "id": 2')


def test_a_list_that_is_cut_off_keeps_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.json"
    path.write_bytes(OLDER.read_bytes()[:-400])
    events = events_of(path)
    assert len(of(events, ToolCall)) == 2
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]


def test_a_half_written_event_is_told(tmp_path: Path) -> None:
    shutil.copytree(CONVERSATION, tmp_path / "c")
    last = max((tmp_path / "c" / "events").iterdir())
    last.write_bytes(last.read_bytes()[:50])
    events = events_of(tmp_path / "c" / "base_state.json")
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]
    assert [e.reason for e in of(events_of(STATE, max_line=300), Unknown)].count("line_too_long") > 0


def test_numbers_with_more_digits_keep_their_order(tmp_path: Path) -> None:
    events = tmp_path / "c" / "events"
    events.mkdir(parents=True)
    numbers = (99_998, 99_999, 100_000, 100_001, 1_000_000)
    for number in reversed(numbers):
        message = {"role": "user", "content": [{"type": "text", "text": f"{number}"}]}
        event = {"id": f"00000000-{number}", "timestamp": "2026-03-01T10:00:00", "source": "user", "llm_message": message,
                 "kind": "MessageEvent"}  # fmt: skip
        (events / f"event-{number:05d}-00000000.json").write_text(json.dumps(event))
    ref = refer(events / "event-99998-00000000.json")
    assert ref is not None
    assert [e.text for e in of(list(read(ref)), UserMessage)] == [f"{number}" for number in numbers]


def test_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    shutil.copytree(STORE, home)
    (home / "conversations" / "empty" / "events").mkdir(parents=True)
    (home / "conversations" / "link").symlink_to(CONVERSATION)
    (home / "conversations" / "pipe" / "events").mkdir(parents=True)
    os.mkfifo(home / "conversations" / "pipe" / "events" / "event-00000-a.json")
    older = home / "sessions" / "abc" / "events"
    older.mkdir(parents=True)
    for event in json.loads(OLDER.read_text()):
        (older / f"{event['id']}.json").write_text(json.dumps(event))
    refs = {ref.session_id: ref for ref in find(home)}
    assert sorted(refs) == ["abc", "dddd4444-0000-4000-8000-000000000001"]
    ref = refs["dddd4444-0000-4000-8000-000000000001"]
    assert (ref.cwd, ref.title, ref.started_at) == ("/home/dev/slug", "Fix the slug helpers.", 1772370000000)
    assert Path(ref.path).name == "base_state.json"
    assert len(of(list(read(refs["abc"])), ToolCall)) == 2
    monkeypatch.setenv("OPENHANDS_CONVERSATIONS_DIR", str(home / "conversations"))
    assert [found.session_id for found in find(tmp_path / "nowhere")] == ["dddd4444-0000-4000-8000-000000000001"]


def test_recognise_goes_by_content(tmp_path: Path) -> None:
    for path in (STATE, OLDER, *(CONVERSATION / "events").iterdir()):
        assert recognise_file(path).id == "openhands"
    assert not recognise(b'{"id": "x", "timestamp": "2026", "source": "user"}', "event-00000-x.json")
    assert not recognise(b'[{"role": "user", "content": "hi"}]', "base_state.json")
    (tmp_path / "other.json").write_text("{}")
    assert refer(tmp_path / "other.json") is None
