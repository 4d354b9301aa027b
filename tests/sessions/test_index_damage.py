"""Nothing a user does to the index breaks it, and nothing in it is for others' eyes."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.session_list import Wanted, listed, searched
from passdown.sessions.index.place import index_path


def test_the_index_is_the_users_alone_and_holds_no_secret(store: Any) -> None:
    token = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
    store.save(1, f"use {token} to push", "a" * 3990 + token)
    store.all()
    path = index_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        assert token[:14].encode() not in file.read_bytes()
    assert store.found("push") == [1]
    assert "[redacted:" in searched(store.home, "push", Wanted(everywhere=True)).found[0].hits[0].text


@pytest.mark.parametrize(
    "damage", ["garbage", "empty", "cut", "middle", "folder version", "other database", "no tables"]
)
def test_a_damaged_or_foreign_index_is_made_anew(store: Any, damage: str) -> None:
    for number in range(1, 30):
        store.save(number, "mend the bucket " * 50)
    assert len(store.all()) == 29
    path = index_path()
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    data = path.read_bytes()
    if damage in ("garbage", "empty", "cut"):
        path.write_bytes({"garbage": b"no database" * 1000, "empty": b"", "cut": data[: len(data) // 3]}[damage])
    elif damage == "middle":
        path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    else:
        with sqlite3.connect(path) as database:
            if damage == "other database":
                path.unlink()
                other = sqlite3.connect(path)
                other.execute("CREATE TABLE precious(x)")
                other.commit()
                other.close()
            else:
                database.execute(
                    "UPDATE facts SET value = '0.0.0'" if damage == "folder version" else "DROP TABLE said"
                )
        database.close()
    index_path().with_suffix(".checked").unlink(missing_ok=True)
    store.save(30, "new")
    answer = listed(store.home, Wanted(everywhere=True, limit=100))
    assert len(answer.rows) == 30
    assert damage == "empty" or any("made anew" in note for note in answer.notes), answer.notes
    assert store.found("bucket") == list(range(1, 30))


def test_damage_that_shows_when_it_is_asked(store: Any) -> None:
    for number in range(1, 30):
        store.save(number, *[f"mend the bucket {number} {text}" for text in range(30)])
    assert len(store.found("bucket")) == 29
    path = index_path()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("UPDATE words_data SET block = x'ffffffffffffffffffffffff'")
    database.close()
    answer = searched(store.home, "bucket", Wanted(everywhere=True, limit=100))
    assert len(answer.found) == 29
    assert answer.notes == ("the index of sessions was damaged and has been made anew",)
    assert len(store.found("bucket")) == 29


def test_a_folder_that_cannot_be_written(store: Any) -> None:
    if os.getuid() == 0:
        pytest.skip("root may write anywhere")
    store.save(1, "mend the bucket")
    data = store.home / ".local/share"
    data.mkdir(parents=True)
    data.chmod(0o500)
    try:
        answer = searched(store.home, "bucket", Wanted(everywhere=True))
        assert len(answer.found) == 1
        assert any("cannot be written" in note for note in answer.notes)
    finally:
        data.chmod(0o700)


def test_where_the_index_should_lie_lies_a_file(store: Any) -> None:
    store.save(1, "mend the bucket")
    (store.home / ".local").mkdir()
    (store.home / ".local/share").write_text("in the way")
    answer = searched(store.home, "bucket", Wanted(everywhere=True))
    assert len(answer.found) == 1
    assert any("cannot be written" in note for note in answer.notes)


def test_an_index_that_is_a_link_is_not_written_through(store: Any, tmp_path: Path) -> None:
    store.save(1, "mend the bucket")
    index_path().parent.mkdir(parents=True)
    index_path().symlink_to(tmp_path / "elsewhere.sqlite")
    answer = searched(store.home, "bucket", Wanted(everywhere=True))
    assert len(answer.found) == 1
    assert any("symlink" in note for note in answer.notes)
    assert not (tmp_path / "elsewhere.sqlite").exists()
