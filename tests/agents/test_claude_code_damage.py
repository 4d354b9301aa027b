"""Damaged Claude Code logs, and arbitrary bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_code_log import FIXTURE, Log, events_of, of
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.claude_code.sessions import recognise
from passdown.errors import UnsafeError
from passdown.model.session import SessionEnd, SessionStart, Unknown, UserMessage
from passdown.sessions.summary import summarize

GOOD = b'{"type":"user","uuid":"u1","sessionId":"s","timestamp":"2026-03-01T10:00:00Z","message":{"content":"%s"}}'
TICK = b'{"parentUuid":"u0","isSidechain":false,"type":"progress","data":{"type":"bash_progress","output":"a b"},"uuid":"p"}'


def texts_and_reasons(path: Path, data: bytes, **options: Any) -> tuple[list[str], list[str]]:
    path.write_bytes(data)
    events = events_of(path, **options)
    return [event.text for event in of(events, UserMessage)], [event.reason for event in of(events, Unknown)]


@pytest.mark.parametrize(
    ("data", "texts", "reasons"),
    [
        (GOOD % b"a" + b"\n" + (GOOD % b"b")[:40], ["a"], ["torn_line"]),
        (GOOD % b"a" + b"\n" + (GOOD % b"b")[:40] + b"\n" + GOOD % b"c" + b"\n", ["a", "c"], ["bad_json"]),
        (GOOD % b"a" + GOOD % b"b" + b"\n", ["a", "b"], []),
        (GOOD % b"a" + (GOOD % b"b")[:40] + b"\n", ["a"], ["bad_json"]),
        ((GOOD % b"a")[:60] + GOOD % b"b" + b"\n", ["b"], ["bad_json"]),
        (GOOD % b"a" + (GOOD % b"b")[:60] + GOOD % b"c" + b"\n", ["a", "c"], ["bad_json"]),
        (TICK + GOOD % b"a" + b"\n", ["a"], []),
        (TICK[:100] + GOOD % b"a" + b"\n", ["a"], ["bad_json"]),
        (TICK + b"\n" + TICK[:100], [], ["torn_line"]),
        (GOOD % b"a\tb\x1b[0m" + b"\n", ["a\tb\x1b[0m"], []),
        (b"\xef\xbb\xbf" + GOOD % b"a" + b"\r\n", ["a"], []),
        (b"\x00\x00\x00" + GOOD % b"a" + b"\x00\n\x00\x00\n", ["a"], []),
        (GOOD % b"x \\ud83d y" + b"\n", ["x \ufffd y"], []),
        (GOOD % "a\u2028b\u2029c\u0085d".encode() + b"\n", ["a\u2028b\u2029c\u0085d"], []),
        (GOOD % b"\xff\xfe" + b"\n", ["\ufffd\ufffd"], []),
        (b"[1, 2]\n", [], ["bad_shape"]),
        (b'"text"\n7\nnull\n', [], ["bad_json"] * 3),
        (b'{"type":"user","message":"text"}\n', [], ["bad_shape"]),
        (b"\n\n  \n" + GOOD % b"a", ["a"], []),
        (b'{"type":"user","message":{"content":' + b"[" * 100_000 + b"\n", [], ["bad_json"]),
        (b"", [], []),
    ],
)
def test_damage(tmp_path: Path, data: bytes, texts: list[str], reasons: list[str]) -> None:
    assert texts_and_reasons(tmp_path / "x.jsonl", data) == (texts, reasons)


def test_a_line_over_the_cap_is_passed_over(tmp_path: Path) -> None:
    data = GOOD % b"a" + b"\n" + GOOD % (b"b" * 500) + b"\n" + GOOD % b"c" + b"\n"
    assert texts_and_reasons(tmp_path / "x.jsonl", data, max_line=300) == (["a", "c"], ["line_too_long"])


def test_a_clock_that_goes_backwards_does_not_matter(log: Log, tmp_path: Path) -> None:
    log.prompt("One.", timestamp="2026-03-01T11:00:00.000Z")
    log.prompt("Two.", timestamp="2026-03-01T10:00:00.000+01:00")
    log.prompt("Three.", timestamp="yesterday")
    events = of(log.events(tmp_path), UserMessage)
    assert [event.at for event in events] == [1772362800000, 1772355600000, None]


def test_a_missing_file_and_a_link_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        events_of(tmp_path / "gone.jsonl")
    (tmp_path / "link.jsonl").symlink_to(FIXTURE)
    with pytest.raises(UnsafeError):
        events_of(tmp_path / "link.jsonl")


def test_offsets_lead_to_the_rows() -> None:
    data = FIXTURE.read_bytes()
    for event in events_of(FIXTURE)[1:-1]:
        if not event.agent_id and not isinstance(event, SessionEnd):
            line = data[event.offset :].split(b"\n", 1)[0]
            json.loads(line)
            assert data[: event.offset].count(b"\n") == event.line - 1


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=400))
def test_arbitrary_bytes_never_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "x.jsonl"
    path.write_bytes(data)
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    recognise(data, "x")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.just("user")
    | st.just("tool_use"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "content", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(pick=st.data())
def test_mutated_rows_never_raise(tmp_path_factory: pytest.TempPathFactory, pick: st.DataObject) -> None:
    rows = [json.loads(line) for line in FIXTURE.read_bytes().splitlines()]
    for _ in range(pick.draw(st.integers(1, 4))):
        target: Any = pick.draw(st.sampled_from(rows))
        while isinstance(target, dict) and target and pick.draw(st.booleans()):
            key = pick.draw(st.sampled_from(sorted(target)))
            if not isinstance(target[key], dict):
                break
            target = target[key]
        if isinstance(target, dict) and target:
            target[pick.draw(st.sampled_from(sorted(target)))] = pick.draw(VALUES)
    path = tmp_path_factory.mktemp("mutated") / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    events = events_of(path)
    end = events[-1]
    assert isinstance(end, SessionEnd)
    assert end.records == len(rows)
    summarize(events)
