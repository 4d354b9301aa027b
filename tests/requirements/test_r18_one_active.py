"""R18 and R20: one active packet for a branch and topic; what is superseded or archived drives nothing and stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

LOAD = Path(__file__).parent.parent / "store/lifecycle_load.py"


def entries(bench: Any) -> dict[str, dict[str, Any]]:
    """Return the packets as the log lists them."""
    found = json.loads(bench.passdown("log", "--json"))["entries"]
    return {entry["packet_id"]: entry for entry in found if entry["what"] == "packet"}


def test_r18_a_second_packet_supersedes_the_first_and_history_can_be_walked(bench: Any) -> None:
    ids = []
    for name in ("one", "two", "three"):
        bench.put({f"src/{name}.py": "x = 1\n"})
        ids.append(bench.wrap()["packet_id"])
    listed = entries(bench)
    assert [listed[name]["state"] for name in ids] == ["superseded", "superseded", "active"]
    walked, name = [], ids[-1]
    while name:
        walked.append(name)
        [path] = [
            p for p in bench.root.glob("outputs/handoff/*/handoff.json") if name in p.read_text().split("supersedes")[0]
        ]
        name = json.loads(path.read_bytes())["supersedes"]
    assert walked == ids[::-1]


def test_r18_many_writers_leave_one_active_packet_a_topic(tmp_path: Path) -> None:
    """Eight processes wrap, supersede, archive and restore at once; the full count is run by .ci/run."""
    done = subprocess.run([sys.executable, str(LOAD), "96", "8"], capture_output=True, check=False)
    report = json.loads(done.stdout)
    assert (done.returncode, report["wrong"], report["operations"]) == (0, [], 96), done.stderr.decode()
    assert report["packets"] > 5


def test_r18_two_heads_are_refused_until_one_is_kept(bench: Any) -> None:
    first = bench.wrap()
    [place] = bench.root.glob("outputs/handoff/*")
    bench.put({"src/one.py": "x = 1\n"})
    second = bench.wrap()
    # Another device wrapped over the same packet; git brought both here.
    other = json.loads((place / "handoff.json").read_text())
    other |= {"status": "active", "supersedes": first["packet_id"], "summary": "done elsewhere"}
    from passdown.packet.identity import packet_id

    other["packet_id"] = packet_id(other)
    bench.put({"outputs/handoff/elsewhere/handoff.json": json.dumps(other)})
    refused = bench.run("-C", str(bench.root), "take")
    assert refused.returncode == 7
    for name in (second["packet_id"], other["packet_id"]):
        assert name[:12].encode() in refused.stderr
    shown = bench.passdown("resolve", code=7)
    assert second["packet_id"][:12] in shown
    assert "next:" in shown
    assert "it alone knows:" in shown
    conflict = json.loads(bench.passdown("resolve", "--json", code=7))
    assert len(conflict["conflicts"][0]) == 2
    kept = json.loads(bench.passdown("resolve", "--keep", second["packet_id"][:8], "--json"))
    taken = json.loads(bench.passdown("take", "--json"))
    assert taken["packet_id"] == kept["packet_id"]
    assert bench.passdown("resolve") == ""


def test_r20_a_superseded_packet_points_to_the_one_that_counts(bench: Any) -> None:
    ids = []
    for name in ("one", "two", "three"):
        bench.put({f"src/{name}.py": "x = 1\n"})
        ids.append(bench.wrap()["packet_id"])
    for name in ids[:2]:
        done = bench.run("-C", str(bench.root), "take", "--json", name[:8])
        assert done.returncode == 6
        assert ids[2][:12] in done.stdout.decode()
        assert json.loads(bench.passdown("show", "--json", name[:8]))["packet_id"] == name, "never deleted"


def test_r20_an_archived_packet_drives_nothing_and_is_not_deleted(bench: Any) -> None:
    packet = bench.wrap()
    short = packet["packet_id"][:8]
    bench.passdown("archive", short)
    done = bench.run("-C", str(bench.root), "take", short)
    assert (done.returncode, done.stdout) == (6, b"")
    assert b"archive --undo" in done.stderr
    assert json.loads(bench.passdown("take", "--json", "--no-receipt", code=4))["verdict"] == "cold_start"
    assert json.loads(bench.passdown("show", "--json", short))["packet_id"] == packet["packet_id"]
    assert entries(bench)[packet["packet_id"]]["state"] == "archived"
    later = bench.wrap()
    assert later["supersedes"] is None, "nothing builds on it"
    restored = json.loads(bench.passdown("restore", "--json", short))
    assert restored["of"] == packet["packet_id"]
    assert "active" in {entry["state"] for entry in entries(bench).values()}


def test_r20_restoring_brings_an_old_packet_back_under_a_new_id(bench: Any) -> None:
    bench.put({"src/one.py": "x = 1\n"})
    old = bench.wrap()
    bench.put({"src/two.py": "x = 1\n"})
    new = bench.wrap()
    done = json.loads(bench.passdown("restore", old["packet_id"][:8], "--json"))
    assert done["over"] == [new["packet_id"]]
    taken = json.loads(bench.passdown("take", "--json", done["packet_id"][:8]))
    assert taken["packet_id"] == done["packet_id"]
    assert done["packet_id"] in bench.markdown()
    states = {name: entry["state"] for name, entry in entries(bench).items()}
    assert states == {old["packet_id"]: "superseded", new["packet_id"]: "superseded", done["packet_id"]: "active"}


def test_names_that_are_ambiguous_list_the_candidates(bench: Any) -> None:
    bench.put({"passdown.toml": 'session-id = "mine"\n'})
    bench.wrap()
    for words in (["archive", "0"], ["restore", "nothing"], ["archive"], ["archive", "x", "--all-superseded"]):
        done = bench.run("-C", str(bench.root), *words)
        assert done.returncode == 2
        assert b"Here are" in done.stderr or b"--all-superseded" in done.stderr


def test_r20_what_was_restored_is_taken_although_a_session_went_on_after_it(bench: Any, claude_session: Any) -> None:
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.human("Limit the exports.")
    session.runs("pytest -q", "1 failed", 1)
    old = bench.wrap()
    session.runs("pytest -q", "2 failed", 1)
    new = bench.wrap()
    assert new["supersedes"] == old["packet_id"]
    done = json.loads(bench.passdown("restore", old["packet_id"][:8], "--json"))
    # A log that is not live, and no younger than what it says.
    os.utime(session.path, (session.clock, session.clock))
    taken = json.loads(bench.passdown("take", "--json"))
    assert (taken["packet_id"], taken["built_now"]) == (done["packet_id"], False)
    session.runs("pytest -q", "1 passed")
    os.utime(session.path, (session.clock, session.clock))
    taken = json.loads(bench.passdown("take", "--json"))
    assert taken["built_now"], "work after that is newer, of course"
