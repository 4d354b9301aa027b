"""The lesson's own workbenches: our packet differs from the lesson's output only where the lesson's is known to be weak.

`lesson_payload` is the generator of lesson 40 as its text describes it, written here from that description.
"""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures/workbench"

CASES = {
    "lesson40": {"state": "workdir/agent_state.json", "verdict": "verification_report_T-001.json", "review": "review_report_T-001.json",
                 "diff": None, "logs": ["feedback_record.jsonl"]},
    "lesson42": {"state": "agent_state.json", "verdict": "outputs/verification/T-014.json", "review": "outputs/review/T-014.json",
                 "diff": "outputs/diff_summary.json", "logs": ["feedback_record.jsonl.1", "feedback_record.jsonl"]},
}  # fmt: skip


def text_of(command: Any) -> str:
    """A command as one string: W1 of the weaknesses is that the lesson prints argv lists as Python lists."""
    return shlex.join(command) if isinstance(command, list) else command


def rows_of(folder: Path, logs: list[str]) -> list[dict[str, Any]]:
    """The rows of the rotated logs, oldest first; a torn last line is left out."""
    rows = []
    for name in logs:
        for line in (folder / name).read_text("utf-8").splitlines():
            try:
                rows.append(json.loads(line))
            except ValueError:
                continue
    return rows


def lesson_payload(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """What lesson 40's generator makes of a workbench."""
    state, verdict = (json.loads((folder / case[name]).read_text("utf-8")) for name in ("state", "verdict"))
    touched = (
        json.loads((folder / case["diff"]).read_text("utf-8"))["touched"] if case["diff"] else state["touched_files"]
    )
    rows = rows_of(folder, case["logs"])
    risks = [
        {"severity": f["severity"], "detail": f["detail"]}
        for f in verdict["findings"]
        if f["severity"] in ("warn", "block")
    ]
    risks += [{"severity": "warn", "detail": blocker} for blocker in state["blockers"]]
    return {
        "changed_files": [path.removeprefix("./") for path in touched],
        "commands_run": [text_of(row["command"]) for row in rows],
        "failed_attempts": [
            f"{text_of(row['command'])} -> exit {row['exit_code']}" for row in rows if row["exit_code"] not in (0, None)
        ],
        "nulls": [text_of(row["command"]) for row in rows if row["exit_code"] is None],
        "open_risks": risks,
        "next_action": state["next_action"],
        "verdict_pointer": {"verdict": case["verdict"], "review": case["review"]},
    }


@pytest.fixture(params=CASES)
def packed(
    request: Any, make_repository: Any, passdown: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], Any]:
    """The lesson's payload, our export of the same workbench, our packet, and the repository."""
    case = CASES[request.param]
    repository = make_repository(empty=True)
    repository.clock = 1_759_000_000
    for name in ("app/signup.py", "tests/test_signup.py", "src/base.py"):
        repository.write(name, "x = 1\n")
    repository.commit("Start")
    repository.git("switch", "-q", "-c", "feat/lesson")
    shutil.copytree(FIXTURES / request.param, repository.root, dirs_exist_ok=True)
    repository.write("app/signup.py", "x = 2\n")
    repository.commit("Check passwords")
    assert passdown("wrap", "--interim", folder=repository.root).returncode == 0
    ours = json.loads(passdown("export", "--lesson", folder=repository.root).stdout)
    packet = json.loads(passdown("show", "--json", folder=repository.root).stdout)
    return lesson_payload(repository.root, case), ours, packet, repository


def test_seven_fields_come_back(packed: Any) -> None:
    _, ours, _, _ = packed
    assert set(ours) == {"task_id", "summary", "changed_files", "commands_run", "failed_attempts", "open_risks", "next_action",
                         "verdict_pointer", "feedback_tail"}  # fmt: skip
    assert all(
        isinstance(ours[name], list) for name in ("changed_files", "commands_run", "failed_attempts", "open_risks")
    )
    assert isinstance(ours["next_action"], str)
    assert "None" not in ours["summary"]


def test_what_must_be_the_same_is_the_same(packed: Any) -> None:
    lesson, ours, _, _ = packed
    assert ours["next_action"] == lesson["next_action"]
    assert ours["verdict_pointer"] == lesson["verdict_pointer"]
    assert set(ours["commands_run"]) == set(lesson["commands_run"])
    assert set(lesson["failed_attempts"]) <= set(ours["failed_attempts"])
    details = {risk["detail"]: risk["severity"] for risk in ours["open_risks"]}
    for risk in lesson["open_risks"]:
        assert details[risk["detail"]] in (risk["severity"], "block")


def test_what_differs_is_what_the_lesson_got_wrong(packed: Any) -> None:
    lesson, ours, packet, repository = packed
    # W2: changed files come from git, not from a claim.
    truth = set(repository.git("diff", "--name-only", packet["git"]["base"]).splitlines())
    assert set(ours["changed_files"]) == {path for path in truth if not path.startswith("outputs/handoff/")}
    claimed = {file["path"] for file in packet["changed_files"] if file["status"] == "="}
    assert set(lesson["changed_files"]) <= set(ours["changed_files"]) | claimed
    # W8: a run without a result is a failure, and a failure that passes now says so.
    extra = set(ours["failed_attempts"]) - set(lesson["failed_attempts"])
    assert extra == {f"{command} -> no result" for command in lesson["nulls"]}
    resolved = {attempt["what"]: attempt.get("resolved", False) for attempt in packet["failed_attempts"]}
    assert resolved
    # W5 of the findings: the trimmed log is in the order of the file.
    lines = [entry["line"] for entry in packet["feedback_tail"]]
    assert lines == sorted(lines)
    assert len(lines) <= 30
    # W4, W14: version, branch, status and the last good commit are there.
    assert (packet["schema_version"], packet["status"], packet["git"]["branch"]) == (1, "active", "feat/lesson")
    assert "last_known_good_commit" in packet["git"]
    # W6: nothing comes from the clock.
    assert packet["session_id"].startswith("s-")
    # W15: the next action is one concrete line.
    assert "\n" not in packet["next_action"]["text"]
