"""Damaged OpenCode exports, and arbitrary bytes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opencode_documents import DOCUMENT, EXPORT, SESSION, T, asked, events_of, export, of

from passdown.agents.opencode.sessions import recognise
from passdown.model.session import SessionEnd, SessionStart, ToolCall, Unknown, UserMessage
from passdown.sessions.summary import summarize


def test_an_export_cut_off_keeps_what_was_whole(tmp_path: Path) -> None:
    data = EXPORT.read_bytes()
    path = tmp_path / "cut.json"
    path.write_bytes(data[: data.index(b'"msg_03"') + 200])
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert events[0].session_id == SESSION
    assert [e.call_id for e in of(events, ToolCall)] == ["call_04", "call_05"]
    assert [e.reason for e in of(events, Unknown)] == ["torn_line"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"slug helpers.", b"slug \\ud83d.", "Fix the slug \ufffd."),
        (b"slug helpers.", b"slug \xff.", "Fix the slug \ufffd."),
        (b"slug helpers.", "slug\u2028\u0085.".encode(), "Fix the slug\u2028\u0085."),
    ],
    ids=["surrogate", "utf8", "u2028"],
)
def test_broken_text_is_mended(tmp_path: Path, old: bytes, new: bytes, said: str) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(b"\xef\xbb\xbf" + EXPORT.read_bytes().replace(old, new) + b"\x00\x00\n")
    events = events_of(path)
    assert of(events, UserMessage)[0].text == said
    assert len(of(events, ToolCall)) == 8
    assert not of(events, Unknown)


def test_deep_nesting_and_other_documents(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for data in (b"[" * 200_000, b"{}", b"", b"null", b'{"info":' * 50_000, b'{"messages":[[[[]]]]}', b'{"info":{}}'):
        path.write_bytes(data)
        events = events_of(path)
        assert isinstance(events[0], SessionStart)
        assert isinstance(events[-1], SessionEnd)


def test_a_clock_that_runs_backwards_keeps_the_order_of_an_export(tmp_path: Path) -> None:
    earlier = asked("two", "msg_2")
    earlier["info"]["time"]["created"] = T - 10**6
    assert [e.text for e in of(export(tmp_path, asked("one"), earlier), UserMessage)] == ["one", "two"]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        events_of(tmp_path / "gone.json")


@pytest.mark.parametrize(
    "head",
    [
        b"", b"{}", b'{"info": {"model_stats": {}, "exit_status": "x"}, "messages": []}', b'{"type":"session","id":"x"}',
        b'{"id":"msg_01abc","type":"message","role":"assistant","content":[]}', b"SQLite format 3\x00" + b"\x00" * 100,
    ],
)  # fmt: skip
def test_other_formats_are_not_opencode(head: bytes) -> None:
    assert not recognise(head, "some.json")


FIXED = EXPORT.read_bytes()


@settings(max_examples=100, deadline=None)
@given(
    cut=st.integers(0, len(FIXED)), at=st.integers(0, len(FIXED)), size=st.integers(0, 60), noise=st.binary(max_size=60)
)
def test_no_bytes_make_it_fail(
    tmp_path_factory: pytest.TempPathFactory, cut: int, at: int, size: int, noise: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "export.json"
    path.write_bytes((FIXED[:at] + noise + FIXED[at + size :])[: max(cut, 1)])
    recognise(path.read_bytes(), path.name)
    events = events_of(path)
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_no_value_in_any_field_makes_it_fail(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    document = copy.deepcopy(DOCUMENT)
    for _ in range(data.draw(st.integers(1, 3))):
        node: Any = document
        for _ in range(data.draw(st.integers(1, 7))):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(node[key], (dict, list)) or not node[key]:
                break
            node, parent = node[key], node
        else:
            node = parent
        node[key] = data.draw(JSON)
    path = tmp_path_factory.mktemp("fuzz") / "export.json"
    path.write_text(json.dumps(document))
    events = events_of(path)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)
