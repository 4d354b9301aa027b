"""Files that change while they are read: what was there when the reading began is read, once, and nothing is mixed up."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from log_formats import FORMATS, events_of, head, line, of, said, sessions

from passdown.errors import UnsafeError
from passdown.model.session import SessionEnd, SessionRef, Unknown, UserMessage

AGENT = pytest.mark.parametrize("agent", FORMATS)
ROWS = 1200
"""So many that a log is longer than what is read of it at once."""


def log(agent: str, words: str = "word", rows: int = ROWS) -> bytes:
    """Return a log in which the words are said time and again."""
    return head(agent) + b"".join(line(agent, f"{words} {n}", number=n) + b"\n" for n in range(1, rows + 1))


def read_while(agent: str, path: Path, change: Callable[[], Any]) -> list[Any]:
    """Read a log, and change it when the first event is there."""
    stream = iter(sessions(agent).read(SessionRef(agent=agent, path=str(path), session_id="")))
    first = next(stream)
    change()
    return [first, *stream]


@AGENT
def test_what_is_appended_meanwhile_is_left_for_the_next_time(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(log(agent))

    def append() -> None:
        with path.open("ab") as stream:
            for number in range(ROWS + 1, ROWS + 1000):
                stream.write(line(agent, f"late {number}", number=number) + b"\n")

    events = read_while(agent, path, append)
    spoken = said(events)
    # A reader that opens its log after its first event may see the whole of it: never a part of a record.
    assert len(spoken) in (ROWS, ROWS + 999)
    assert not of(events, Unknown)
    assert len(said(events_of(agent, path))) == ROWS + 999


@AGENT
def test_a_row_that_is_being_written_is_torn_now_and_whole_later(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl"
    row = line(agent, "being written", number=2)
    path.write_bytes(head(agent) + line(agent) + b"\n" + row[:-9])
    before = events_of(agent, path)
    assert (said(before), [e.reason for e in of(before, Unknown)]) == (["hello"], ["torn_line"])
    with path.open("ab") as stream:
        stream.write(row[-9:] + b"\n")
    after = events_of(agent, path)
    assert (said(after), of(after, Unknown)) == (["hello", "being written"], [])


@AGENT
def test_a_log_put_in_its_place_meanwhile_is_not_mixed_with_it(tmp_path: Path, agent: str) -> None:
    path, other = tmp_path / "session.jsonl", tmp_path / "other"
    path.write_bytes(log(agent, "old"))
    other.write_bytes(log(agent, "new"))
    events = read_while(agent, path, lambda: os.replace(other, path))
    words = {text.split()[0] for text in said(events)}
    assert len(words) == 1
    assert len(said(events)) == ROWS
    assert not of(events, Unknown)
    assert said(events_of(agent, path)) == [f"new {n}" for n in range(1, ROWS + 1)]


@AGENT
def test_a_log_cut_short_meanwhile_ends_there(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(log(agent))
    events = read_while(agent, path, lambda: os.truncate(path, path.stat().st_size // 2 + 7))
    assert isinstance(events[-1], SessionEnd)
    spoken = of(events, UserMessage)
    assert [event.text for event in spoken] == [f"word {n}" for n in range(1, len(spoken) + 1)]
    assert len(of(events, Unknown)) <= 1


@AGENT
def test_a_log_deleted_meanwhile_is_read_or_said_to_be_gone(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(log(agent))
    try:
        events = read_while(agent, path, path.unlink)
    except FileNotFoundError:
        return
    assert len(said(events)) == ROWS


@AGENT
def test_links_pipes_and_folders_are_no_logs(tmp_path: Path, agent: str) -> None:
    (tmp_path / "real.jsonl").write_bytes(log(agent, rows=2))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("link.jsonl", "pipe.jsonl", "folder.jsonl"):
        assert sessions(agent).refer(tmp_path / name) is None, name
        with pytest.raises(UnsafeError):
            events_of(agent, tmp_path / name)
