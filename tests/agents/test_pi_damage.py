"""Damaged Pi sessions, and arbitrary bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pi_entries import FIXTURES, HEADER, events_of, of, session, user

from passdown.agents.pi.sessions import recognise
from passdown.model.session import SessionEnd, SessionStart, Unknown, UserMessage
from passdown.sessions.summary import summarize


def line(text: str = "hello") -> bytes:
    row = {"type": "message", "id": "0000000a", "parentId": None, "message": {"role": "user", "content": text}}
    return json.dumps(row, ensure_ascii=False).encode()


HEAD = json.dumps(HEADER).encode()


@pytest.mark.parametrize(
    ("data", "said", "unknown"),
    [
        (line() + b"\n" + line("second")[:40], ["hello"], ["torn_line"]),
        (line() + line("second") + b"\n", ["hello", "second"], []),
        (line() + line("second")[:30] + b"\n", ["hello"], ["bad_json"]),
        (line()[:60] + line("second") + b"\n", ["second"], ["bad_json"]),
        (line() + line()[:60] + line("second") + b"\n", ["hello", "second"], ["bad_json"]),
        (line("x").replace(b'"x"', b'"a\tb\x01"') + b"\n", ["a\tb\x01"], []),
        (line("a\u2028b\u0085c") + b"\n", ["a\u2028b\u0085c"], []),
        (line("x").replace(b'"x"', b'"x\\ud83d"') + b"\n", ["x\ufffd"], []),
        (line("x").replace(b'"x"', b'"x\xff"') + b"\n", ["x\ufffd"], []),
        (b"\x00\x00" + line() + b"\x00\x00\n", ["hello"], []),
        (b'{"type":"message","id":1}\n' + line() + b"\n", ["hello"], ["bad_shape"]),
        (b"[" * 100_000 + b"\n" + line() + b"\n", ["hello"], ["bad_json"]),
        (b"\n\n" + line() + b"\r\n", ["hello"], []),
        (b"not json\n" + line() + b"\n", ["hello"], ["bad_json"]),
    ],
    ids=[
        "torn",
        "glued",
        "glued-torn",
        "on-a-torn-one",
        "torn-between",
        "control",
        "u2028",
        "surrogate",
        "utf8",
        "nul",
        "shape",
        "deep",
        "blank-crlf",
        "text",
    ],
)
def test_damage(tmp_path: Path, data: bytes, said: list[str], unknown: list[str]) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(HEAD + b"\n" + data)
    events = events_of(path)
    assert [e.text for e in of(events, UserMessage)] == said
    assert [e.reason for e in of(events, Unknown)] == unknown


def test_a_line_over_the_cap_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(HEAD + b"\n" + line("x" * 5000) + b"\n" + line() + b"\n")
    events = events_of(path, max_line=2000)
    assert [e.reason for e in of(events, Unknown)] == ["line_too_long"]
    assert [e.text for e in of(events, UserMessage)] == ["hello"]


def test_a_byte_order_mark_before_the_header(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + HEAD + b"\n" + line() + b"\n")
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert events[0].session_id == HEADER["id"]
    assert not of(events, Unknown)


def test_a_session_without_header_takes_its_id_from_the_name(tmp_path: Path) -> None:
    path = tmp_path / "2026-01-01T00-00-00-000Z_abc-1.jsonl"
    path.write_bytes(line() + b"\n")
    start = events_of(path)[0]
    assert isinstance(start, SessionStart)
    assert start.session_id == "abc-1"


def test_a_clock_that_runs_backwards_keeps_file_order(tmp_path: Path) -> None:
    later, earlier = user("one"), user("two") | {"timestamp": "2026-03-01T09:00:00.000Z"}
    assert [e.text for e in of(session(tmp_path, later, earlier), UserMessage)] == ["one", "two"]


@pytest.mark.parametrize("stamp", ["never", 1e300, "2026-13-99T99:99:99.999Z", None, "2026-03-01", 12])
def test_odd_timestamps(tmp_path: Path, stamp: Any) -> None:
    assert len(of(session(tmp_path, user("x") | {"timestamp": stamp}), UserMessage)) == 1


def test_a_parent_that_is_missing_or_below_does_not_hide_the_history(tmp_path: Path) -> None:
    rows = [HEADER, user("1") | {"id": "a", "parentId": None}, user("2") | {"id": "b", "parentId": "lost"},
            user("3") | {"id": "c", "parentId": "d"}, user("4") | {"id": "d", "parentId": "c"}]  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({"type": "message"} | row) + "\n" for row in rows))
    assert all(event.active for event in events_of(path))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        events_of(tmp_path / "gone.jsonl")


FIXED = (FIXTURES / "tree.jsonl").read_bytes()


@settings(max_examples=150, deadline=None)
@given(
    cut=st.integers(0, len(FIXED)), at=st.integers(0, len(FIXED)), size=st.integers(0, 60), noise=st.binary(max_size=60)
)
def test_no_bytes_make_it_fail(
    tmp_path_factory: pytest.TempPathFactory, cut: int, at: int, size: int, noise: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "session.jsonl"
    path.write_bytes((FIXED[:at] + noise + FIXED[at + size :])[: max(cut, 1)])
    recognise(path.read_bytes(), path.name)
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)
