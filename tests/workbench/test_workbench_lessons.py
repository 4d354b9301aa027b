"""Two whole workbenches, hand-made after the shapes of lessons 40 and 42."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from passdown.config import Config
from passdown.workbench.load import load_workbench

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "workbench"


def test_lesson_40_keeps_its_files_at_the_root_and_under_workdir() -> None:
    bench = load_workbench(FIXTURES / "lesson40", Config())
    assert bench.state and bench.state.active_task_id == ""
    assert bench.state.blockers == ("awaiting decision on the rate-limit window",)
    assert [(task.id, task.status) for task in bench.tasks] == [("T-001", "done"), ("T-002", "todo")]
    assert bench.tasks[0].source == "workdir/task_board.json"
    assert bench.verification and bench.verification.passed and bench.verification.coverage_current == 8125
    assert bench.review and bench.review.total == 80 and bench.review.verdict == "pass"
    assert bench.feedback and [row.exit_code for row in bench.feedback] == [0, 0, 1, 0]
    assert bench.feedback[2].command == "pytest test_signup.py"
    assert bench.imported_packets == ("HANDOVER.md", "handoff.json")
    assert bench.verification_command == "pytest -q tests/test_signup.py"
    assert bench.rule_slugs == ("startup/read-state", "done/tests-pass")
    assert [finding.code for finding in bench.findings] == ["rules.incomplete"]


def test_lesson_42_has_argv_lists_reports_under_outputs_and_no_command_ids() -> None:
    bench = load_workbench(FIXTURES / "lesson42", Config())
    assert bench.state and bench.state.active_task_id == "T-014"
    assert bench.contract and bench.contract.path == "scope_contract.json"
    assert [contract.path for contract in bench.closed_contracts] == ["outputs/scope/closed/T-014.json"]
    assert bench.scope_report and bench.scope_report.path == "outputs/scope/closed/T-014.report.json"
    assert bench.scope_report.forbidden_known
    assert bench.verification and bench.verification.path == "outputs/verification/T-014.json"
    assert bench.review and bench.review.total == 65 and bench.review.verdict == "soft_fail"
    assert bench.feedback and [row.line for row in bench.feedback] == [1, 2, 3]
    assert bench.feedback[0].argv == ("pytest", "-x", "tests/test_export.py")
    assert bench.feedback[1].exit_code is None and bench.feedback[1].error.startswith("timeout")
    assert bench.feedback[2].command == "git commit -m 'two words'"
    assert bench.feedback_skipped == 1
    assert bench.diff_summary == ("src/limits.py", "src/api/export.py")
    assert bench.last_known_good == "3f9c21a4be07"
    assert [(row.code, row.reason, row.signed) for row in bench.overrides] == [
        ("scope.off_scope", "the badge was asked for", True),
        ("coverage.missing", "measured by hand", False),
    ]
    assert bench.extra == {
        "coverage.current": "8125",
        "coverage.previous": "8300",
        "prereqs.fingerprint": "0123456789abcdef",
        "workbench.version": "1.0.0",
    }
    assert bench.imported_packets == ("outputs/handoff/1760003600/handoff.json",)
    assert bench.verification_command == ""
    assert [finding.code for finding in bench.findings] == ["feedback.torn_line"]
    assert bench.findings[0].offset == 398


def test_provenance_is_path_size_hash_and_whether_git_knows_it() -> None:
    root = FIXTURES / "lesson42"
    bench = load_workbench(root, Config(), tracked=frozenset({"agent_state.json"}))
    assert [artifact.path for artifact in bench.artifacts] == sorted(artifact.path for artifact in bench.artifacts)
    for artifact in bench.artifacts:
        data = (root / artifact.path).read_bytes()
        assert artifact.sha256 == hashlib.sha256(data).hexdigest()
        assert artifact.bytes == len(data)
        assert artifact.tracked == (artifact.path == "agent_state.json")


def test_the_same_workbench_elsewhere_loads_the_same(tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    shutil.copytree(FIXTURES / "lesson42", copy)
    os.utime(copy / "agent_state.json", (1, 1))
    assert load_workbench(copy, Config()) == load_workbench(FIXTURES / "lesson42", Config())


def test_an_empty_folder_is_an_empty_workbench(tmp_path: Path) -> None:
    bench = load_workbench(tmp_path, Config())
    assert bench.findings == () and bench.artifacts == () and bench.state is None and bench.feedback is None
