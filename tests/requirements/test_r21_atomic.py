"""R21: a wrap that is killed at any step of its writing leaves the old packet or the new one, and the next one heals it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passdown.packet.encode import decode_packet
from passdown.packet.identity import packet_id
from passdown.packet.render import render_markdown

SCRIPT = Path(__file__).with_name("kill_at_step.py")


def run_killed(home: Path, runs: list[tuple[list[str], int]]) -> list[tuple[int, int]]:
    """Run the commands, each killed at its step; return the wait statuses and the steps taken."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input=json.dumps(runs).encode(),
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return [(status, steps) for status, steps in json.loads(done.stdout)]


def own(root: Path) -> dict[str, bytes]:
    """Everything passdown wrote in a repository, leftovers included."""
    places = [*root.glob("outputs/**/*"), *root.glob(".ai/*"), *root.glob(".ai/.*"), *root.glob(".git/info/*")]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in places if path.is_file()}


def folders(root: Path) -> set[str]:
    """The packets' folders."""
    return {path.name for path in root.glob("outputs/handoff/*")}


@pytest.fixture
def stages(bench: Any, claude_session: Any, tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """A repository with an active packet and new work since, the same after an undisturbed wrap, and the wrap's words."""
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.human("Limit the exports.")
    session.runs("pytest -q", "1 failed", 1)
    words = ["wrap", "--interim", "--session", str(session.path)]
    bench.passdown(*words)
    bench.repository.write("src/new.py", "x = 1\n")
    session.runs("pytest -q", "1 passed")
    after = tmp_path / "after"
    (bench.root / ".git/info/exclude").write_text("")
    shutil.copytree(bench.root, after, symlinks=True)
    assert bench.run("-C", str(after), *words).returncode == 0
    return bench.root, after, words


def check_whole(root: Path, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Every packet file is an old one or a new one, byte for byte; a JSON file is a packet that its id vouches for."""
    for name, data in own(root).items():
        if name.endswith(".tmp"):
            continue
        assert data in (before.get(name), after.get(name)), name
        if name.endswith(".json"):
            packet = decode_packet(data)
            assert packet_id(json.loads(data)) == packet.packet_id


def test_r21_killed_at_every_step(stages: Any, isolated_home: Path, tmp_path: Path) -> None:
    root, after_root, words = stages
    before, after = own(root), own(after_root)
    ids = {
        json.loads(data)["packet_id"]: json.loads(data)["status"]
        for name, data in after.items()
        if name.endswith(".json")
    }
    assert sorted(ids.values()) == ["active", "superseded"]
    [(status, steps)] = run_killed(
        isolated_home, [(["-C", str(shutil.copytree(root, tmp_path / "whole", symlinks=True)), *words], 0)]
    )
    assert status == 0
    assert own(tmp_path / "whole") == after
    assert steps > 20
    copies = [shutil.copytree(root, tmp_path / f"copy{step}", symlinks=True) for step in range(1, steps + 1)]
    killed = run_killed(isolated_home, [(["-C", str(copy), *words], step) for step, copy in enumerate(copies, start=1)])
    assert {status for status, _ in killed} == {signal.SIGKILL}
    for copy in copies:
        check_whole(copy, before, after)
    shown = run_killed(isolated_home, [(["-C", str(copy), "show"], 0) for copy in copies])
    assert {status for status, _ in shown} == {0}, "there is always one packet to show"
    healed = run_killed(isolated_home, [(["-C", str(copy), *words], 0) for copy in copies])
    assert {status for status, _ in healed} == {0}
    for copy in copies:
        assert own(copy) == after, copy.name
        assert folders(copy) == folders(after_root)
    again = run_killed(isolated_home, [(["-C", str(copy), *words], 0) for copy in copies[::7]])
    assert {status for status, _ in again} == {0}
    assert all(own(copy) == after for copy in copies[::7])


def test_r21_the_first_wrap_killed_at_every_step(bench: Any, isolated_home: Path, tmp_path: Path) -> None:
    whole = shutil.copytree(bench.root, tmp_path / "whole", symlinks=True)
    [(status, steps)] = run_killed(isolated_home, [(["-C", str(whole), "wrap", "--interim"], 0)])
    assert status == 0
    copies = [shutil.copytree(bench.root, tmp_path / f"copy{step}", symlinks=True) for step in range(1, steps + 1)]
    run_killed(
        isolated_home, [(["-C", str(copy), "wrap", "--interim"], step) for step, copy in enumerate(copies, start=1)]
    )
    for copy in copies:
        check_whole(copy, own(bench.root), own(whole))
    healed = run_killed(isolated_home, [(["-C", str(copy), "wrap", "--interim"], 0) for copy in copies])
    assert {status for status, _ in healed} == {0}
    assert all(own(copy) == own(whole) for copy in copies)
    for copy in copies:
        status_lines = subprocess.run(
            ["git", "status", "--porcelain", "-uall"], cwd=copy, capture_output=True, check=True
        ).stdout
        assert b".tmp" not in status_lines


def test_r21_markdown_is_derived_again(bench: Any) -> None:
    packet = bench.wrap()
    [path] = bench.root.glob("outputs/handoff/*/handoff.json")
    markdown, mirror = path.with_name("handoff.md"), bench.root / ".ai/HANDOFF.md"
    text, data = markdown.read_bytes(), path.read_bytes()
    assert render_markdown(decode_packet(data)).encode() == text
    for spoil in (
        lambda p: p.unlink(),
        lambda p: p.write_text("# edited by hand\n"),
        lambda p: p.write_bytes(text[:300]),
    ):
        for victim in (markdown, mirror):
            spoil(victim)
            os.utime(path)
            assert bench.passdown("show").encode() == text, "JSON wins"
            changed = json.loads(bench.passdown("wrap", "--interim", "--json"))["changed"]
            assert changed == [victim.relative_to(bench.root).as_posix()]
            assert (markdown.read_bytes(), mirror.read_bytes(), path.read_bytes()) == (text, text, data)
    assert bench.wrap() == packet


def test_r21_a_file_that_is_no_packet_is_never_written_over(bench: Any) -> None:
    bench.put({"passdown.toml": 'session-id = "mine"\n'})
    first = json.loads(bench.passdown("wrap", "--interim", "--json"))["paths"][1]
    assert re.fullmatch(r"outputs/handoff/mine-[0-9a-f]{8}/handoff\.json", first)
    place = bench.root / first
    bench.put({first: '{"schema_version": 9, "kept": true'})
    second = json.loads(bench.passdown("wrap", "--interim", "--json"))["paths"][1]
    assert place.read_text() == '{"schema_version": 9, "kept": true'
    assert second != first
    assert json.loads(bench.passdown("wrap", "--interim", "--json"))["changed"] == []


@pytest.mark.parametrize("words", [["--topic", "rate limit!"], ["--topic", "限流"], []])
def test_r21_twice_writes_nothing_for_any_topic(words: list[str], bench: Any) -> None:
    first = json.loads(bench.passdown("wrap", "--interim", "--json", *words))
    second = json.loads(bench.passdown("wrap", "--interim", "--json", *words))
    assert first["changed"]
    assert (second["changed"], second["packet_id"]) == ([], first["packet_id"])


@pytest.mark.parametrize(
    "branch", ["feat/\u202etxt.exe", "长" * 70, "x/" + "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"]
)
def test_r21_twice_writes_nothing_for_any_branch(branch: str, bench: Any) -> None:
    bench.repository.git("switch", "-q", "-c", branch)
    bench.wrap()
    assert json.loads(bench.passdown("wrap", "--interim", "--json"))["changed"] == []
    assert bench.passdown("show").startswith("# Handoff")


def test_r21_twice_writes_nothing_over_a_whole_workbench(full: Any) -> None:
    packet = full.wrap()
    assert json.loads(full.passdown("wrap", "--interim", "--json"))["changed"] == []
    assert full.wrap() == packet
