"""Amp's threads, from documents of their known shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.amp.sessions import find, read, recognise, refer
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
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
from passdown.sessions.summary import summarize

STORE = Path(__file__).resolve().parent.parent / "fixtures" / "amp"
THREAD = next(STORE.glob("threads/*.json"))


def events_of(path: Path) -> list[AnyEvent]:
    return list(read(SessionRef(agent="amp", path=str(path), session_id="")))


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def thread(folder: Path, *messages: Any, **around: Any) -> list[AnyEvent]:
    path = folder / "T-1.json"
    path.write_text(json.dumps({"id": "T-1", "created": 1764300000000, **around, "messages": list(messages)}))
    return events_of(path)


def test_the_thread_is_found_by_its_ends() -> None:
    (ref,) = find(STORE)
    assert (ref.session_id, ref.cwd) == ("T-11111111-2222-3333-4444-555555555555", "/work/my shop")
    assert (ref.started_at, ref.title) == (1764300000000, "Limit the exports")
    assert recognise(THREAD.read_bytes()[:4096], "any.name")
    assert not recognise(b'{"id": "1", "messages": []}', "T-1.json")


def test_who_said_what_and_what_came_of_it() -> None:
    events = events_of(THREAD)
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.cwd, start.branch, start.agent_version) == ("/work/my shop", "feat/limit", "0.0.1764288000")
    assert [(e.text, e.images) for e in of(events, UserMessage)] == [
        ("Limit the exports to ten.", 1), ("Stop, that is enough.", 0),
    ]  # fmt: skip
    assert [(e.text, e.reasoning) for e in of(events, AssistantMessage)] == [
        ("First the tests.", True), ("I will run the tests.", False),
    ]  # fmt: skip
    assert [(e.action, e.command, e.paths) for e in of(events, ToolCall)][:2] == [
        ("run", "pytest -q", ()), ("edit", "", ("/work/my shop/src/limits.py",)),
    ]  # fmt: skip
    assert [(e.outcome, e.exit_code, e.reason) for e in of(events, ToolResult)] == [
        ("failed", 1, ""), ("rejected", None, "Not in this file."), ("ok", None, ""), ("failed", None, ""),
        ("interrupted", None, ""),
    ]  # fmt: skip
    assert [(e.input, e.cache_read, e.cache_write, e.output, e.context) for e in of(events, Usage)] == [
        (10, 40, 30, 20, 80), (5, 70, 0, 6, 75),
    ]  # fmt: skip
    assert [e.model for e in of(events, ModelChange)] == ["gpt-5.1"]
    assert [item.status for item in of(events, PlanUpdate)[-1].items] == ["completed", "in_progress"]
    assert [e.prompt for e in of(events, SubagentStart)] == ["Find the caller."]
    assert [e.summary for e in of(events, Compaction)] == ["We limited the exports."]
    assert [e.during_tool for e in of(events, Interruption)] == [True]
    end = events[-1]
    assert isinstance(end, SessionEnd)
    assert (end.records, end.bytes) == (8, THREAD.stat().st_size)


def test_a_ledger_counts_instead_of_the_messages(tmp_path: Path) -> None:
    usage = {"model": "m", "inputTokens": 99, "outputTokens": 99, "cacheCreationInputTokens": 3}
    events = thread(
        tmp_path, {"role": "assistant", "messageId": 2, "content": "Hello.", "usage": usage},
        usageLedger={"events": [{"toMessageId": 2, "tokens": {"input": 2, "output": 5}}, "broken", {"toMessageId": []}]},
    )  # fmt: skip
    assert [(e.input, e.cache_write, e.output) for e in of(events, Usage)] == [(2, 3, 5)]


def test_a_command_whose_end_is_not_said(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"cmd": "make"}}
    back = {"type": "tool_result", "toolUseID": "a", "run": {"status": "done", "result": "made"}}
    events = thread(tmp_path, {"role": "assistant", "content": [call]}, {"role": "user", "content": [back]})
    assert [(e.outcome, e.text) for e in of(events, ToolResult)] == [("unknown", "made")]


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_document_that_is_cut_off_keeps_what_is_whole(tmp_path: Path, cut: float) -> None:
    data = THREAD.read_bytes()
    path = tmp_path / "T-1.json"
    path.write_bytes(data[: int(len(data) * cut)])
    events = events_of(path)
    whole = events_of(THREAD)
    (lost,) = of(events, Unknown)
    assert lost.reason == "torn_line"
    assert 0 < lost.offset < path.stat().st_size
    told = [event.text for event in of(events, UserMessage)]
    assert told == [event.text for event in of(whole, UserMessage)][: len(told)]
    assert summarize(events).human_messages >= 1


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    events = thread(
        tmp_path, "no object", {"role": "robot"}, {"content": []}, {"role": "user", "content": [{"type": "hologram"}]}
    )  # fmt: skip
    assert [(e.record, e.reason) for e in of(events, Unknown)] == [
        ("message", "bad_shape"), ("robot", "unknown_type"), ("message", "bad_shape"), ("hologram", "unknown_type"),
    ]  # fmt: skip


def test_odd_bytes_are_mended(tmp_path: Path) -> None:
    text = THREAD.read_text("utf-8").replace("Limit the exports to ten.", "Limit\u2028the \\ud83d exports")
    path = tmp_path / "T-1.json"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\x00\x00\n")
    assert of(events_of(path), UserMessage)[0].text == "Limit\u2028the \ufffd exports"


def test_links_and_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "threads").mkdir()
    (tmp_path / "threads/T-1.json").symlink_to(THREAD)
    assert list(find(tmp_path)) == []
    assert refer(tmp_path / "T-2.json") is None
    with pytest.raises(FileNotFoundError):
        events_of(tmp_path / "T-2.json")


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_nothing_in_a_document_raises(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = THREAD.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    put = data.draw(st.one_of(st.binary(max_size=20), st.sampled_from([b'"', b"[[", b"null", b"-1e999", b"{}"])))
    gone = data.draw(st.integers(0, 40))
    path = tmp_path_factory.mktemp("amp") / "T-1.json"
    path.write_bytes(whole[:at] + put + whole[at + gone :])
    recognise(path.read_bytes()[:4096], path.name)
    refer(path)
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)
