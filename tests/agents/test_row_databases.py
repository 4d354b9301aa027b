"""Databases with broken bytes: they are read as far as they go, or refused; nothing else happens."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_databases import closed_database, database, rows_of

from passdown.agents.table import AGENTS, sessions_of
from passdown.errors import FormatError
from passdown.model.session import SessionEnd, SessionRef, SessionStart
from passdown.sessions.summary import summarize

NAMES = ("goose", "crush", "hermes")


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The bytes of a whole database of each agent."""
    found = {}
    for name in NAMES:
        with closed_database(name, tmp_path_factory.mktemp("whole") / f"{name}.db") as path:
            found[name] = path.read_bytes()
    return found


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_broken_bytes(
    databases: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(NAMES))
    row = next(row for row in AGENTS if row.id == name)
    broken = bytearray(databases[name])
    for place in data.draw(st.lists(st.integers(16, len(broken) - 1), max_size=12)):
        broken[place] = data.draw(st.sampled_from((0, 1, 0x7F, 255)))
    path: Path = tmp_path_factory.mktemp("broken") / "state.db"
    path.write_bytes(broken[: data.draw(st.sampled_from((len(broken), len(broken) // 2, 100)))])
    session: Any = rows_of(name)["sessions"][0]["id"]
    list(sessions_of(row).find(path.parent))
    try:
        events = list(sessions_of(row).read(SessionRef(agent=name, path=str(path), session_id="", inner=session)))
    except FormatError:
        return
    assert isinstance(events[0], SessionStart)
    assert isinstance(events[-1], SessionEnd)
    summarize(events)


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_without_its_log_says_that_there_is_nothing(tmp_path: Path, name: str) -> None:
    row = next(row for row in AGENTS if row.id == name)
    session = str(rows_of(name)["sessions"][0]["id"])
    with closing(database(name, tmp_path / "live.db")) as connection:
        shutil.copy(tmp_path / "live.db", tmp_path / "none.db")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("DELETE FROM messages")
        connection.commit()
        shutil.copy(tmp_path / "live.db", tmp_path / "before.db")

    def read(file: str) -> Any:
        ref = SessionRef(agent=name, path=str(tmp_path / file), session_id=session, inner=session)
        return summarize(sessions_of(row).read(ref))

    with pytest.raises(FormatError, match="is no database of"):
        read("none.db")
    # What had got from the log into the file is there; what had not, nobody can know of.
    assert read("before.db").human_messages > 0
    assert read("live.db").human_messages == 0
