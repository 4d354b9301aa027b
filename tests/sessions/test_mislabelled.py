"""The label is not the format: a file of one agent under another's name, in another's folder, is read as what it is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from passdown.agents.table import AGENTS, sessions_of
from passdown.errors import FormatError
from passdown.sessions.read import recognise
from passdown.trajectories.table import FORMATS, reader_of

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
NAMES = (
    "rollout-2026-03-01T10-00-00-01a228c2-2194-7b00-8ff1-5d5acf7172e2.jsonl", "events.jsonl", "wire.jsonl",
    "agent-1.jsonl", "session-2026-03-01T11-00-bbbb2222.json", "T-1.json", "run.traj", "store.db", "opencode.db",
    ".aider.chat.history.md",
)  # fmt: skip


def sources() -> Iterator[tuple[str, Path]]:
    """Yield every file among the fixtures that its own reader recognises."""
    for row in (*AGENTS, *FORMATS):
        reader = reader_of(row) if row in FORMATS else sessions_of(row)  # type: ignore[arg-type]
        for path in sorted((FIXTURES / row.id).rglob("*")):
            if path.is_file() and reader.recognise(path.read_bytes()[: 1 << 20], path.name):
                yield row.id, path


@pytest.mark.parametrize("name", NAMES)
def test_every_fixture_is_itself_under_every_name(tmp_path: Path, name: str) -> None:
    seen = set()
    for owner, path in sources():
        shutil.copyfile(path, tmp_path / name)
        assert recognise(tmp_path / name).id == owner, path
        seen.add(owner)
    assert len(seen) > 12


@pytest.mark.parametrize("data", [b"", b"\n\n", b"{}", b"[]", b"null\n", b"plain words\n", b"\x7fELF\x02\x01" * 99])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_nobodys_is_refused_under_every_name(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match="no session format"):
        recognise(tmp_path / name)
