"""Damaged logs of the agents that keep one record a line, and arbitrary bytes in any of their containers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_formats import FORMATS, events_of, head, line, of, sessions

from passdown.model.session import AnyEvent, SessionEnd, SessionStart, Unknown, UserMessage
from passdown.sessions.summary import summarize

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
AGENT = pytest.mark.parametrize("agent", FORMATS)


def torn(row: bytes) -> bytes:
    """Return a row that ends within the words that are said in it."""
    return row[: max(row.find(b"hello"), row.find(b"second")) + 3]


def written(agent: str, folder: Path, data: bytes, **options: Any) -> list[AnyEvent]:
    path = folder / "session.jsonl"
    path.write_bytes(head(agent) + data)
    return events_of(agent, path, **options)


@AGENT
@pytest.mark.parametrize(
    ("damage", "said", "unknown"),
    [
        (lambda one, two: one + b"\n" + two[:40], ["hello"], ["torn_line"]),
        (lambda one, two: one + two + b"\n", ["hello", "second"], []),
        (lambda one, two: one + two[:30] + b"\n", ["hello"], ["bad_json"]),
        (lambda one, two: torn(one) + two + b"\n", ["second"], ["bad_json"]),
        (lambda one, two: one[:-3] + two + b"\n", ["second"], ["bad_json"]),
        (lambda one, two: two + torn(one) + one + b"\n", ["second", "hello"], ["bad_json"]),
        (lambda one, two: one.replace(b"hello", b"a\tb\x1b[0m") + b"\n", ["a\tb\x1b[0m"], []),
        (lambda one, two: b"\x00\x00" + one + b"\x00\x00\n", ["hello"], []),
        (lambda one, two: b"[" * 100_000 + b"\n" + one + b"\n", ["hello"], ["bad_json"]),
        (lambda one, two: b"\n\n" + one + b"\r\n", ["hello"], []),
        (lambda one, two: b"not json\n" + one + b"\n", ["hello"], ["bad_json"]),
        (lambda one, two: one.replace(b"hello", b"a\\ud83d") + b"\n", ["a\ufffd"], []),
        (lambda one, two: one.replace(b"hello", b"a\xff") + b"\n", ["a\ufffd"], []),
        (lambda one, two: one.replace(b"hello", "a\u2028b\u0085c".encode()) + b"\n", ["a\u2028b\u0085c"], []),
    ],
    ids=["torn", "glued", "glued-torn", "on-a-torn-one", "on-nearly-whole", "torn-between", "control", "nul", "deep",
         "blank-crlf", "text", "surrogate", "utf8", "u2028"],
)  # fmt: skip
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
    path.write_bytes(b"\xef\xbb\xbf" + head(agent) + line(agent) + b"\n")
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
