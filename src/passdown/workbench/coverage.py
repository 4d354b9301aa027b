"""coverage_report.json (lesson 38): two fractions, kept in basis points (8125 = 81.25 %)."""

from __future__ import annotations

from typing import Any

from passdown.workbench.document import Notes, quoted
from passdown.workbench.shapes import record_of, scaled


def read_coverage(value: Any, notes: Notes) -> tuple[int | None, int | None]:
    """Return current and previous coverage in basis points; None when absent, or (reported) no fraction of 1."""
    record = record_of(value)
    return _basis_points(record, "current", notes), _basis_points(record, "previous", notes)


def _basis_points(record: dict[str, Any], name: str, notes: Notes) -> int | None:
    value = record.get(name)
    if value is None:
        return None
    points = scaled(value, 10_000)
    if points is None or not 0 <= points <= 10_000:
        notes.warn("coverage.out_of_range", f"{name} is no fraction from 0 to 1: {quoted(value)}")
        return None
    return points
