"""Trajectories that are compressed, under the name that says so or another: read like the plain ones."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from passdown.errors import UsageError
from passdown.model.session import Unknown
from passdown.sessions.read import read_session, recognise
from passdown.sessions.summary import summarize

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
DOCUMENTS = ("atif/run.json", "swe_agent/tools.traj", "mini_swe_agent/second.traj.json", "chat/anthropic.json")


@pytest.mark.parametrize("name", ["copy.zst", "copy.json"])
@pytest.mark.parametrize("source", DOCUMENTS)
def test_documents(tmp_path: Path, source: str, name: str) -> None:
    data = (FIXTURES / source).read_bytes()
    path = tmp_path / name
    path.write_bytes(zstd.compress(data))
    assert recognise(path).id == source.split("/")[0]
    plain = summarize(read_session(FIXTURES / source))
    packed = summarize(read_session(path))
    assert (packed.tool_calls, packed.human_messages, packed.unknown) == (plain.tool_calls, plain.human_messages, {})
    path.write_bytes(zstd.compress(data)[:-30])
    events = list(read_session(path, agent=source.split("/")[0]))
    assert [event.reason for event in events if isinstance(event, Unknown)] == ["torn_line"]


@pytest.mark.parametrize("compress", [zstd.compress, gzip.compress])
def test_rows(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = (FIXTURES / "chat/rows.jsonl").read_bytes()
    path = tmp_path / "rows.jsonl.packed"
    path.write_bytes(compress(data))
    with pytest.raises(UsageError, match="holds 3 trajectories"):
        list(read_session(path))
    for number in "123":
        plain = summarize(read_session(FIXTURES / "chat/rows.jsonl", inner=number))
        assert summarize(read_session(path, inner=number)).tool_calls == plain.tool_calls
