"""`passdown status`: one glance, and the right next thing at every turn of the work."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.status import Status, read_status
from passdown.sessions.newest import LOOKED_AT

SECOND = 1_000


def age(path: Path, seconds: int) -> None:
    """Make a file look as if it had last grown so many seconds after its own last line (or before, when negative)."""
    os.utime(path, (1_760_000_600 + seconds, 1_760_000_600 + seconds))


def look(root: Path, minutes: int = 600) -> Status:
    """Look at a repository, so many minutes after the sessions' time."""
    return read_status(root, now=(1_760_000_600 + 60 * minutes) * SECOND)


def test_the_next_thing_from_the_first_session_to_the_second_wrap(
    repository: Any, passdown: Any, claude_session: Any
) -> None:
    root = repository.root
    nothing = look(root)
    assert (nothing.packet, nothing.newer_sessions, nothing.next.command) == (None, (), "passdown take")

    session = claude_session(root)
    session.human("Make the parser accept tabs")
    session.runs("pytest -x", "E  AssertionError\n1 failed", 1)
    age(session.path, 60)
    worked = look(root)
    assert [(line.agent, line.live) for line in worked.newer_sessions] == [("claude_code", False)]
    assert worked.next.command == "passdown wrap"

    packet_id = json.loads(passdown("-C", str(root), "wrap", "--interim", "--json").stdout)["packet_id"]
    age(session.path, 30)  # as the log was when it ended
    wrapped = look(root)
    assert wrapped.packet is not None
    assert wrapped.packet.packet_id == packet_id
    assert (wrapped.packet.fit, wrapped.packet.commits_since, wrapped.newer_sessions) == ("as_left", 0, ())
    assert wrapped.packet.next_action
    assert (wrapped.next.command, wrapped.last_takeover) == ("passdown take", None)
    assert (wrapped.tree.changed, wrapped.tree.untracked) == (0, 0)

    assert passdown("-C", str(root), "take").returncode == 0
    taken = look(root)
    assert taken.last_takeover is not None
    assert taken.last_takeover.current
    assert (taken.last_takeover.packet_id, taken.last_takeover.by) == (packet_id, "human")
    assert taken.next.command in ("", "passdown check")

    repository.write("parser.py", "TABS = True\n")
    moved = look(root)
    assert moved.packet is not None
    assert (moved.tree.untracked, moved.packet.fit, moved.next.command) == (1, "moved_on", "passdown check")
    repository.git("add", "parser.py")
    repository.git("commit", "-q", "-m", "Accept tabs")
    moved = look(root)
    assert moved.packet is not None
    assert (moved.packet.commits_since, moved.packet.fit, moved.next.command) == (1, "moved_on", "passdown wrap")


def test_commits_of_the_packet_alone_are_no_work(repository: Any, passdown: Any, claude_session: Any) -> None:
    claude_session(repository.root).human("Make the parser accept tabs")
    passdown("-C", str(repository.root), "wrap", "--interim")
    repository.git("add", "-f", "outputs")
    repository.git("commit", "-q", "-m", "Hand over")
    packet = look(repository.root).packet
    assert packet is not None
    assert (packet.fit, packet.commits_since) == ("as_left", 0)


def test_a_rewritten_history_and_a_commit_that_is_not_here(repository: Any, passdown: Any, claude_session: Any) -> None:
    repository.write("a.py", "A = 1\n")
    repository.commit("Add a")
    claude_session(repository.root).human("Make the parser accept tabs")
    passdown("-C", str(repository.root), "wrap", "--interim")
    repository.git("commit", "-q", "--amend", "-m", "Add a, said better")
    found = look(repository.root)
    assert found.packet is not None
    assert found.packet.fit == "rewritten"
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "-q", "--prune=now")
    found = look(repository.root)
    assert found.packet is not None
    assert (found.packet.fit, found.packet.commits_since) == ("unknown", None)


def test_several_active_packets_are_named(repository: Any, passdown: Any, claude_session: Any) -> None:
    claude_session(repository.root).human("Make the parser accept tabs")
    passdown("-C", str(repository.root), "wrap", "--interim")
    (first,) = (repository.root / "outputs/handoff").glob("*/handoff.json")
    plain = json.loads(first.read_text())
    plain["packet_id"] = "b" * 64
    repository.write("outputs/handoff/other/handoff.json", json.dumps(plain))
    found = look(repository.root)
    assert len(found.heads) == 2
    assert found.next.command == "passdown resolve"


def test_a_running_session_and_very_many_old_ones(repository: Any, claude_session: Any) -> None:
    for number in range(LOOKED_AT + 5):
        session = claude_session(repository.root, f"aaaaaaaa-0000-4000-8000-{number:012}")
        session.human("Look around")
        age(session.path, -number)
    found = read_status(repository.root, now=1_760_000_600 * SECOND)
    assert len(found.newer_sessions) == LOOKED_AT
    assert found.more_sessions
    assert all(session.live for session in found.newer_sessions)


def test_sessions_of_other_folders_do_not_count(make_repository: Any, claude_session: Any) -> None:
    here, there = make_repository("here"), make_repository("there")
    claude_session(there.root).human("Look around")
    assert look(here.root).newer_sessions == ()
    assert len(look(there.root).newer_sessions) == 1


def test_the_upstream_an_operation_and_a_detached_head(make_repository: Any) -> None:
    repository = make_repository()
    repository.git("init", "-q", "--bare", "-b", "main", "../remote.git")
    repository.git("remote", "add", "origin", "../remote.git")
    repository.git("push", "-q", "-u", "origin", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "ahead")
    tree = look(repository.root).tree
    assert (tree.upstream, tree.ahead, tree.behind) == ("origin/main", 1, 0)
    repository.git("switch", "-q", "-c", "side")
    repository.write("README.md", "# side\n")
    repository.commit("side")
    repository.git("switch", "-q", "main")
    repository.write("README.md", "# main\n")
    repository.commit("main")
    repository.git("merge", "side", check=False)
    tree = look(repository.root).tree
    assert (tree.operation, tree.changed) == ("merge", 1)
    repository.git("merge", "--abort")
    repository.git("switch", "-q", "--detach")
    assert look(repository.root).tree.branch == ""


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_the_screen(repository: Any, passdown: Any, claude_session: Any, words: tuple[str, ...]) -> None:
    claude_session(repository.root).human("Make the parser accept tabs")
    passdown("-C", str(repository.root), "wrap", "--interim")
    (repository.root / "src").mkdir()
    done = passdown("-C", str(repository.root / "src"), "status", *words)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    if words:
        assert json.loads(done.stdout)["schema_version"] == 1
        return
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("project  main  ")
    assert lines[1] == "tree      clean"
    assert lines[-1].startswith("next      passdown ")
    assert len(lines) <= 9


def test_outside_a_repository(tmp_path: Path, passdown: Any) -> None:
    done = passdown("-C", str(tmp_path), "status")
    assert done.returncode == 4
    assert b"is not in a git repository" in done.stderr


def test_on_a_branch_without_a_packet_it_says_check_or_wrap_or_where_one_waits(
    make_repository: Any, passdown: Any
) -> None:
    repository = make_repository()
    repository.git("init", "-q", "--bare", "-b", "main", "../remote.git")
    repository.git("remote", "add", "origin", "../remote.git")
    repository.git("push", "-q", "-u", "origin", "main")
    repository.git("switch", "-q", "-c", "feat/ship")
    repository.write("src/ship.py", "COSTS = 490\n")
    dirty = look(repository.root).next
    assert (dirty.command, "1 file is not committed" in dirty.why) == ("passdown check", True)
    repository.git("push", "-q", "-u", "origin", "feat/ship")
    repository.commit("Add shipping")
    ahead = look(repository.root).next
    assert (ahead.command, "1 commit is new" in ahead.why) == ("passdown wrap", True)

    passdown("-C", str(repository.root), "wrap", "--interim", "--next", "Test src/ship.py")
    repository.git("add", "-f", "outputs")
    repository.commit("Hand over")
    repository.git("push", "-q")
    subprocess.run(["git", "clone", "-q", "../remote.git", "../clone"], cwd=repository.root, check=True)
    arrived = look(repository.root.parent / "clone")
    assert arrived.packet is None
    assert arrived.other_branches == ("origin/feat/ship",)
    assert arrived.next.command == "git switch feat/ship"
