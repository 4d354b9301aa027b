"""Verification, review, coverage, overrides, init report, last known good, diff summary, imported packets."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.config import Config
from passdown.model.packet import SCHEMA
from passdown.workbench.review import verdict_of


def only(bench: Any, path: str, value: Any) -> Any:
    bench.put(path, value)
    return bench.load()


@pytest.mark.parametrize(
    ("report", "passed", "codes"),
    [
        ({"task_id": "T-1", "passed": True, "findings": []}, True, []),
        (
            {"task_id": "T-1", "passed": False, "findings": [{"code": "a", "severity": "block", "detail": ""}]},
            False,
            [],
        ),
        ({"id": "T-1", "ok": True}, True, []),
        ({"id": "T-1", "verdict": "pass"}, True, []),
        ({"id": "T-1", "verdict": "fail"}, False, []),
        ({"task_id": "T-1", "findings": []}, None, ["verification.no_verdict"]),
        ({"task_id": "T-1", "passed": "yes"}, None, ["artifact.bad_field", "verification.no_verdict"]),
        ({"task_id": "T-1", "passed": True, "findings": None}, True, ["artifact.null_array"]),
        (
            {"task_id": "T-1", "passed": True, "findings": [{"severity": "error"}]},
            True,
            ["verification.verdict_mismatch"],
        ),
        ({"task_id": "T-1", "passed": True, "head_commit": "not hex"}, True, ["artifact.bad_commit"]),
        ({"task_id": "T-1", "passed": True, "coverage": [1]}, True, ["artifact.bad_field"]),
        ({"task_id": "T-1", "passed": True, "findings": [7]}, True, ["artifact.bad_item"]),
    ],
)
def test_verification(bench: Any, report: Any, passed: bool | None, codes: list[str]) -> None:
    loaded = only(bench, "verification_report.json", report)
    assert loaded.verification.passed is passed and loaded.verification.task_id == "T-1"
    assert [finding.code for finding in loaded.findings] == codes


def test_verification_of_lesson_38(bench: Any) -> None:
    report = {
        "task_id": "T-1",
        "passed": False,
        "strict": True,
        "head_commit": "ABCDEF1",
        "coverage": {"current": 0.8125, "previous": None},
        "findings": [
            {"code": "coverage.missing", "violationSeverity": "warning", "detail": "no file"},
            {"code": "x", "severity": "pass"},
            {"severity": "fail", "detail": "nameless"},
            {"code": "y", "severity": "info"},
        ],
    }
    verification = only(bench, "verification_report.json", report).verification
    assert (verification.strict, verification.head_commit) == (True, "abcdef1")
    assert (verification.coverage_current, verification.coverage_previous) == (8125, None)
    assert [(finding.code, finding.severity) for finding in verification.findings] == [
        ("coverage.missing", "warn"),
        ("unnamed", "block"),
        ("y", "info"),
    ]


def test_an_unknown_severity_counts_as_warn_and_is_reported(bench: Any) -> None:
    loaded = only(bench, "verification_report.json", {"passed": True, "findings": [{"code": "x", "severity": "fatal"}]})
    assert loaded.verification.findings[0].severity == "warn"
    assert [finding.code for finding in loaded.findings] == ["artifact.unknown_severity"]


NAMES = ("problem_fit", "scope_discipline", "assumptions", "verification_quality", "handoff_readiness")


def dimensions(*scores: Any) -> list[dict[str, Any]]:
    return [{"name": name, "score": score, "note": ""} for name, score in zip(NAMES, scores, strict=True)]


@pytest.mark.parametrize(
    ("total", "tenths"), [(8, 80), (6.5, 65), ("6.5", 65), ("8", 80), (0, 0), (10.0, 100), (None, None), (6.25, 63)]
)
def test_totals_are_kept_in_tenths(bench: Any, total: Any, tenths: int | None) -> None:
    loaded = only(bench, "review_report.json", {"task_id": "T-1", "total": total})
    assert loaded.review.total == tenths and loaded.findings == ()


@pytest.mark.parametrize("total", [True, float("nan"), float("inf"), -1, 21, "many", "1e9999", [8], "NaN", 10**400])
def test_a_total_that_is_none(bench: Any, total: Any) -> None:
    loaded = only(bench, "review_report.json", {"task_id": "T-1", "total": total})
    assert loaded.review.total is None
    assert [finding.code for finding in loaded.findings] == ["review.bad_score"]


@pytest.mark.parametrize(("score", "read"), [(0, 0), (1, 1), (2, 2), (2.0, 2), (None, None)])
def test_scores(bench: Any, score: Any, read: int | None) -> None:
    value = {"dimensions": [{"name": "a", "score": score}], "assumption_scores": {"A-0123456789": score}}
    loaded = only(bench, "review_report.json", value)
    assert loaded.review.dimensions[0].score == read and loaded.review.assumption_scores[0].score == read
    assert loaded.findings == ()


@pytest.mark.parametrize("score", [3, -1, True, False, float("nan"), 1.5, "2", [1]])
def test_scores_that_are_none(bench: Any, score: Any) -> None:
    value = {
        "dimensions": [{"name": "assumptions", "score": score, "items": [{"text": "x", "score": score}]}],
        "assumption_scores": [{"id": "A-1", "score": score}],
    }
    loaded = only(bench, "review_report.json", value)
    assert loaded.review.dimensions[0].score is None
    assert loaded.review.dimensions[0].items[0].score is None
    assert loaded.review.assumption_scores[0].score is None
    assert [finding.code for finding in loaded.findings] == ["review.bad_score"] * 3


def test_assumption_scores_as_a_map_or_a_list(bench: Any) -> None:
    loaded = only(bench, "review_report.json", {"assumption_scores": {"A-0123456789": 1, "one worker": 2}})
    assert [(item.id, item.text, item.score) for item in loaded.review.assumption_scores] == [
        ("A-0123456789", "", 1),
        ("", "one worker", 2),
    ]
    rows = [{"id": "A-1", "score": 0, "note": "n"}, {"text": "t", "score": 2}, {"score": 1}, 4]
    loaded = only(bench, "review_report.json", {"assumption_scores": rows})
    assert [(item.id, item.text, item.score, item.note) for item in loaded.review.assumption_scores] == [
        ("A-1", "", 0, "n"),
        ("", "t", 2, ""),
    ]
    assert [finding.code for finding in loaded.findings] == ["artifact.bad_item"]


def test_dimensions_as_a_map(bench: Any) -> None:
    loaded = only(
        bench, "review_report.json", {"dimensions": {"assumptions": 1, "problem_fit": {"score": 2, "note": "n"}}}
    )
    assert [(item.name, item.score) for item in loaded.review.dimensions] == [("assumptions", 1), ("problem_fit", 2)]


@pytest.mark.parametrize(
    ("total", "scores", "verdict"),
    [
        (70, (2, 2, 1, 1, 1), "pass"),
        (60, (2, 1, 1, 1, 1), "soft_fail"),
        (50, (1, 1, 1, 1, 1), "soft_fail"),
        (80, (2, 2, 2, 2, 0), "hard_fail"),
        (40, (), "hard_fail"),
        (None, (2, 2, 2, 2, 2), "pass"),
        (None, (2, None, 2, 2, 2), ""),
        (None, (), ""),
    ],
)
def test_the_verdict_follows_from_the_scores(bench: Any, total: int | None, scores: Any, verdict: str) -> None:
    value = {"total": None if total is None else total / 10, "dimensions": dimensions(*scores) if scores else []}
    assert verdict_of(only(bench, "review_report.json", value).review) == verdict


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ({"verdict": "pass", "total": 8, "dimensions": dimensions(2, 2, 2, 2, 0)}, ["review.verdict_mismatch"]),
        ({"verdict": "soft_fail", "total": 8, "dimensions": dimensions(2, 2, 2, 1, 1)}, ["review.verdict_mismatch"]),
        ({"verdict": "pass", "total": 9, "dimensions": dimensions(2, 2, 2, 1, 1)}, ["review.total_mismatch"]),
        ({"verdict": "soft-fail", "total": 6, "confidence": 0.4}, []),
        ({"verdict": "hard_fail"}, []),
        ({"verdict": "excellent"}, ["review.unknown_verdict"]),
        ({"verdict": 1}, ["review.unknown_verdict"]),
        ({"verdict": "pass", "total": 8, "dimensions": None}, []),
    ],
)
def test_a_verdict_that_its_scores_do_not_bear_out(bench: Any, value: Any, codes: list[str]) -> None:
    bench.put("review_report.json", value)
    assert bench.codes() == codes


@pytest.mark.parametrize(
    ("value", "points"),
    [(0.8125, "8125"), (1, "10000"), (0, "0"), ("0.5", "5000"), (0.29, "2900"), (0.00005, "1"), (0.999999, "10000")],
)
def test_coverage_in_basis_points(bench: Any, value: Any, points: str) -> None:
    loaded = only(bench, "coverage_report.json", {"current": value})
    assert loaded.extra == {"coverage.current": points} and loaded.findings == ()


@pytest.mark.parametrize("value", [81.25, -0.1, True, "much", float("nan"), [1]])
def test_coverage_that_is_no_fraction(bench: Any, value: Any) -> None:
    loaded = only(bench, "coverage_report.json", {"current": value, "previous": 0.5})
    assert loaded.extra == {"coverage.previous": "5000"}
    assert [finding.code for finding in loaded.findings] == ["coverage.out_of_range"]


def test_an_override_without_a_code_is_left_out_and_reported(bench: Any) -> None:
    bench.rows("overrides.jsonl", {"reason": "because"}, {"code": "a.b", "override_reason": "x", "overridden_by": "me"})
    loaded = bench.load()
    assert [(row.code, row.reason, row.user_id) for row in loaded.overrides] == [("a.b", "x", "me")]
    assert [finding.code for finding in loaded.findings] == ["overrides.no_code"]


def test_the_init_report(bench: Any) -> None:
    probes = [
        {"name": "runtime", "status": "pass", "detail": "ok", "duration_ms": 3},
        {"name": "env", "status": "fail", "detail": "TOKEN missing"},
        {"name": "odd", "status": "maybe"},
        {"status": "pass"},
    ]
    loaded = only(bench, "workdir/init_report.json", {"timestamp": 1.5, "ok": False, "probes": probes})
    assert [(probe.name, probe.status) for probe in loaded.probes] == [
        ("runtime", "pass"),
        ("env", "fail"),
        ("odd", "warn"),
    ]
    assert [finding.code for finding in loaded.findings] == ["init_report.unknown_status", "artifact.bad_item"]


@pytest.mark.parametrize(("commit", "good"), [("abcdef1", True), ("a" * 40, True), ("abc", False), ("main", False)])
def test_last_known_good(bench: Any, commit: str, good: bool) -> None:
    loaded = only(bench, "last_known_good.json", {"commit": commit, "written_at": 1.0})
    assert loaded.last_known_good == (commit if good else "")
    assert [finding.code for finding in loaded.findings] == ([] if good else ["last_known_good.no_commit"])


@pytest.mark.parametrize("name", ["touched", "changed_files", "touched_files", "files_touched", "edited_files"])
def test_diff_summary(bench: Any, name: str) -> None:
    assert only(bench, "outputs/diff_summary.json", {name: ["b.py", "a.py", "b.py"]}).diff_summary == ("b.py", "a.py")


def test_an_empty_diff_summary_is_not_an_absent_one(bench: Any) -> None:
    assert bench.load().diff_summary is None
    assert only(bench, "diff_summary.json", []).diff_summary == ()


LESSON = {
    name: [] for name in ("summary", "changed_files", "commands_run", "failed_attempts", "open_risks", "next_action")
}


def test_passdowns_own_packets_are_no_artifacts(bench: Any) -> None:
    bench.put("outputs/handoff/s-1/handoff.json", {"schema": SCHEMA, "packet_id": "0" * 64} | LESSON)
    bench.put("outputs/handoff/s-2/handoff.json", "half of a {")
    bench.put(".ai/HANDOFF.md", "# Handoff\n")
    bench.put("outputs/handoff/170/handoff.json", LESSON)
    loaded = bench.load()
    assert loaded.imported_packets == ("outputs/handoff/170/handoff.json",)
    assert [artifact.path for artifact in loaded.artifacts] == ["outputs/handoff/170/handoff.json"]
    assert loaded.findings == ()


def test_an_artifact_configured_into_the_packets_folder_is_not_read(bench: Any) -> None:
    bench.put("outputs/handoff/state.json", {"next_action": "go", "active_task_id": ""})
    bench.config = Config(artifacts={"state": "outputs/handoff/state.json"})
    loaded = bench.load()
    assert loaded.state is None and [finding.code for finding in loaded.findings] == ["artifact.own_output"]
