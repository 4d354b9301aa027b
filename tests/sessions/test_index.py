"""The index of sessions: what changes in the agents' folders is seen."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.session_list import Wanted, listed
from passdown.sessions.discover import all_sessions
from passdown.sessions.index.changes import seems_unchanged
from passdown.sessions.index.check import is_current
from passdown.sessions.index.fill import Refreshed, refresh
from passdown.sessions.index.place import index_path
from passdown.sessions.index.schema import reading


def test_a_pass_reads_all_and_the_next_one_nothing(store: Any) -> None:
    store.save(1, "mend the bucket")
    store.save(2, "write the docs", folder="q")
    assert refresh() == Refreshed(read=2)
    assert refresh() == Refreshed()
    assert store.all() == [2, 1]
    assert store.found("bucket") == [1]


def test_what_is_appended_is_found_and_what_was_there_stays(store: Any) -> None:
    path = store.save(1, "mend the bucket")
    store.save(2, "other")
    store.all()
    path.write_text(store.rows(1, "mend the bucket", "and the lantern"))
    os.utime(path, (store.began + 500, store.began + 500))
    assert store.found("lantern") == [1]
    assert store.found("bucket") == [1]
    assert refresh() == Refreshed()
    assert store.all() == [1, 2]


def test_what_is_cut_off_is_found_no_more(store: Any) -> None:
    path = store.save(1, "mend the bucket", "and the lantern")
    assert store.found("lantern") == [1]
    path.write_text(store.rows(1, "mend the bucket"))
    assert store.found("lantern") == []
    assert store.found("bucket") == [1]


def test_a_file_replaced_by_one_of_the_same_size_is_read_again(store: Any) -> None:
    path = store.save(1, "mend the bucket")
    assert store.found("bucket") == [1]
    size = path.stat().st_size
    store.save(1, "mend the lights")
    assert path.stat().st_size == size
    assert store.found("bucket") == []
    assert store.found("lights") == [1]


def test_a_file_written_in_the_moment_it_was_read_is_read_again(store: Any) -> None:
    path = store.save(1, "mend the bucket")
    now = time.time_ns() + 10**10  # however slow this machine is
    os.utime(path, ns=(now, now))
    assert refresh().read == 1
    path.write_text(store.rows(1, "mend the lights"))
    os.utime(path, ns=(now, now))
    assert refresh().read == 1
    assert store.found("lights") == [1]


def test_a_time_that_goes_back_counts_as_a_change(store: Any) -> None:
    store.save(1, "mend the bucket")
    store.all()
    store.save(1, "mend the lights", at=store.began - 10_000)
    assert store.found("bucket") == []
    assert store.found("lights") == [1]


def test_deleted_and_renamed_files(store: Any) -> None:
    first, second = store.save(1, "mend the bucket"), store.save(2, "mend the lantern")
    assert store.all() == [2, 1]
    first.unlink()
    second.rename(second.parent / store.path(3).name)
    assert store.all() == [2]  # the rows say which session it is
    assert store.found("bucket") == []
    assert store.found("lantern") == [2]
    shutil.rmtree(second.parent)
    assert store.all() == []
    assert store.found("lantern") == []


def test_an_agent_that_was_removed_leaves_nothing_behind(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(1, "mend the bucket")
    assert store.all() == [1]
    (store.home / "other").mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(store.home / "other"))
    assert store.all() == []
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert refresh() == Refreshed()
    assert store.all() == [1]
    shutil.rmtree(store.home / ".claude")
    assert store.all() == []
    with reading(index_path()) as database:
        assert database is not None
        for table in ("sessions", "said", "parts", "logs"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


def test_a_file_that_is_no_session_is_looked_at_once(store: Any) -> None:
    path = store.save(1, "mend the bucket")
    path.with_name("notes.jsonl").write_text('{"hello": 1}\n')
    path.with_name("empty.jsonl").write_text("")
    time.sleep(0.05)
    assert refresh().read == 3
    assert refresh() == Refreshed()
    assert store.all() == [1]


def test_names_that_are_no_text_and_text_that_is_none(store: Any) -> None:
    path = store.save(1, "mend the bucket", "half a pair")
    path.write_text(path.read_text().replace("half a pair", "half a pair \\ud83d"))
    odd = os.fsencode(path.parent) + b"/\xff-\xfe.jsonl"
    Path(os.fsdecode(odd)).write_text(store.rows(2, "mend the bucket"))
    other = Path(os.fsdecode(os.fsencode(path.parent.parent) + b"/\xff"))
    other.mkdir()
    (other / "a.jsonl").write_text(store.rows(3, "mend the bucket"))
    store.save(4, "mend the bucket", folder="höhe'; --")
    assert sorted(store.all()) == [1, 4]
    assert store.found("half pair") == [1]
    assert len(all_sessions().refs) == 4


def test_links_are_not_followed(store: Any, tmp_path: Path) -> None:
    path = store.save(1, "mend the bucket")
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text(store.rows(2, "secret lantern"))
    path.with_name("link.jsonl").symlink_to(elsewhere)
    (path.parent.parent / "linked").symlink_to(tmp_path)
    assert store.all() == [1]
    assert store.found("lantern") == []


def test_a_glance_sees_new_sessions_and_grown_ones(store: Any) -> None:
    path = store.save(1, "mend the bucket")
    refresh()
    with reading(index_path()) as database:
        assert database is not None
        assert seems_unchanged(database)
        with path.open("a") as stream:
            stream.write("\n")
        os.utime(path, (store.began + 99, store.began + 99))
        assert not seems_unchanged(database)
        refresh()
        assert seems_unchanged(database)
        store.save(2, "new", folder="another")
        assert not seems_unchanged(database)


def test_a_large_log_that_only_grows_is_not_read_again_at_once(store: Any) -> None:
    path = store.save(1, "mend the bucket", *["x" * 1_000_000] * 17)
    refresh()
    before = path.stat().st_size
    with path.open("a") as stream:
        stream.write(store.rows(1, "lantern"))
    assert refresh() == Refreshed()
    assert listed(store.home, Wanted(everywhere=True)).rows[0]["bytes"] == path.stat().st_size > before
    assert store.found("lantern") == []
    os.utime(path, (store.began, store.began))  # it rests
    assert store.found("lantern") == [1]
    with path.open("r+") as stream:  # not only grown: its beginning is another
        stream.write(store.rows(1, "MEND")[:20].replace("session", "SESSION"))
        stream.seek(0, os.SEEK_END)
        stream.write(" ")
    assert refresh().read == 1


def _written_long_ago(path: Path, seconds: float = 100.0) -> None:
    """Let the note that every log was looked at be some seconds old."""
    when = time.time() - seconds
    os.utime(path, (when, when))


def _holds(word: str) -> bool:
    with reading(index_path()) as database:
        assert database is not None
        return bool(database.execute("SELECT count(*) FROM said WHERE instr(text, ?)", (word,)).fetchone()[0])


def test_a_log_taken_up_again_after_long_is_found_by_the_answer_after_the_next(store: Any) -> None:
    paths = [store.save(number, "mend the bucket") for number in range(1, 4)]
    refresh()
    mark = index_path().with_suffix(".checked")
    with paths[0].open("a") as stream:
        stream.write(store.rows(1, "lantern"))
    os.utime(paths[0], (store.began, store.began))  # no glance at the newest sees it
    with reading(index_path()) as database:
        assert database is not None
        assert is_current(database, index_path(), newest=1)
        _written_long_ago(mark)
        assert is_current(database, index_path(), newest=1)
    deadline = time.monotonic() + 60
    while not _holds("lantern") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _holds("lantern")


@pytest.mark.parametrize("age", [100_000.0, -100.0])
def test_a_look_at_every_log_is_not_put_off_for_ever(store: Any, age: float) -> None:
    paths = [store.save(number, "mend the bucket") for number in range(1, 4)]
    refresh()
    with paths[0].open("a") as stream:
        stream.write(store.rows(1, "lantern"))
    os.utime(paths[0], (store.began, store.began))
    _written_long_ago(index_path().with_suffix(".checked"), age)
    with reading(index_path()) as database:
        assert database is not None
        assert not is_current(database, index_path(), newest=1)


def test_for_a_sum_the_look_at_every_log_is_not_put_off(store: Any) -> None:
    paths = [store.save(number, "mend the bucket") for number in range(1, 4)]
    refresh()
    with paths[0].open("a") as stream:
        stream.write(store.rows(1, "lantern"))
    os.utime(paths[0], (store.began, store.began))
    _written_long_ago(index_path().with_suffix(".checked"))
    with reading(index_path()) as database:
        assert database is not None
        assert not is_current(database, index_path(), newest=1, exact=True)


def test_of_few_logs_each_is_looked_at_at_once(store: Any) -> None:
    path = store.save(1, "mend the bucket")
    store.save(2, "newer")
    refresh()
    with path.open("a") as stream:
        stream.write(store.rows(1, "lantern"))
    os.utime(path, (store.began, store.began))
    _written_long_ago(index_path().with_suffix(".checked"))
    assert store.found("lantern") == [1]
