"""Damaged logs of the agents that keep one record a line, and arbitrary bytes in any of their containers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.table import AGENTS, Sessions, sessions_of
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, Unknown, UserMessage
from passdown.sessions.summary import summarize

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
STAMP = "2026-03-01T10:00:01.000Z"


class Format(NamedTuple):
    """How an agent writes a session's first line and what a person says."""

    head: dict[str, Any]
    said: Callable[[str, str, int], dict[str, Any]]


def _copilot(text: str, at: str, number: int) -> dict[str, Any]:
    return {"type": "user.message", "data": {"content": text}, "id": f"e{number}", "timestamp": at, "parentId": None}


def _gemini(text: str, at: str, number: int) -> dict[str, Any]:
    return {"id": f"e{number}", "timestamp": at, "type": "user", "content": [{"text": text}]}


def _qwen(text: str, at: str, number: int) -> dict[str, Any]:
    link = {"uuid": f"e{number}", "parentUuid": f"e{number - 1}", "sessionId": "s-1", "timestamp": at, "cwd": "/w"}
    return {**link, "type": "user", "message": {"role": "user", "parts": [{"text": text}]}}


def _openhands(text: str, at: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {
        "id": f"00000000-{number}", "timestamp": at, "source": "user", "llm_message": message, "kind": "MessageEvent",
    }  # fmt: skip


def _kimi(text: str, at: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}], "origin": {"kind": "user"}}
    return {"type": "context.append_message", "message": message, "time": at, "agentId": "main"}


def _droid(text: str, at: str, number: int) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"type": "message", "id": f"e{number}", "timestamp": at, "parentId": None, "message": message}


def _cursor(text: str, at: str, number: int) -> dict[str, Any]:
    return {"role": "user", "message": {"content": [{"type": "text", "text": text}]}, "at": at}


FORMATS = {
    "copilot": Format(
        {"type": "session.start", "data": {"sessionId": "s-1", "copilotVersion": "1"}, "id": "e", "parentId": None},
        _copilot,
    ),
    "gemini": Format({"sessionId": "s-1", "projectHash": "0", "startTime": STAMP, "kind": "main"}, _gemini),
    "qwen": Format(
        {"uuid": "e0", "parentUuid": None, "sessionId": "s-1", "type": "system", "subtype": "session_model",
         "timestamp": STAMP, "cwd": "/w", "systemPayload": {"modelId": "m"}}, _qwen,
    ),
    "openhands": Format(
        {"id": "00000000-0", "timestamp": STAMP, "source": "agent", "system_prompt": {}, "kind": "SystemPromptEvent"},
        _openhands,
    ),
    "kimi": Format({"type": "metadata", "protocol_version": "1.5", "created_at": 1772359200000}, _kimi),
    "droid": Format({"type": "session_start", "id": "s-1", "title": "t", "cwd": "/w"}, _droid),
    "cursor": Format({"role": "assistant", "message": {"content": [{"type": "text", "text": "ready"}]}}, _cursor),
}  # fmt: skip
AGENT = pytest.mark.parametrize("agent", FORMATS)


def sessions(agent: str) -> Sessions:
    return next(sessions_of(row) for row in AGENTS if row.id == agent)


def line(agent: str, text: str = "hello", at: str = STAMP, number: int = 1) -> bytes:
    return json.dumps(FORMATS[agent].said(text, at, number), ensure_ascii=False).encode()


def events_of(agent: str, path: Path, **options: Any) -> list[AnyEvent]:
    reader: Any = sessions(agent)
    return list(reader.read(SessionRef(agent=agent, path=str(path), session_id=""), **options))


def written(agent: str, folder: Path, data: bytes, **options: Any) -> list[AnyEvent]:
    path = folder / "session.jsonl"
    path.write_bytes(json.dumps(FORMATS[agent].head).encode() + b"\n" + data)
    return events_of(agent, path, **options)


def of(events: list[AnyEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@AGENT
@pytest.mark.parametrize(
    ("damage", "said", "unknown"),
    [
        (lambda one, two: one + b"\n" + two[:40], ["hello"], ["torn_line"]),
        (lambda one, two: one + two + b"\n", ["hello", "second"], []),
        (lambda one, two: one + two[:30] + b"\n", ["hello"], ["bad_json"]),
        (lambda one, two: b"\x00\x00" + one + b"\x00\x00\n", ["hello"], []),
        (lambda one, two: b"[" * 100_000 + b"\n" + one + b"\n", ["hello"], ["bad_json"]),
        (lambda one, two: b"\n\n" + one + b"\r\n", ["hello"], []),
        (lambda one, two: b"not json\n" + one + b"\n", ["hello"], ["bad_json"]),
        (lambda one, two: one.replace(b"hello", b"a\\ud83d") + b"\n", ["a\ufffd"], []),
        (lambda one, two: one.replace(b"hello", b"a\xff") + b"\n", ["a\ufffd"], []),
        (lambda one, two: one.replace(b"hello", "a\u2028b\u0085c".encode()) + b"\n", ["a\u2028b\u0085c"], []),
    ],
    ids=["torn", "glued", "glued-torn", "nul", "deep", "blank-crlf", "text", "surrogate", "utf8", "u2028"],
)
def test_damage(
    tmp_path: Path, agent: str, damage: Callable[[bytes, bytes], bytes], said: list[str], unknown: list[str]
) -> None:
    events = written(agent, tmp_path, damage(line(agent), line(agent, "second", number=2)))
    assert [e.text for e in of(events, UserMessage)] == said
    assert [e.reason for e in of(events, Unknown)] == unknown


@AGENT
def test_a_line_over_the_cap_is_passed_over(tmp_path: Path, agent: str) -> None:
    data = line(agent, "x" * 5000) + b"\n" + line(agent, number=2) + b"\n"
    events = written(agent, tmp_path, data, max_line=2000)
    assert [e.reason for e in of(events, Unknown)] == ["line_too_long"]
    assert [e.text for e in of(events, UserMessage)] == ["hello"]


@AGENT
def test_a_byte_order_mark_before_the_first_line(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(FORMATS[agent].head).encode() + b"\n" + line(agent) + b"\n")
    assert sessions(agent).recognise(path.read_bytes(), path.name)
    events = events_of(agent, path)
    assert [e.text for e in of(events, UserMessage)] == ["hello"]
    assert not of(events, Unknown)


@AGENT
def test_a_clock_that_runs_backwards_keeps_file_order(tmp_path: Path, agent: str) -> None:
    rows = [line(agent, "one", "2026-03-01T10:00:01.000Z", 1), line(agent, "two", "2026-03-01T09:00:00.000Z", 2)]
    events = written(agent, tmp_path, b"\n".join(rows) + b"\n")
    assert [e.text for e in of(events, UserMessage)] == ["one", "two"]


@AGENT
@pytest.mark.parametrize("stamp", ["never", 1e300, "2026-13-99T99:99:99.999Z", None, "2026-03-01", 12])
def test_odd_timestamps(tmp_path: Path, agent: str, stamp: Any) -> None:
    assert len(of(written(agent, tmp_path, line(agent, at=stamp) + b"\n"), UserMessage)) == 1


@AGENT
def test_the_offsets_are_those_of_the_lines(tmp_path: Path, agent: str) -> None:
    events = written(agent, tmp_path, line(agent) + b"\n" + line(agent, "second", number=2) + b"\n")
    data = (tmp_path / "session.jsonl").read_bytes()
    for event in of(events, UserMessage):
        assert data[event.offset :].startswith(line(agent, event.text, number=event.line - 1))
    assert isinstance(events[-1], SessionEnd)
    assert (events[-1].records, events[-1].bytes) == (3, len(data))


@AGENT
def test_an_empty_and_a_missing_file(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "abc-1.jsonl"
    path.write_bytes(b"")
    start = events_of(agent, path)[0]
    assert isinstance(start, SessionStart)
    assert start.session_id == "abc-1"
    with pytest.raises(FileNotFoundError):
        events_of(agent, tmp_path / "gone.jsonl")


MATERIAL = [
    (agent, path.read_bytes(), path.name)
    for agent in FORMATS
    for path in sorted((FIXTURES / agent).rglob("*.json*"))
    if path.name not in ("projects.json", "results.jsonl")
    and path.parent.name != "events"  # one holds no session, one three
]
JOINED = b"\n".join(path.read_bytes() for path in sorted((FIXTURES / "openhands").rglob("event-*.json")))
MATERIAL.append(("openhands", JOINED, "events.jsonl"))


@settings(max_examples=250, deadline=None)
@given(
    which=st.integers(0, len(MATERIAL) - 1), cut=st.floats(0, 1), at=st.floats(0, 1), size=st.integers(0, 60),
    noise=st.binary(max_size=60) | st.sampled_from([b"null", b"[]", b"{}", b'"', b"-1", b"1e999", b"\n", b"true"]),
)  # fmt: skip
def test_no_bytes_make_it_fail(
    tmp_path_factory: pytest.TempPathFactory, which: int, cut: float, at: float, size: int, noise: bytes
) -> None:
    agent, data, name = MATERIAL[which]
    place = int(at * len(data))
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_bytes((data[:place] + noise + data[place + size :])[: max(int(cut * 2 * len(data)), 1)])
    sessions(agent).recognise(path.read_bytes(), path.name)
    sessions(agent).refer(path)
    events = events_of(agent, path)
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)


VALUES = st.sampled_from(
    [None, [], {}, "", "x", 0, -1, 2.5, True, [None], {"a": None}, [[]], {"text": 1}, [1, "a", {}]]
)


@settings(max_examples=250, deadline=None)
@given(which=st.integers(0, len(MATERIAL) - 1), row=st.integers(0, 40), path=st.lists(st.integers(0, 9), max_size=5),
       value=VALUES)  # fmt: skip
def test_no_value_of_another_type_makes_it_fail(
    tmp_path_factory: pytest.TempPathFactory, which: int, row: int, path: list[int], value: Any
) -> None:
    agent, data, name = MATERIAL[which]
    try:
        rows: list[Any] = [json.loads(text) for text in data.split(b"\n") if text.strip()]
    except ValueError:
        rows = [json.loads(data)]
    target = rows[row % len(rows)]
    for step in path:
        items = list(target.items()) if isinstance(target, dict) else list(enumerate(target))
        if not items:
            break
        key, inner = items[step % len(items)]
        if not isinstance(inner, dict | list) or step == path[-1]:
            target[key] = value
            break
        target = inner
    file = tmp_path_factory.mktemp("types") / name
    file.write_text("".join(json.dumps(item) + "\n" for item in rows))
    events = events_of(agent, file)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)
