"""Databases that are read and never touched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passdown.errors import FormatError, UnsafeError
from passdown.io.sqlite import open_database


def make(path: Path, *, wal: bool = False, rows: int = 100) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    if wal:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE message (id INTEGER PRIMARY KEY, data TEXT)")
    connection.executemany("INSERT INTO message (data) VALUES (?)", [(f"row {n} " * 50,) for n in range(rows)])
    return connection


def count(path: Path) -> int:
    with open_database(path) as connection:
        return int(connection.execute("SELECT count(*) FROM message").fetchone()[0])


def state(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", ["plain.db", "with space?.db", "100%#.db", "数据.db", os.fsdecode(b"caf\xe9.db")])
def test_a_plain_database(tmp_path: Path, name: str) -> None:
    make(tmp_path / name).close()
    before = state(tmp_path)
    assert count(tmp_path / name) == 100
    assert state(tmp_path) == before


def test_a_closed_database_with_a_log_is_left_as_it_was(tmp_path: Path) -> None:
    make(tmp_path / "a.db", wal=True).close()
    before = state(tmp_path)
    assert list(before) == ["a.db"]
    assert count(tmp_path / "a.db") == 100
    assert state(tmp_path) == before


def test_a_write_under_a_reader_without_a_log_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    make(path, wal=True).close()
    with pytest.raises(FormatError, match="written to while"), open_database(path):
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("INSERT INTO message (data) VALUES ('new')")
        writer.close()
    assert count(path) == 101


def test_a_log_without_its_index_is_read_in_a_copy(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "copied").mkdir()
    writer = make(tmp_path / "live" / "a.db", wal=True)
    for name in ("a.db", "a.db-wal"):
        shutil.copyfile(tmp_path / "live" / name, tmp_path / "copied" / name)
    writer.close()
    before = state(tmp_path / "copied")
    assert count(tmp_path / "copied" / "a.db") == 100
    assert state(tmp_path / "copied") == before


def test_nothing_can_be_written(tmp_path: Path) -> None:
    make(tmp_path / "a.db").close()
    with open_database(tmp_path / "a.db") as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM message")


def test_a_live_database_with_its_log_in_use(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    writer = make(path, wal=True)
    before = {name: data for name, data in state(tmp_path).items() if not name.endswith("-shm")}
    assert count(path) == 100
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO message (data) VALUES ('not yet')")
    assert count(path) == 100
    writer.execute("ROLLBACK")
    assert {name: data for name, data in state(tmp_path).items() if not name.endswith("-shm")} == before
    with open_database(path) as connection:
        cursor = connection.execute("SELECT id FROM message")
        cursor.fetchone()
        writer.execute("INSERT INTO message (data) VALUES ('while being read')")
    assert count(path) == 101
    writer.close()


def test_a_database_that_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    make(path).close()
    writer = sqlite3.connect(path, isolation_level=None)
    with pytest.raises(FormatError, match="is in use"), open_database(path) as connection:
        writer.execute("BEGIN EXCLUSIVE")
        connection.execute("SELECT count(*) FROM message")
    assert count(path) == 100  # from the beginning on, what was written before is read in a copy
    writer.close()


def test_a_log_that_its_writer_left_behind(tmp_path: Path) -> None:
    program = """
        import os, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("CREATE TABLE message (id INTEGER PRIMARY KEY, data TEXT)")
        connection.execute("INSERT INTO message (data) VALUES ('only in the log')")
        os._exit(9)
    """
    path = tmp_path / "crashed.db"
    subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(path)], check=False)
    assert path.with_name("crashed.db-wal").stat().st_size > 0
    wal = path.with_name("crashed.db-wal").read_bytes()
    data = path.read_bytes()
    assert count(path) == 1
    assert path.with_name("crashed.db-wal").read_bytes() == wal
    assert path.read_bytes() == data


def test_a_write_that_a_crash_left_half_done_is_undone_in_a_copy(tmp_path: Path) -> None:
    program = """
        import os, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("PRAGMA cache_size = 5")
        connection.execute("PRAGMA cache_spill = 5")
        connection.execute("BEGIN")
        connection.execute("UPDATE message SET data = replace(data, 'row', 'half')")
        os._exit(9)
    """
    path = tmp_path / "hot.db"
    make(path, rows=2000).close()
    subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(path)], check=False)
    assert path.with_name("hot.db-journal").stat().st_size > 0
    before = state(tmp_path)
    assert b"half" in before["hot.db"]
    with open_database(path) as connection:
        assert connection.execute("SELECT count(*) FROM message WHERE data LIKE 'half%'").fetchone()[0] == 0
        assert connection.execute("SELECT count(*) FROM message").fetchone()[0] == 2000
    assert state(tmp_path) == before


def test_a_database_in_a_closed_folder(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    make(folder / "a.db", wal=True).close()
    folder.chmod(0o500)
    try:
        assert count(folder / "a.db") == 100
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all, far from it" * 40, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_what_is_no_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(FormatError):
        count(tmp_path / "a.db")


def test_links_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "real.db").close()
    (tmp_path / "link.db").symlink_to("real.db")
    (tmp_path / "folder.db").mkdir()
    os.mkfifo(tmp_path / "pipe.db")
    for name in ("link.db", "folder.db", "pipe.db", "none.db"):
        with pytest.raises(UnsafeError):
            count(tmp_path / name)


@given(st.integers(0, 20_000), st.binary(min_size=1, max_size=200))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_database_is_read_or_refused(tmp_path: Path, offset: int, junk: bytes) -> None:
    source = tmp_path / "good.db"
    if not source.exists():
        make(source).close()
    path = tmp_path / "bad.db"
    shutil.copyfile(source, path)
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(junk)
    try:
        with open_database(path) as connection:
            for row in connection.execute("SELECT id, CAST(data AS BLOB) FROM message"):
                assert len(row) == 2
    except FormatError as error:
        assert error.where == str(path)
