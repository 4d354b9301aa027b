"""The index of sessions: what changes in the agents' folders is seen, and nothing a user or a crash does breaks it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from passdown import __version__
from passdown.handoff.session_list import Wanted, listed, moment, searched
from passdown.sessions.discover import all_sessions
from passdown.sessions.index.changes import find_changes, seems_unchanged
from passdown.sessions.index.fill import Refreshed, refresh
from passdown.sessions.index.place import index_path
from passdown.sessions.index.schema import reading

AT = 1_760_000_000


class Store:
    """Claude Code's folder in the isolated home, with sessions of a few rows."""

    def __init__(self, home: Path) -> None:
        self.home, self.clock = home, AT

    def path(self, number: int, folder: str = "p") -> Path:
        return self.home / ".claude/projects" / folder / f"{number:08x}-0000-4000-8000-000000000000.jsonl"

    def rows(self, number: int, *said: str, cwd: str = "/gone/here", branch: str = "main") -> str:
        base = {"sessionId": self.path(number).stem, "cwd": cwd, "gitBranch": branch, "version": "2.1.0",
                "timestamp": "2025-10-09T08:53:20.000Z", "isSidechain": False}  # fmt: skip
        rows = [
            base | {"type": "user", "uuid": f"u{count}", "parentUuid": None, "permissionMode": "default",
                    "message": {"role": "user", "content": text}}
            for count, text in enumerate(said)
        ]  # fmt: skip
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    def save(self, number: int, *said: str, folder: str = "p", at: int | None = None, **more: Any) -> Path:
        self.clock += 10
        path = self.path(number, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.rows(number, *said, **more))
        os.utime(path, (at or self.clock, at or self.clock))
        return path

    def found(self, words: str) -> list[int]:
        answer = searched(self.home, words, Wanted(everywhere=True, limit=1000))
        assert answer.notes == ()
        return sorted(int(found.session["session_id"][:8], 16) for found in answer.found)

    def all(self) -> list[int]:
        """The numbers of all sessions, newest first, everything looked at (not just a glance)."""
        index_path().with_suffix(".checked").unlink(missing_ok=True)
        answer = listed(self.home, Wanted(everywhere=True, limit=100_000))
        assert answer.notes == ()
        return [int(row["session_id"][:8], 16) for row in answer.rows]


@pytest.fixture
def store(isolated_home: Path) -> Store:
    return Store(isolated_home)


def test_a_pass_reads_all_and_the_next_one_nothing(store: Store) -> None:
    store.save(1, "mend the bucket")
    store.save(2, "write the docs", folder="q")
    assert refresh() == Refreshed(read=2)
    assert refresh() == Refreshed()
    assert store.all() == [2, 1]
    assert store.found("bucket") == [1]


def test_what_is_appended_is_found_and_what_was_there_stays(store: Store) -> None:
    path = store.save(1, "mend the bucket")
    store.save(2, "other")
    store.all()
    path.write_text(store.rows(1, "mend the bucket", "and the lantern"))
    os.utime(path, (AT + 500, AT + 500))
    assert store.found("lantern") == [1]
    assert store.found("bucket") == [1]
    assert refresh() == Refreshed()
    assert store.all() == [1, 2]


def test_what_is_cut_off_is_found_no_more(store: Store) -> None:
    path = store.save(1, "mend the bucket", "and the lantern")
    assert store.found("lantern") == [1]
    path.write_text(store.rows(1, "mend the bucket"))
    assert store.found("lantern") == []
    assert store.found("bucket") == [1]


def test_a_file_replaced_by_one_of_the_same_size_is_read_again(store: Store) -> None:
    path = store.save(1, "mend the bucket")
    assert store.found("bucket") == [1]
    size = path.stat().st_size
    store.save(1, "mend the lights")
    assert path.stat().st_size == size
    assert store.found("bucket") == []
    assert store.found("lights") == [1]


def test_a_file_written_in_the_moment_it_was_read_is_read_again(store: Store) -> None:
    path = store.save(1, "mend the bucket")
    now = time.time_ns() + 10**10  # however slow this machine is
    os.utime(path, ns=(now, now))
    assert refresh().read == 1
    path.write_text(store.rows(1, "mend the lights"))
    os.utime(path, ns=(now, now))
    assert refresh().read == 1
    assert store.found("lights") == [1]


def test_a_time_that_goes_back_counts_as_a_change(store: Store) -> None:
    store.save(1, "mend the bucket")
    store.all()
    store.save(1, "mend the lights", at=AT - 10_000)
    assert store.found("bucket") == []
    assert store.found("lights") == [1]


def test_deleted_and_renamed_files(store: Store) -> None:
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


def test_an_agent_that_was_removed_leaves_nothing_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_file_that_is_no_session_is_looked_at_once(store: Store) -> None:
    path = store.save(1, "mend the bucket")
    path.with_name("notes.jsonl").write_text('{"hello": 1}\n')
    path.with_name("empty.jsonl").write_text("")
    time.sleep(0.05)
    assert refresh().read == 3
    assert refresh() == Refreshed()
    assert store.all() == [1]


def test_names_that_are_no_text_and_text_that_is_none(store: Store) -> None:
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


def test_links_are_not_followed(store: Store, tmp_path: Path) -> None:
    path = store.save(1, "mend the bucket")
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text(store.rows(2, "secret lantern"))
    path.with_name("link.jsonl").symlink_to(elsewhere)
    (path.parent.parent / "linked").symlink_to(tmp_path)
    assert store.all() == [1]
    assert store.found("lantern") == []


def test_a_glance_sees_new_sessions_and_grown_ones(store: Store) -> None:
    path = store.save(1, "mend the bucket")
    refresh()
    with reading(index_path()) as database:
        assert database is not None
        assert seems_unchanged(database)
        with path.open("a") as stream:
            stream.write("\n")
        os.utime(path, (AT + 99, AT + 99))
        assert not seems_unchanged(database)
        refresh()
        assert seems_unchanged(database)
        store.save(2, "new", folder="another")
        assert not seems_unchanged(database)


def test_a_large_log_that_only_grows_is_not_read_again_at_once(store: Store) -> None:
    path = store.save(1, "mend the bucket", *["x" * 1_000_000] * 17)
    refresh()
    before = path.stat().st_size
    with path.open("a") as stream:
        stream.write(store.rows(1, "lantern"))
    assert refresh() == Refreshed()
    assert listed(store.home, Wanted(everywhere=True)).rows[0]["bytes"] == path.stat().st_size > before
    assert store.found("lantern") == []
    os.utime(path, (AT, AT))  # it rests
    assert store.found("lantern") == [1]
    with path.open("r+") as stream:  # not only grown: its beginning is another
        stream.write(store.rows(1, "MEND")[:20].replace("session", "SESSION"))
        stream.seek(0, os.SEEK_END)
        stream.write(" ")
    assert refresh().read == 1


def test_the_index_is_the_users_alone_and_holds_no_secret(store: Store) -> None:
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
def test_a_damaged_or_foreign_index_is_made_anew(store: Store, damage: str) -> None:
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


def test_damage_that_shows_when_it_is_asked(store: Store) -> None:
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


def test_a_folder_that_cannot_be_written(store: Store) -> None:
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


def test_where_the_index_should_lie_lies_a_file(store: Store) -> None:
    store.save(1, "mend the bucket")
    (store.home / ".local").mkdir()
    (store.home / ".local/share").write_text("in the way")
    answer = searched(store.home, "bucket", Wanted(everywhere=True))
    assert len(answer.found) == 1
    assert any("cannot be written" in note for note in answer.notes)


def test_an_index_that_is_a_link_is_not_written_through(store: Store, tmp_path: Path) -> None:
    store.save(1, "mend the bucket")
    index_path().parent.mkdir(parents=True)
    index_path().symlink_to(tmp_path / "elsewhere.sqlite")
    answer = searched(store.home, "bucket", Wanted(everywhere=True))
    assert len(answer.found) == 1
    assert any("symlink" in note for note in answer.notes)
    assert not (tmp_path / "elsewhere.sqlite").exists()


def _fill(home: Path, processes: int = 1) -> subprocess.Popen[bytes]:
    script = home / "fill.py"
    script.write_text(
        "import sys\nfrom passdown.sessions.index.fill import refresh\nimport passdown.sessions.index.fill as fill\n"
        "if __name__ == '__main__':\n    fill._COMMIT_EVERY = 0.0\n    fill.ALONE = 0\n    print(*refresh(processes=int(sys.argv[1])))\n"
    )
    return subprocess.Popen(
        [sys.executable, str(script), str(processes)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def test_several_processes_at_once(store: Store) -> None:
    for number in range(1, 120):
        store.save(number, f"mend the bucket {number}")
    fillers = [_fill(store.home, processes) for processes in (1, 2, 1)]
    answers = []
    while any(filler.poll() is None for filler in fillers):
        answer = searched(store.home, "bucket", Wanted(everywhere=True, limit=1000))
        answers.append(len(answer.found))
    for filler in fillers:
        output, _ = filler.communicate()
        assert filler.returncode == 0, output.decode()
        assert b"Traceback" not in output
    assert answers == sorted(answers)
    assert store.all() == list(range(119, 0, -1))
    assert len(store.found("bucket")) == 119


@pytest.mark.parametrize("processes", [2])
def test_a_kill_in_the_middle_leaves_it_usable(store: Store, processes: int) -> None:
    for number in range(1, 200):
        store.save(number, *[f"mend the bucket {number} {text}" for text in range(20)])
    path = index_path()
    filler = _fill(store.home, processes)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and filler.poll() is None:
        with reading(path) as database:
            if database is not None and database.execute("SELECT count(*) FROM sessions").fetchone()[0] > 5:
                break
    filler.send_signal(signal.SIGKILL)
    filler.communicate()
    with reading(path) as database:
        assert database is not None
        known = database.execute("SELECT count(*) FROM sessions").fetchone()[0]
    assert 5 < known <= 199
    assert refresh().read == 199 - known
    assert store.all() == list(range(199, 0, -1))
    assert len(store.found("bucket")) == 199
    with reading(path) as database:
        assert database is not None
        assert database.execute("SELECT count(*) FROM said").fetchone()[0] == 199 * 21
        assert database.execute("SELECT count(*) FROM parts").fetchone()[0] == 199


def test_texts_that_are_gone_are_cleared_out_in_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passdown.sessions.index.fill._DEAD", 10)
    for turn in range(6):
        store.save(1, *[f"mend the bucket {turn} {text}" for text in range(8)], at=AT + turn)
        assert refresh().read == 1
    assert store.found("bucket") == [1]
    with reading(index_path()) as database:
        assert database is not None
        alive = database.execute("SELECT count(*) FROM words WHERE words MATCH 'bucket'").fetchone()[0]
    assert alive <= 9 + 2 * 10


def test_ten_thousand_sessions_are_counted(store: Store) -> None:
    text = {branch: store.rows(1, "mend the bucket", branch=branch) for branch in ("main", "side")}
    for number in range(10_000):
        path = store.path(number, f"p{number % 500}")
        if number < 500:
            path.parent.mkdir(parents=True)
        branch = "side" if number % 10 == 0 else "main"
        path.write_text(text[branch].replace(store.path(1).stem, path.stem))
        os.utime(path, (AT + number, AT + number))
    assert refresh().read == 10_000
    assert refresh() == Refreshed()
    answer = listed(store.home, Wanted(everywhere=True, branch="side"))
    assert (len(answer.rows), answer.left_out) == (20, 980)
    assert answer.rows[0]["session_id"] == store.path(9990).stem
    assert len(all_sessions().refs) == 10_000


def test_discovery_with_the_index_finds_what_it_finds_without(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 30):
        store.save(number, "mend the bucket", branch=f"b{number}", cwd=f"/gone/{number}")
    without = all_sessions().refs
    refresh()
    monkeypatch.setattr("passdown.sessions.index.known._FEW", 5)
    assert all_sessions().refs == without
    store.save(3, "changed", cwd="/elsewhere")
    store.path(4).unlink()
    store.save(31, "new")
    again = {ref.session_id[:8]: ref.cwd for ref in all_sessions().refs}
    assert (len(again), again["00000003"], again["0000001f"]) == (29, "/elsewhere", "/gone/here")
    index_path().write_bytes(b"broken" * 1000)
    assert len(all_sessions().refs) == 29


def test_every_agents_patterns_name_what_its_reader_finds(isolated_home: Path) -> None:
    from passdown.sessions.index.stores import list_files, rows

    fixtures = Path(__file__).parent.parent / "fixtures"
    _every_agent(isolated_home, fixtures)
    seen = set()
    for agent, home, logs in rows():
        if logs is None or not logs.whole:
            continue
        from passdown.agents.table import sessions_of

        listing = list_files(home, logs)
        files = [Path(path, stamp.name) for path, folder in listing.items() for stamp in folder.files]
        refs = {ref for path in files if (ref := sessions_of(agent).refer(path)) is not None}
        assert refs == set(sessions_of(agent).find(home)), agent.id
        assert refs, agent.id
        seen.add(agent.id)
    assert {"claude_code", "codex", "pi"} <= seen


def _every_agent(home: Path, fixtures: Path) -> None:
    """Lay one or two fixtures of each agent where it keeps its sessions, with what must not be taken beside them."""
    store = Store(home)
    store.save(1, "hello")
    store.path(1).with_name("agent-x.jsonl").write_text(store.rows(1, "from a subagent"))
    codex = home / ".codex/sessions/2025/10/09"
    codex.mkdir(parents=True)
    (home / ".codex/archived_sessions").mkdir()
    meta = {"timestamp": "2025-10-09T08:53:20.000Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/x", "timestamp": "2025-10-09T08:53:20.000Z"}}  # fmt: skip
    names = [f"rollout-2025-10-09T08-53-2{n}-0000000{n}-0000-4000-8000-000000000000.jsonl" for n in range(3)]
    for name in names[:2]:
        (codex / name).write_text(json.dumps(meta) + "\n")
    (home / ".codex/archived_sessions" / names[1]).write_text(json.dumps(meta) + "\n")
    (home / ".codex/archived_sessions" / names[2]).write_text(json.dumps(meta) + "\n")
    (codex / (names[0] + ".zst")).write_bytes(b"packed")
    pi = home / ".pi/agent/sessions/--x--"
    pi.mkdir(parents=True)
    row = {"type": "session", "version": 3, "id": "abcd", "timestamp": "2025-10-09T08:53:20.000Z", "cwd": "/x"}
    (pi / "a_b.jsonl").write_text(json.dumps(row) + "\n")
    (pi.parent / "flat.jsonl").write_text(json.dumps(row) + "\n")
    qwen = home / ".qwen/projects/x/chats"
    qwen.mkdir(parents=True)
    said = {"uuid": "a", "parentUuid": None, "sessionId": "q1", "timestamp": "2025-10-09T08:53:20.000Z", "type": "user",
            "cwd": "/x", "version": "0.14.0", "message": {"role": "user", "parts": [{"text": "hi"}]}}  # fmt: skip
    (qwen / "q1.jsonl").write_text(json.dumps(said) + "\n")
    gemini = home / ".gemini/tmp/x/chats"
    gemini.mkdir(parents=True)
    head = {"sessionId": "g1", "projectHash": "x", "startTime": "2025-10-09T08:53:20.000Z", "lastUpdated": "2025-10-09T08:53:20.000Z"}  # fmt: skip
    (gemini / "session-2025-10-09T08-53-g1.jsonl").write_text(json.dumps(head | {"kind": "main"}) + "\n")
    (gemini / "session-2025-10-09T08-53-g1.json").write_text(json.dumps(head | {"messages": []}))
    (gemini / "session-2025-10-09T08-54-g2.json").write_text(json.dumps(head | {"messages": []}))
    copilot = home / ".copilot/session-state"
    (copilot / "c1").mkdir(parents=True)
    start = {"type": "session.start", "id": "1", "timestamp": "2025-10-09T08:53:20.000Z", "parentId": None,
             "data": {"sessionId": "c1", "startTime": "2025-10-09T08:53:20.000Z", "copilotVersion": "1.0.0"}}  # fmt: skip
    (copilot / "c1/events.jsonl").write_text(json.dumps(start) + "\n")
    (copilot / "c2.jsonl").write_text(json.dumps(start) + "\n")


def test_times_that_people_write() -> None:
    assert moment("2d", now=1_000_000.0) == (1_000_000 - 2 * 86400) * 1000
    assert moment("90 m", now=10_000.0) == (10_000 - 5400) * 1000
    assert moment("2025-10-09T08:53:20+00:00") == 1_760_000_000_000
    with pytest.raises(Exception, match="no time"):
        moment("yesterday-ish")


def test_what_it_was_made_with_is_noted(store: Store) -> None:
    store.save(1, "x")
    store.all()
    with reading(index_path()) as database:
        assert database is not None
        assert database.execute("SELECT value FROM facts WHERE name = 'passdown'").fetchone() == (__version__,)
        assert not any(find_changes(database))
