"""Where artifacts are looked for, and what happens when there are several."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.config import Config
from passdown.workbench.locate import NAMES, candidates

STATE = {"active_task_id": "T-001", "next_action": "go"}


def test_every_place_of_a_role_is_tried_in_order(bench: Any) -> None:
    bench.put("agent_state.json", STATE)
    places = candidates("verification", Config(), "T-001")
    assert places == [
        "outputs/verification/T-001.json",
        "verification_report.json",
        "verification_report_T-001.json",
        "workdir/verification_report.json",
        "workdir/verification_report_T-001.json",
    ]
    for place in reversed(places):
        bench.put(place, {"task_id": "T-001", "passed": True})
        assert bench.load().verification.path == place
    assert bench.codes() == []


@pytest.mark.parametrize("role", NAMES)
def test_a_configured_path_comes_first(role: str) -> None:
    assert candidates(role, Config(artifacts={role: "my/own.json"}))[0] == "my/own.json"  # type: ignore[arg-type]


def test_a_configured_path_wins_and_a_missing_one_is_reported(bench: Any) -> None:
    bench.put("agent_state.json", STATE)
    bench.put("my/state.json", STATE | {"next_action": "mine"})
    bench.config = Config(artifacts={"state": "my/state.json"})
    loaded = bench.load()
    assert loaded.state.next_action == "mine"
    assert [(finding.code, finding.where) for finding in loaded.findings] == [
        ("artifact.ambiguous", "agent_state.json")
    ]
    bench.config = Config(artifacts={"state": "gone.json", "feedback": "gone.jsonl"})
    loaded = bench.load()
    assert loaded.state.next_action == "go"
    assert [finding.code for finding in loaded.findings] == ["artifact.missing", "artifact.missing"]


@pytest.mark.parametrize("path", ["/etc/hostname", "../outside.json", "a/../../outside.json"])
def test_a_configured_path_outside_is_refused(bench: Any, path: str) -> None:
    (bench.root.parent / "outside.json").write_text("{}")
    bench.put("a/x", "")
    bench.config = Config(artifacts={"state": path})
    loaded = bench.load()
    assert loaded.state is None
    assert [finding.code for finding in loaded.findings] == ["artifact.symlink_outside"]


def test_a_role_that_does_not_exist_is_reported(bench: Any) -> None:
    bench.config = Config(artifacts={"stat": "x.json", "clean_state": "y.json"})
    assert bench.codes() == ["config.unknown_role", "config.unknown_role"]


def test_two_different_files_for_one_role_are_ambiguous(bench: Any) -> None:
    bench.put("agent_state.json", STATE)
    bench.put("workdir/agent_state.json", STATE | {"next_action": "other"})
    loaded = bench.load()
    assert loaded.state.next_action == "go"
    (finding,) = loaded.findings
    assert (finding.code, finding.severity, finding.where) == ("artifact.ambiguous", "warn", "workdir/agent_state.json")


@pytest.mark.parametrize("task_id", ["../../etc", "a/b", "", "x" * 65, "..", "-rf", "a\x00b"])
def test_a_task_id_that_is_no_file_name_is_not_used_as_one(bench: Any, task_id: str) -> None:
    assert candidates("review", Config(), task_id) == ["review_report.json", "workdir/review_report.json"]
    bench.put("agent_state.json", STATE | {"active_task_id": task_id})
    assert bench.load().state.active_task_id == task_id.strip()


def test_without_an_active_task_the_only_report_counts_and_of_several_none(bench: Any) -> None:
    bench.put("outputs/verification/T-001.json", {"task_id": "T-001", "passed": True})
    loaded = bench.load()
    assert loaded.verification.task_id == "T-001" and loaded.findings == ()
    bench.put("outputs/verification/T-002.json", {"task_id": "T-002", "passed": False})
    loaded = bench.load()
    assert loaded.verification is None
    assert [finding.code for finding in loaded.findings] == ["artifact.ambiguous"]


def test_the_task_is_the_states_else_the_features_else_the_only_one_in_progress(bench: Any) -> None:
    for task in ("T-001", "T-002", "T-003", "T-004"):
        bench.put(f"outputs/review/{task}.json", {"task_id": task})
    bench.put("scope_contract.json", {"task_id": "T-004", "acceptance_criteria": ["x"]})
    assert bench.load().review.task_id == "T-004"
    bench.put("task_board.json", [{"id": "T-003", "goal": "g", "status": "in_progress"}, {"id": "T-009", "goal": "g"}])
    assert bench.load().review.task_id == "T-003"
    bench.put("feature_list.json", {"active": "T-002", "features": [{"id": "T-002", "goal": "g"}]})
    assert bench.load().review.task_id == "T-002"
    bench.put("agent_state.json", STATE)
    assert bench.load().review.task_id == "T-001"


def test_a_report_about_another_task_is_reported(bench: Any) -> None:
    bench.put("agent_state.json", STATE)
    bench.put("verification_report.json", {"task_id": "T-000", "passed": True})
    loaded = bench.load()
    assert loaded.verification.passed
    assert [finding.code for finding in loaded.findings] == ["artifact.other_task"]


def test_a_file_name_that_is_no_text_is_no_artifact(bench: Any) -> None:
    import os

    folder = bench.root / "outputs/scope/closed"
    folder.mkdir(parents=True)
    for name in (b"T-\xff.json", b"T-\n1.json"):
        with open(os.fsencode(folder) + b"/" + name, "w") as stream:
            stream.write('{"task_id": "T-1", "acceptance_criteria": ["x"]}')
    loaded = bench.load()
    assert loaded.closed_contracts == () and loaded.artifacts == ()
