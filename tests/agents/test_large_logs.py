"""Large logs: what is kept of them does not grow with them. Memory is counted by the interpreter, never by a clock."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from claude_code_log import Log
from codex_rows import event, meta, prompt, row, said
from log_formats import FORMATS, events_of, head, line, of, sessions
from opencode_documents import DOCUMENT, answer, asked, tool

from passdown.model.session import AnyEvent, Compaction, SessionEnd, SessionRef, Unknown, UserMessage

MB = 1 << 20


def written(path: Path, parts: Iterable[bytes]) -> Path:
    """Write a log part by part."""
    with path.open("wb") as stream:
        stream.writelines(parts)
    return path


def peak_of(agent: str, path: Path, look: Callable[[AnyEvent], None] = lambda _: None) -> int:
    """Return the most memory that reading a log took, its events let go of one by one; modules are loaded before."""
    ref = SessionRef(agent=agent, path=str(path), session_id="")
    next(iter(sessions(agent).read(ref)))
    tracemalloc.start()
    for found in sessions(agent).read(ref):
        look(found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def chatter(agent: str, rows: int, size: int) -> Iterator[bytes]:
    """Yield a log in which much is said."""
    yield head(agent)
    for number in range(1, rows + 1):
        yield line(agent, f"{number} " + "x" * size, number=number) + b"\n"


@pytest.mark.parametrize("agent", FORMATS)
def test_memory_does_not_grow_with_the_bytes(tmp_path: Path, agent: str) -> None:
    small = peak_of(agent, written(tmp_path / "small.jsonl", chatter(agent, 60, 100_000)))
    large = peak_of(agent, written(tmp_path / "large.jsonl", chatter(agent, 240, 100_000)))
    assert small < 9 * MB
    assert large < small + MB


def test_memory_hardly_grows_with_the_rows(tmp_path: Path) -> None:
    few = peak_of("codex", written(tmp_path / "few.jsonl", chatter("codex", 500, 500)))
    many = peak_of("codex", written(tmp_path / "many.jsonl", chatter("codex", 4_500, 500)))
    assert (many - few) / 4_000 < 100, "bytes kept of a prompt"


@pytest.mark.parametrize("agent", FORMATS)
def test_one_line_of_12_8_million_characters(tmp_path: Path, agent: str) -> None:
    told: list[int] = []

    def look(found: AnyEvent) -> None:
        if isinstance(found, UserMessage):
            told.append(len(found.text))

    path = written(tmp_path / "long.jsonl", [head(agent), line(agent, "x" * 12_800_000), b"\n"])
    assert peak_of(agent, path, look) < 40 * MB
    assert told == [12_800_000]
    written(path, [head(agent), line(agent, "x" * (17 * MB)), b"\n", line(agent, "after it", number=2), b"\n"])
    assert peak_of(agent, path) < 25 * MB
    events = events_of(agent, path)
    assert [e.text for e in of(events, UserMessage)] == ["after it"]
    assert [(e.reason, e.length > 17 * MB) for e in of(events, Unknown)] == [("line_too_long", True)]


@pytest.mark.parametrize("agent", ["claude_code", "codex", "pi"])
def test_one_emoji_in_12_8_million_characters(tmp_path: Path, agent: str) -> None:
    told: list[str] = []

    def look(found: AnyEvent) -> None:
        if isinstance(found, UserMessage):
            told.append(found.text[-3:])

    long = line(agent, "x" * 12_800_000 + "\N{WAVING HAND SIGN}")
    short = line(agent, "Hi \N{WAVING HAND SIGN}", number=2)
    path = written(tmp_path / "long.jsonl", [head(agent), long, b"\n", short, b"\n"])
    assert peak_of(agent, path, look) < 48_000_000
    assert told == ["xx?", "i \N{WAVING HAND SIGN}"]


def test_a_log_of_progress_records(log: Log, tmp_path: Path) -> None:
    output = {"type": "bash_progress", "output": "line of a build\n" * 600, "fullOutput": "x" * 400}
    for number in range(14):
        log.prompt(f"Request {number}.")
        for _ in range(100):
            log.add("progress", data=output, toolUseID="t")
    path = tmp_path / "11111111-1111-4111-8111-111111111111.jsonl"
    path.write_bytes(log.bytes())
    assert path.stat().st_size > 13 * MB
    assert peak_of("claude_code", path) < 9 * MB
    events = events_of("claude_code", path)
    assert [e.text for e in of(events, UserMessage)] == [f"Request {number}." for number in range(14)]
    [end] = of(events, SessionEnd)
    assert end.ignored == {"progress/bash_progress": 1400}
    assert end.records == 1414


def history(size: int) -> dict[str, Any]:
    """Return what a compaction of Codex' puts in the history's place: all of it, pictures and all."""
    picture = {"type": "input_image", "image_url": "data:image/png;base64," + "A" * size}
    old = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "An old request."}, picture]}
    return {"message": "", "replacement_history": [old, said("assistant", "An old answer.")["payload"]]}


def test_compactions_that_repeat_the_history_with_its_pictures(tmp_path: Path) -> None:
    rows: list[Any] = [meta(), *prompt("The request.")]
    for number in range(8):
        rows += [row("compacted", history(3 * MB)), event("context_compacted"), said("assistant", f"On: {number}.")]
    path = written(tmp_path / "s.jsonl", (json.dumps(one).encode() + b"\n" for one in rows))
    assert path.stat().st_size > 24 * MB
    assert peak_of("codex", path) < 8 * MB
    events = events_of("codex", path)
    assert [e.text for e in of(events, UserMessage)] == ["The request."]
    assert len(of(events, Compaction)) == 8
    assert b"AAAA" not in b"".join(map(msgspec.json.encode, events))


def test_a_compaction_over_the_longest_line_is_counted_by_its_event(tmp_path: Path) -> None:
    rows = [
        meta(),
        *prompt("One."),
        row("compacted", history(17 * MB)),
        event("context_compacted"),
        said("assistant", "On."),
    ]
    path = written(tmp_path / "s.jsonl", (json.dumps(one).encode() + b"\n" for one in rows))
    assert peak_of("codex", path) < 25 * MB
    events = events_of("codex", path)
    assert [e.reason for e in of(events, Unknown)] == ["line_too_long"]
    assert [e.opaque for e in of(events, Compaction)] == [True]


def test_a_document_takes_no_more_than_six_times_its_size(tmp_path: Path) -> None:
    rows = [(asked("x" * 20_000, f"msg_{n:04}a"), answer(tool(output="y" * 20_000), identifier=f"msg_{n:04}b"))
            for n in range(100)]  # fmt: skip
    messages = [message for pair in rows for message in pair]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": DOCUMENT["info"], "messages": messages}))
    assert peak_of("opencode", path) < 6 * path.stat().st_size
