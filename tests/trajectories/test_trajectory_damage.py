"""Damage: every format goes on as far as it can, says what it could not read, and never raises."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passdown.errors import PassdownError
from passdown.model.session import AnyEvent, SessionEnd, SessionRef, SessionStart, ToolCall, Unknown, UserMessage
from passdown.sessions.read import read_session
from passdown.sessions.summary import summarize
from passdown.trajectories.table import FORMATS, reader_of

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
WHOLE = {
    "atif": "atif/run.json", "swe_agent": "swe_agent/tools.traj", "mini_swe_agent": "mini_swe_agent/second.traj.json",
    "chat": "chat/anthropic.json",
}  # fmt: skip
Told = Callable[..., list[AnyEvent]]


def unknown(events: list[AnyEvent]) -> list[str]:
    return [event.reason for event in events if isinstance(event, Unknown)]


def test_every_format_is_tried() -> None:
    assert set(WHOLE) == {row.id for row in FORMATS}


@pytest.mark.parametrize("form", WHOLE)
def test_a_document_that_is_cut_off_gives_what_is_whole(written: Told, form: str) -> None:
    data = (FIXTURES / WHOLE[form]).read_bytes()
    whole = len(written(data, agent=form))
    last = 0
    for share in (0.3, 0.6, 0.9):
        events = written(data[: int(len(data) * share)], agent=form)
        assert unknown(events) == ["torn_line"], share
        assert isinstance(events[-1], SessionEnd)
        assert last <= len(events) <= whole + 2
        last = len(events)
    assert last > 5, "nothing was saved"


@pytest.mark.parametrize("form", WHOLE)
def test_marks_around_and_in_a_document(written: Told, form: str) -> None:
    data = (FIXTURES / WHOLE[form]).read_bytes()
    plain = summarize(written(data, agent=form))
    for damaged in (b"\xef\xbb\xbf" + data, data + b"\x00" * 64, data.replace(b"10:02:09", b"09:02:09")):
        summary = summarize(written(damaged, agent=form))
        assert (summary.tool_calls, summary.human_messages) == (plain.tool_calls, plain.human_messages)
        assert not summary.unknown


@pytest.mark.parametrize("form", ["chat", "mini_swe_agent"])
def test_lone_surrogates_line_separators_and_numbers_that_are_none(written: Told, form: str) -> None:
    text = json.dumps([{"role": "user", "content": "a\u2028b\u0085c"}])[:-1]
    text += ', {"role": "assistant", "content": "x\\ud83d y", "n": NaN}]'
    events = written(text.encode(), agent=form)
    assert [e.text for e in events if isinstance(e, UserMessage)] == ["a\u2028b\u0085c"]
    assert not unknown(events)


def test_lines_that_are_torn_or_glued(written: Told) -> None:
    rows = [json.dumps({"role": "user", "content": str(number)}) for number in range(4)]
    events = written(f"{rows[0]}\n{rows[1][:20]}\n{rows[2]}\n{rows[3][:-3]}".encode(), agent="chat")
    assert [e.text for e in events if isinstance(e, UserMessage)] == ["0", "2"]
    assert len(unknown(events)) == 2


def test_a_row_over_the_longest_line_is_passed_over(written: Told) -> None:
    row = b'{"messages": [{"role": "user", "content": "Go."}], "instance_id": "b"}\n'
    data = b'{"messages": [{"role": "user", "content": "' + b"x" * (17 << 20) + b'"}]}\n' + row
    assert unknown(written(data, agent="chat", inner="1")) == ["line_too_long"]
    events = written(data, agent="chat", inner="b")
    assert [e.text for e in events if isinstance(e, UserMessage)] == ["Go."]


def test_messages_of_the_wrong_shape_are_counted(written: Told) -> None:
    messages: list[Any] = [
        {"role": "user", "content": "Go."}, 7, None, [], {"role": ["x"]}, {"role": "oracle"}, {"content": {"a": 1}},
        {"role": "assistant", "content": 5, "tool_calls": "no", "function_call": []},
        {"role": "assistant", "tool_calls": [None, 3, {"function": {"name": 4}}, {"function": {"name": "bash", "arguments": "{"}}]},
        {"role": "tool", "tool_call_id": {"a": 1}, "content": [[None]]}, {"role": "tool"},
    ]  # fmt: skip
    events = written(messages, agent="chat")
    assert unknown(events) == ["bad_shape"] * 4 + ["unknown_type", "bad_shape"]
    [call] = [e for e in events if isinstance(e, ToolCall)]
    assert call.arguments == {"input": "{"}


def test_deep_nesting_is_no_stack_overflow(written: Told) -> None:
    deep = b"[" * 5000 + b"]" * 5000
    for form in WHOLE:
        key = {"atif": b"steps", "swe_agent": b"history"}.get(form, b"messages")
        events = written(b'{"' + key + b'": [{"role": "user", "content": ' + deep + b"}]}", agent=form)
        assert isinstance(events[-1], SessionEnd)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    for row in FORMATS:
        with pytest.raises(FileNotFoundError):
            list(reader_of(row).read(SessionRef(agent=row.id, path=str(tmp_path / "gone"), session_id="")))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(FIXTURES / "chat/openai.json")
    with pytest.raises(PassdownError):
        list(read_session(link, agent="chat"))


def test_a_prompt_made_to_be_slow_is_not(written: Told) -> None:
    text = "<task>" * 40_000 + "\nISSUE:\n" * 20_000 + "</function>" * 10_000 + "<function=a>" * 20_000
    events = written([{"role": "user", "content": text}, {"role": "assistant", "content": text}], agent="chat")
    assert sum(isinstance(e, ToolCall) for e in events) == 50


@pytest.mark.parametrize("form", ["swe_agent", "mini_swe_agent", "atif", "chat"])
def test_memory_stays_within_six_times_a_document(tmp_path: Path, form: str) -> None:
    body, path = "line of output\n" * 2000, tmp_path / "large.json"
    messages = [{"role": "user" if number % 2 else "assistant", "content": body} for number in range(200)]
    steps = [{"source": "user" if number % 2 else "agent", "message": body} for number in range(200)]
    history = [{**message, "agent": "main"} for message in messages]
    tail = [{"action": "ls", "observation": "x", "query": messages[:2]} for _ in range(100)]
    document: dict[str, Any] = {"schema_version": "ATIF-v1.7", "steps": steps, "messages": messages, "history": history}
    keep = {"atif": ("schema_version", "steps"), "swe_agent": ("history",)}.get(form, ("messages",))
    path.write_text(
        json.dumps({key: document[key] for key in keep} | ({"trajectory": tail} if form == "swe_agent" else {}))
    )
    size = path.stat().st_size
    for _ in read_session(path, agent=form):
        break
    tracemalloc.start()
    for _ in read_session(path, agent=form):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 6 * size


def check(events: list[AnyEvent]) -> None:
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    for event in events:
        msgspec.json.encode(event)
    summarize(events)


@pytest.mark.parametrize("form", WHOLE)
def test_any_bytes(tmp_path: Path, form: str) -> None:
    path = tmp_path / "any"

    @settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
    @given(st.binary(max_size=400))
    def holds(data: bytes) -> None:
        path.write_bytes(data)
        try:
            check(list(read_session(path, agent=form)))
        except PassdownError:
            pass

    holds()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id", "name", "role"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.parametrize("form", WHOLE)
def test_any_values_in_any_field(tmp_path: Path, form: str) -> None:
    path, document = tmp_path / "any", json.loads((FIXTURES / WHOLE[form]).read_bytes())
    key = {"atif": "steps", "swe_agent": "history"}.get(form, "messages")
    names = sorted({name for item in document[key] for name in item})

    @settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))
    @given(
        st.integers(0, len(document[key]) - 1),
        st.sampled_from(names),
        VALUES,
        st.sampled_from(sorted(document)),
        VALUES,
    )
    def holds(at: int, name: str, value: Any, top: str, other: Any) -> None:
        changed = json.loads(json.dumps(document))
        changed[key][at][name] = value
        if top != key:
            changed[top] = other
        path.write_text(json.dumps(changed))
        check(list(read_session(path, agent=form)))

    holds()
