"""R16, R17, R33, R36: a fresh agent goes on from git alone, packet or not; no vendor is needed; what is local is told."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


@pytest.fixture
def handed_over(full: Any, claude_session: Any) -> Any:
    """A whole workbench with a session's work, wrapped and committed."""
    full.repository.commit("Keep the workbench")
    session = claude_session(full.root)
    session.human("Limit exports to ten a minute, and leave the session middleware alone")
    session.edits("src/limits.py")
    session.runs("pytest -x tests/test_limits.py", "E  AssertionError: 3 != 0\n1 failed", 1)
    full.wrap("--interim")
    full.repository.git("add", "-f", "outputs/handoff")
    full.repository.git("commit", "-q", "-m", "Hand over")
    return full


def doctor(bench: Any, *words: str, code: int) -> dict[str, Any]:
    """Run the real doctor and return its answer."""
    found: dict[str, Any] = json.loads(bench.passdown("doctor", "--json", *words, code=code))
    return found


def elsewhere(*words: str, home: str = "/nonexistent/home") -> tuple[int, dict[str, Any]]:
    """Run passdown on a machine without a home folder, without agents, and with nothing else in the environment."""
    environment = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_GLOBAL": os.devnull,
                   "GIT_CONFIG_SYSTEM": os.devnull}  # fmt: skip
    argv = [sys.executable, "-m", "passdown", *words]
    done = subprocess.run(argv, cwd="/", env=environment, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode, json.loads(done.stdout)


def clone(bench: Any, target: Path) -> Path:
    """Clone as git does it, over its own transfer."""
    bench.repository.git("-c", "protocol.file.allow=always", "clone", "-q", f"file://{bench.root}", str(target))
    return target


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a packet with the field it stands in."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from texts(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, path)
    elif isinstance(value, str):
        yield path, value


def test_r16_all_sessions_deleted_a_fresh_agent_goes_on(handed_over: Any, tmp_path: Path, isolated_home: Path) -> None:
    found = doctor(handed_over, code=0)
    reading = found["readings"][0]
    assert (reading["verdict"], found["lost"]) == ("ready", [])
    assert found["score"] == f"{reading['pointers']} of {reading['pointers']}"
    assert reading["pointers"] >= 20
    assert reading["unresolved"] == []

    there = clone(handed_over, tmp_path / "there")
    shutil.rmtree(isolated_home)
    shutil.rmtree(handed_over.root)
    code, brief = elsewhere("-C", str(there), "take", "--json", "--no-receipt")
    assert (code, brief["verdict"]) == (0, "ready")
    assert brief["packet_id"] == found["packet_id"]
    assert brief["next_step"]["text"]
    assert elsewhere("-C", str(there), "take", "--json", "--no-receipt", home="")[1] == brief
    code, again = elsewhere("-C", str(there), "doctor", "--json")
    assert (code, again["score"]) == (0, found["score"])


def test_r16_no_absolute_path_and_no_session_id_is_needed(handed_over: Any, isolated_home: Path) -> None:
    (path,) = (handed_over.root / "outputs/handoff").glob("*/handoff.json")
    packet = json.loads(path.read_text("utf-8"))
    for field, text in texts(packet):
        assert str(handed_over.root) not in text, field
        assert str(isolated_home) not in text, field
        assert not re.match(r"/\w|~|[A-Za-z]:[\\/]", text), (field, text)
        assert SESSION not in text or field == "sessions.id", field


def test_r33_without_producer_and_sessions_takeover_is_still_ready(handed_over: Any, tmp_path: Path) -> None:
    there = clone(handed_over, tmp_path / "there")
    (path,) = (there / "outputs/handoff").glob("*/handoff.json")
    packet = json.loads(path.read_text("utf-8"))
    for name in ("producer", "sessions"):
        packet.pop(name)
    path.write_text(json.dumps(packet), "utf-8")
    code, brief = elsewhere("-C", str(there), "take", "--json", "--no-receipt")
    assert (code, brief["verdict"], brief["packet_id"]) == (0, "ready", packet["packet_id"])


def test_r17_without_the_packet_the_cold_start_lists_board_commits_and_dirty_files(
    handed_over: Any, tmp_path: Path
) -> None:
    there = clone(handed_over, tmp_path / "there")
    shutil.rmtree(there / "outputs/handoff")
    (there / "src/limits.py").write_text("LIMIT = 11\n")
    code, cold = elsewhere("-C", str(there), "take", "--json")
    assert (code, cold["verdict"]) == (4, "cold_start")
    assert any("T-014" in row["text"] or "Rate-limit" in row["text"] for row in cold["board"])
    assert any("Keep the workbench" in row["note"] for row in cold["commits"])
    assert any("src/limits.py" in row["text"] for row in cold["dirty"])
    code, found = elsewhere("-C", str(there), "doctor", "--json")
    assert code == 6
    assert {"lost.uncommitted"} <= {finding["code"] for finding in found["lost"]}


def test_r36_portable_flags_and_blocks_each_thing_that_is_local(handed_over: Any) -> None:
    repository, root = handed_over.repository, handed_over.root
    repository.git("init", "-q", "--bare", "-b", "main", "../remote.git")
    repository.git("remote", "add", "origin", "../remote.git")
    repository.git("push", "-q", "--all", "-u", "origin")
    assert doctor(handed_over, "--portable", code=0)["lost"] == []

    repository.write("src/limits.py", "LIMIT = 12\n")
    repository.git("stash", "push", "-q", "-m", "another limit, tried and put aside")
    repository.git("rm", "-q", "--cached", "coverage_report.json")
    repository.write(".gitignore", "coverage_report.json\n")
    repository.git("add", ".gitignore")
    repository.git("commit", "-q", "-m", "Ignore the coverage")
    repository.git("worktree", "add", "-q", "../second", "-b", "second")
    (root.parent / "second" / "docs/api.md").write_text("# Other\n")

    found = doctor(handed_over, "--portable", code=6)
    lost = {finding["code"]: finding for finding in found["lost"]}
    assert set(lost) >= {"lost.stash", "lost.unpushed", "lost.ignored", "lost.worktree"}
    assert "coverage_report.json" in lost["lost.ignored"]["detail"]
    assert all(lost[code]["fix"] for code in ("lost.stash", "lost.unpushed", "lost.ignored", "lost.worktree"))
    handed_over.wrap("--interim")
    (packet,) = [
        plain["local_only"]
        for path in (root / "outputs/handoff").glob("*/handoff.json")
        if (plain := json.loads(path.read_text("utf-8")))["status"] == "active"
    ]
    assert len(packet["stashes"]) == 1
    assert packet["unpushed"] == 1
    assert "coverage_report.json" in packet["ignored_artifacts"]
    assert [tree["branch"] for tree in packet["worktrees"]] == ["second"]
