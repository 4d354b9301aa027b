"""Damaged Codex rollouts, and anything at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from codex_rows import FIXTURES, OWN, Events, event, item, meta, of, prompt, row, said
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.codex.sessions import read, read_sparing, recognise
from passdown.agents.codex.sparing import STAMPED
from passdown.model.session import (
    AssistantMessage,
    SessionEnd,
    SessionRef,
    SessionStart,
    Title,
    Unknown,
    Usage,
    UserMessage,
)
from passdown.sessions.summary import summarize

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


def test_a_row_behind_a_torn_one_and_control_characters(events: Events) -> None:
    whole, broken = (json.dumps(said("assistant", text)).encode() for text in ("whole", "torn off"))
    torn = broken[: broken.index(b" off")]
    found = events(meta(), torn + whole, whole + torn, whole + torn + whole, whole.replace(b"whole", b"a\tb\x01"))
    assert [one.text for one in of(found, AssistantMessage)] == ["whole", "whole", "whole", "whole", "a\tb\x01"]
    assert [(one.reason, one.line) for one in of(found, Unknown)] == [("bad_json", 2), ("bad_json", 3), ("bad_json", 4)]


@pytest.mark.parametrize("torn", [0, 60])
def test_a_row_behind_one_that_may_be_spared_is_read_all_the_same(tmp_path: Path, torn: int) -> None:
    def compact(one: Any) -> bytes:
        return json.dumps(one, separators=(",", ":")).encode()

    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    total = event("token_count", info={"total_token_usage": usage, "last_token_usage": usage})
    total["timestamp"] = "2026-03-01T10:00:00.000Z"
    spared, said_so = compact(total), compact(said("assistant", "Behind it."))
    assert spared.startswith(b',"type":"event_msg","payload":{"type":"token_count",', STAMPED)
    path = tmp_path / "s.jsonl"
    lines = [compact(meta()), spared, spared, (spared[:-torn] if torn else spared) + said_so, spared]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    ref = SessionRef(agent="codex", path=str(path), session_id="")
    for found in (list(read(ref)), list(read_sparing(ref, lambda _: True))):
        assert [one.text for one in of(found, AssistantMessage)] == ["Behind it."]
        assert [one.reason for one in of(found, Unknown)] == ["bad_json"] * bool(torn)
        assert sum(one.output for one in of(found, Usage)) == 10


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
    if not path.read_bytes().startswith(b"\x28\xb5\x2f\xfd"):  # of a compressed one the bytes are those that come out
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


def test_an_unknown_kind_of_item_is_said_to_be_unknown(events: Events) -> None:
    found = events(meta(), event("item_completed", item={"type": "Telepathy", "id": "x"}))
    assert [(one.reason, one.record) for one in of(found, Unknown)] == [("unknown_type", "item_completed/Telepathy")]
