"""Several processes at the index, one killed half-way, and as many sessions as there may be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.session_list import Wanted, listed, searched
from passdown.sessions.discover import all_sessions
from passdown.sessions.index.fill import Refreshed, refresh
from passdown.sessions.index.place import index_path
from passdown.sessions.index.schema import reading


def _fill(home: Path, processes: int = 1) -> subprocess.Popen[bytes]:
    script = home / "fill.py"
    script.write_text(
        "import sys\nfrom passdown.sessions.index.fill import refresh\nimport passdown.sessions.index.fill as fill\n"
        "if __name__ == '__main__':\n    fill._COMMIT_EVERY = 0.0\n    fill.ALONE = 0\n    print(*refresh(processes=int(sys.argv[1])))\n"
    )
    return subprocess.Popen(
        [sys.executable, str(script), str(processes)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def test_several_processes_at_once(store: Any) -> None:
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
def test_a_kill_in_the_middle_leaves_it_usable(store: Any, processes: int) -> None:
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


def test_texts_that_are_gone_are_cleared_out_in_time(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passdown.sessions.index.fill._DEAD", 10)
    for turn in range(6):
        store.save(1, *[f"mend the bucket {turn} {text}" for text in range(8)], at=store.began + turn)
        assert refresh().read == 1
    assert store.found("bucket") == [1]
    with reading(index_path()) as database:
        assert database is not None
        alive = database.execute("SELECT count(*) FROM words WHERE words MATCH 'bucket'").fetchone()[0]
    assert alive <= 9 + 2 * 10


def test_ten_thousand_sessions_are_counted(store: Any) -> None:
    text = {branch: store.rows(1, "mend the bucket", branch=branch) for branch in ("main", "side")}
    for number in range(10_000):
        path = store.path(number, f"p{number % 500}")
        if number < 500:
            path.parent.mkdir(parents=True)
        branch = "side" if number % 10 == 0 else "main"
        path.write_text(text[branch].replace(store.path(1).stem, path.stem))
        os.utime(path, (store.began + number, store.began + number))
    assert refresh().read == 10_000
    assert refresh() == Refreshed()
    answer = listed(store.home, Wanted(everywhere=True, branch="side"))
    assert (len(answer.rows), answer.left_out) == (20, 980)
    assert answer.rows[0]["session_id"] == store.path(9990).stem
    assert len(all_sessions().refs) == 10_000
