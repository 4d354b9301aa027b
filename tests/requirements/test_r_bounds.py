"""R11 and R19: the size of a packet whatever went in, and the commit that is known to be good."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

HARD_CAP = 24_000


def ask(root: Any, *words: str) -> list[bytes]:
    """What git itself says, split at NUL."""
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    output = subprocess.run(["git", *words], cwd=root, env=environment, capture_output=True, check=True).stdout
    return [part for part in output.split(b"\0") if part]


def big_session(session: Any) -> tuple[set[str], int, int]:
    """Write a log of 50 MB; return its distinct commands, how many of them failed for good, and its human messages."""
    session.branch = "feat/export-limit"
    commands, failing = set(), 0
    for number in range(40):
        session.human(f"Request {number}: never touch file_{number}.py please. " + "why " * 300)
    noise = "TRANSCRIPT noise of the build, a line like any other\n" * 2_300
    for number in range(400):
        command, code = f"make target_{number}", number % 4
        session.runs(command, f"{number}\n{noise}", code)
        commands.add(command)
        failing += code != 0
    session.says("Next: mend target_1 in src/limits.py.")
    return commands, failing, 40


def test_r11_a_large_log_and_a_large_diff_stay_under_the_cap(bench: Any, claude_session: Any) -> None:
    session = claude_session(bench.root)
    commands, failing, said = big_session(session)
    assert session.path.stat().st_size > 50_000_000
    for number in range(10_000):
        bench.repository.write(f"pkg{number % 40}/m{number}.py", f"SOURCE = 'whole source of module {number}'\n")
    bench.repository.commit("Generate ten thousand modules")
    packet = bench.wrap()
    data = next(bench.root.glob("outputs/handoff/*/handoff.json")).read_bytes()
    assert len(data) <= HARD_CAP
    tracked = ask(bench.root, "diff", "-z", "--name-only", "--no-renames", packet["git"]["base"])
    untracked = ask(bench.root, "ls-files", "-z", "--others", "--exclude-standard")
    truth = {path for path in (*tracked, *untracked) if not path.startswith((b"outputs/handoff/", b".ai/"))}
    assert len(truth) == 10_001
    real = [file for file in packet["changed_files"] if file["status"] != "="]
    omitted = packet["omitted"]
    assert len(real) + omitted["changed_files"] == 10_001
    assert len(packet["commands_run"]) + omitted["commands_run"] == len(commands)
    assert len(packet["failed_attempts"]) + omitted["failed_attempts"] == failing
    assert len(packet["directives"]) + omitted["directives"] == said
    records = sum(entry.get("count", 1) for entry in packet["feedback_tail"])
    assert records + omitted["feedback_tail"] == len(commands)
    assert sum(packet["changed_elsewhere"].values()) <= omitted["changed_files"]
    markdown = bench.markdown()
    for text in (data.decode(), markdown):
        assert "whole source of module" not in text
        assert text.count("TRANSCRIPT noise") < 200
    assert len(markdown.encode()) < 9_000


def test_r19_branch_status_and_the_last_good_commit(bench: Any) -> None:
    good = bench.repository.git("rev-parse", "HEAD")
    packet = bench.wrap()
    assert (packet["git"]["branch"], packet["status"]) == ("feat/export-limit", "active")
    assert packet["git"]["last_known_good_commit"] is None
    assert "lkg.missing" in [risk["code"] for risk in packet["open_risks"]]
    bench.repository.commit("Later, not verified")
    report = {"task_id": "T-1", "passed": True, "findings": [], "head_commit": good}
    bench.put({"verification_report.json": report})
    packet = bench.wrap()
    assert packet["git"]["last_known_good_commit"] == good
    assert "lkg.missing" not in [risk["code"] for risk in packet["open_risks"]]
    assert packet["verdict_pointer"]["verification"]["stale"] is True
    bench.put({"verification_report.json": report | {"head_commit": "d" * 40}})
    assert bench.wrap()["git"]["last_known_good_commit"] is None, "a commit that is not here"
    bench.put({"verification_report.json": report | {"passed": False}})
    assert bench.wrap()["git"]["last_known_good_commit"] is None
    bench.put({"verification_report.json": None, "last_known_good.json": {"commit": good, "written_at": 1.0}})
    assert bench.wrap()["git"]["last_known_good_commit"] == good


def test_r19_the_newest_of_several_passed_reports(bench: Any) -> None:
    older = bench.repository.git("rev-parse", "HEAD")
    newer = bench.repository.commit("Second")
    bench.repository.commit("Third, not verified")
    bench.put({
        "task_board.json": [{"id": "T-2", "goal": "g", "status": "in_progress", "acceptance": ["make"], "owner": "builder"}],
        "outputs/verification/T-1.json": {"task_id": "T-1", "passed": True, "findings": [], "head_commit": newer},
        "outputs/verification/T-2.json": {"task_id": "T-2", "passed": True, "findings": [], "head_commit": older},
    })  # fmt: skip
    assert bench.wrap()["git"]["last_known_good_commit"] == newer


def test_r19_a_green_run_on_the_exact_tree(bench: Any, claude_session: Any) -> None:
    head = bench.repository.commit("Everything is committed")
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.human("Run the tests.")
    session.runs("pytest -q", "14 passed in 0.2s")
    assert bench.wrap()["git"]["last_known_good_commit"] == head
    bench.repository.write("src/limits.py", "LIMIT = 12\n")
    packet = json.loads(bench.passdown("wrap", "--dry-run", "--json"))
    assert packet["git"]["last_known_good_commit"] is None
