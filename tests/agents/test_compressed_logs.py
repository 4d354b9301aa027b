"""Compressed logs of every agent, whole and damaged: recognised and read as far as they go, and never an exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from backports import zstd
from log_formats import FORMATS, events_of, head, line, of, reasons, said, sessions

from passdown.model.session import SessionEnd
from passdown.sessions.read import recognise

AGENT = pytest.mark.parametrize("agent", FORMATS)
ROWS = 400


def log(agent: str, rows: int = ROWS) -> bytes:
    """Return a log in which much is said."""
    return head(agent) + b"".join(line(agent, f"word {n} of many", number=n) + b"\n" for n in range(1, rows + 1))


@AGENT
@pytest.mark.parametrize("name", ["session.jsonl.zst", "session.jsonl"])
def test_every_agents_log_may_be_compressed(tmp_path: Path, agent: str, name: str) -> None:
    path = tmp_path / name
    data = log(agent)
    path.write_bytes(zstd.compress(data[: len(data) // 2]) + zstd.compress(data[len(data) // 2 :]))
    assert recognise(path).id == agent or not sessions(agent).recognise(data[: 1 << 20], name)
    assert said(events_of(agent, path)) == [f"word {n} of many" for n in range(1, ROWS + 1)]
    path.write_bytes(data)  # plain, under either name
    assert len(said(events_of(agent, path))) == ROWS


@AGENT
def test_a_damaged_one_is_recognised_and_read_as_far_as_it_goes(tmp_path: Path, agent: str) -> None:
    path = tmp_path / "session.jsonl.zst"
    whole = zstd.compress(log(agent))
    cut = zstd.ZstdCompressor().compress(log(agent)[:-20], mode=zstd.ZstdCompressor.FLUSH_BLOCK)
    for data, rows in ((whole + b"something else", ROWS), (cut, ROWS - 1), (whole[: len(whole) // 2], 0)):
        path.write_bytes(data)
        if rows:
            assert sessions(agent).recognise(log(agent)[: 1 << 20], path.name) == (recognise(path).id == agent)
        sessions(agent).refer(path)
        events = events_of(agent, path)
        assert isinstance(events[-1], SessionEnd)
        assert said(events) == [f"word {n} of many" for n in range(1, rows + 1)]
        assert reasons(events) == ["torn_line"]
    assert of(events, SessionEnd)
