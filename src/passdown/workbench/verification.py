"""The verification report (lessons 38 and 42)."""

from __future__ import annotations

from typing import Any

from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import Verification
from passdown.workbench.coverage import read_coverage
from passdown.workbench.document import Notes
from passdown.workbench.shapes import commit_of, findings_of, flag, record_of, text_of

_HEX = lazy_pattern(r"[0-9a-f]{64}")


def read_verification(value: Any, notes: Notes) -> Verification:
    """Return the report, reporting one without a verdict or one that passes in spite of a blocking finding."""
    record = record_of(value)
    findings = findings_of(record, notes)
    passed = flag(record, "passed", notes)
    if passed is None and isinstance(record.get("verdict"), str):
        passed = record["verdict"] == "pass"
    if passed is None:
        notes.warn("verification.no_verdict", "does not say whether it passed")
    elif passed and any(finding.severity == "block" for finding in findings):
        notes.warn("verification.verdict_mismatch", "says that it passed, but holds a blocking finding")
    coverage = record.get("coverage")
    current, previous = (None, None) if coverage is None else _coverage(coverage, notes)
    return Verification(
        task_id=text_of(record, "task_id", notes).strip(),
        passed=passed,
        findings=findings,
        head_commit=commit_of(record, "head_commit", notes),
        strict=bool(flag(record, "strict", notes)),
        coverage_current=current,
        coverage_previous=previous,
        path=notes.path,
        content=content if isinstance(content := record.get("content"), str) and _HEX.fullmatch(content) else "",
    )


def _coverage(value: Any, notes: Notes) -> tuple[int | None, int | None]:
    if isinstance(value, dict):
        return read_coverage(value, notes)
    notes.warn("artifact.bad_field", "coverage must be an object with current and previous")
    return None, None
