"""Tasks of Cline, Roo and Kilo, and sessions of Cline's newer store, from files of their known shapes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.cline import kilo, roo, sessions
from passdown.agents.cline.tools import ending
from passdown.agents.cline.words import answer_in
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
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
)
from passdown.sessions.read import recognise
from passdown.sessions.summary import summarize

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
TASK = next(FIXTURES.glob("cline/tasks/*/api_conversation_history.json"))
NEWER = next(FIXTURES.glob("cline/sessions/*/*.messages.json"))
ROO = next(FIXTURES.glob("roo/tasks/*/api_conversation_history.json"))
KILO = next(FIXTURES.glob("kilo/tasks/*/api_conversation_history.json"))


def events_of(path: Path, agent: str = "cline") -> list[AnyEvent]:
    module: Any = {"cline": sessions, "roo": roo, "kilo": kilo}[agent]
    return list(module.read(SessionRef(agent=agent, path=str(path), session_id="")))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def task(folder: Path, *messages: Any) -> list[AnyEvent]:
    path = folder / "api_conversation_history.json"
    path.write_text(json.dumps(list(messages)))
    return events_of(path)


def test_each_is_told_from_the_others_by_its_content() -> None:
    for path, agent in ((TASK, "cline"), (NEWER, "cline"), (ROO, "roo"), (KILO, "kilo")):
        assert recognise(path).id == agent
    assert recognise(TASK.with_name("ui_messages.json")).id == "cline"
    assert not sessions.recognise(b'[{"role": "user", "content": "hello"}]', "api_conversation_history.json")


def test_a_task_whose_calls_are_xml() -> None:
    events = events_of(TASK)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session_id, start.cwd, start.at) == ("1764300000000", "/work/shop", 1764300000000)
    assert [(e.text, e.origin) for e in of(events, UserMessage)] == [
        ("Limit the exports to ten.", "human"), ("Now the docs.", "human"),
        ("[TASK RESUMPTION] This task was interrupted 2 hours ago.", "injected"),
    ]  # fmt: skip
    assert [(e.text, e.reasoning) for e in of(events, AssistantMessage)] == [
        ("First the tests.", True), ("I will run them.", False), ("The exports are limited.", False),
    ]  # fmt: skip
    calls = of(events, ToolCall)
    assert [(e.tool, e.action, e.command, e.paths) for e in calls] == [
        ("execute_command", "run", "pytest -q", ()), ("write_to_file", "write", "", ("src/limits.py",)),
        ("attempt_completion", "other", "", ()),
    ]  # fmt: skip
    assert calls[1].arguments["content"] == 'LIMIT = "<path>"'
    assert [(e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)] == [
        ("failed", 1, ""), ("rejected", None, "Keep the old name."), ("ok", None, ""),
    ]  # fmt: skip
    assert [(item.text, item.status) for item in of(events, PlanUpdate)[0].items] == [
        ("look", "completed"), ("mend", "pending"),
    ]  # fmt: skip


def test_what_the_person_saw_adds_times_tokens_and_compactions() -> None:
    events = events_of(TASK)
    assert [(e.input, e.cache_read, e.cache_write, e.output, e.model) for e in of(events, Usage)] == [
        (10, 30, 40, 20, "claude-sonnet-4-5"), (11, 0, 0, 21, "claude-sonnet-4-5"),
        (12, 0, 0, 22, "claude-sonnet-4-5"),
    ]  # fmt: skip
    assert [(e.summary, e.tokens_before) for e in of(events, Compaction)] == [("So far: limits.", 9000)]
    assert [e.at for e in of(events, ToolCall)] == [1764300000100, 1764300000500, 1764300000800]
    assert events == events_of(TASK.with_name("ui_messages.json"))


def test_only_what_the_person_saw_is_left(tmp_path: Path) -> None:
    path = shutil.copy(TASK.with_name("ui_messages.json"), tmp_path / "ui_messages.json")
    events = events_of(Path(path))
    assert [e.text for e in of(events, UserMessage)] == [
        "Limit the exports to ten.", "Keep the old name.", "Now the docs.",
    ]  # fmt: skip
    assert [(e.action, e.command, e.paths) for e in of(events, ToolCall)] == [
        ("run", "pytest -q", ()), ("write", "", ("src/limits.py",)),
    ]  # fmt: skip
    assert len(of(events, Usage)) == 3


def test_roos_calls_summary_and_todo_list() -> None:
    events = events_of(ROO, "roo")
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.cwd, start.parent_kind) == ("/work/shop", "subagent")
    assert [(e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)] == [
        ("ok", 0, ""), ("ok", None, ""), ("rejected", None, "Not that file."),
    ]  # fmt: skip
    assert [item.status for item in of(events, PlanUpdate)[0].items] == ["completed", "in_progress", "pending"]
    assert [e.summary for e in of(events, Compaction)] == ["Summary: the field is half renamed."]
    assert [e.prompt for e in of(events, SubagentStart)] == ["Write the tests."]
    assert summarize(events).tokens_output == 16
    (kilos,) = of(events_of(KILO, "kilo"), UserMessage)
    assert (kilos.text, kilos.origin) == ("Say hello.", "human")
    assert events_of(KILO, "kilo")[0].cwd == r"c:\work\shop"  # type: ignore[union-attr]


def test_the_newer_store() -> None:
    events = events_of(NEWER)
    assert [(e.text, e.origin) for e in of(events, UserMessage)] == [("Fix the parser.", "human")]
    assert [(e.input, e.cache_read, e.output, e.context) for e in of(events, Usage)] == [(23800, 200, 90, 24000)]
    assert [e.command for e in of(events, ToolCall)] == ["make test\ngit status"]
    assert [e.outcome for e in of(events, ToolResult)] == ["failed"]


@pytest.mark.parametrize("base", [".config/Code", "Library/Application Support/Cursor", "AppData/Roaming/VSCodium"])
def test_tasks_are_found_in_every_editor(tmp_path: Path, base: str) -> None:
    for agent, extension in (("roo", "rooveterinaryinc.roo-cline"), ("cline", "saoudrizwan.claude-dev")):
        store = tmp_path / base / "User/globalStorage" / extension
        shutil.copytree(FIXTURES / agent / "tasks", store / "tasks")
    shutil.copytree(FIXTURES / "cline/sessions", tmp_path / ".cline/data/sessions")
    (found,) = roo.find(tmp_path)
    assert (found.cwd, found.title, found.parent_id[:8]) == ("/work/shop", "Rename the field.", "0198aaaa")
    assert {(ref.session_id, ref.cwd, ref.title) for ref in sessions.find(tmp_path)} == {
        ("1764300000000", "/work/shop", "Limit the exports to ten."), ("1764400000000_abcde", "/work/shop", "Parser"),
    }  # fmt: skip
    assert list(kilo.find(tmp_path)) == []


def test_clines_data_may_lie_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES / "cline/sessions", tmp_path / "d/sessions")
    monkeypatch.setenv("CLINE_DATA_DIR", str(tmp_path / "d"))
    assert [ref.session_id for ref in sessions.find(tmp_path / "nowhere")] == ["1764400000000_abcde"]


@pytest.mark.parametrize(
    ("text", "outcome", "code"),
    [
        ("Command executed.\nOutput:\nfine", "unknown", None),
        ("Command executed successfully (exit code 0).\nOutput:\n", "ok", 0),
        ("Command is still running in the user's terminal.\nHere's the output so far:\n", "running", None),
        ("Command timed out after 30 seconds.", "timeout", None),
        ("Command was interrupted by the user.", "interrupted", None),
        ("The tool execution failed with the following error:\n<error>\nno shell\n</error>", "failed", None),
        ("The user denied this operation.", "rejected", None),
    ],
)
def test_how_commands_end(text: str, outcome: str, code: int | None) -> None:
    assert ending("execute_command", text, failed=False)[:2] == (outcome, code)


def test_xml_that_is_no_call_stays_text() -> None:
    assert answer_in("Use <b>bold</b> and <read_file><path>a").text == "Use <b>bold</b> and <read_file><path>a"
    answer = answer_in("<apply_diff><path>a</path><diff>x</diff>y</diff></apply_diff> done")
    assert (answer.text, answer.calls[0].arguments["diff"]) == ("done", "x</diff>y")


def test_a_call_without_an_answer_and_what_is_not_known(tmp_path: Path) -> None:
    events = task(
        tmp_path, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read_file", "input": "x"}]},
        {"role": "user", "content": [{"type": "hologram"}]}, {"role": "robot"}, 7,
    )  # fmt: skip
    assert [e.arguments for e in of(events, ToolCall)] == [{"input": "x"}]
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("hologram", "unknown_type"), ("robot", "unknown_type"), ("message", "bad_shape"),
    ]  # fmt: skip


@pytest.mark.parametrize("path", [TASK, NEWER, ROO])
def test_a_file_that_is_cut_off_keeps_what_is_whole(tmp_path: Path, path: Path) -> None:
    copied = Path(shutil.copytree(path.parent, tmp_path / "t")) / path.name
    copied.write_bytes(path.read_bytes()[:-40])
    events, whole = events_of(copied), events_of(path)
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]
    assert of(events, ToolCall) == of(whole, ToolCall)[: len(of(events, ToolCall))]
    assert of(events, UserMessage)[0] == of(whole, UserMessage)[0]


READERS: list[tuple[Path, Callable[[SessionRef], Any]]] = [
    (TASK, sessions.read), (TASK.with_name("ui_messages.json"), sessions.read), (NEWER, sessions.read), (ROO, roo.read),
]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_nothing_in_a_file_raises(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    source, read = data.draw(st.sampled_from(READERS))
    whole = source.read_bytes()
    at, gone = data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, 40))
    put = data.draw(st.one_of(st.binary(max_size=20), st.sampled_from([b'"', b"[[", b"null", b"-1e999", b"{}"])))
    path = tmp_path_factory.mktemp("cline") / source.name
    path.write_bytes(whole[:at] + put + whole[at + gone :])
    sessions.recognise(path.read_bytes()[:4096], path.name)
    sessions.refer(path)
    events = list(read(SessionRef(agent="cline", path=str(path), session_id="")))
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)
