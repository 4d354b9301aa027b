"""Single tests and their results, out of what test runners print."""

from __future__ import annotations

from passdown.data.records import Step
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolResult

MOST = 400
"""Test ids that are kept of one step."""

_PYTEST = lazy_pattern(r"(?m)^(?:(PASSED|FAILED|ERROR)\s+(\S+::[^\s\[]+)|(\S+::[^\s\[]+)\S*\s+(PASSED|FAILED|ERROR)\b)")
_UNITTEST = lazy_pattern(r"(?m)^(test\w*) \(([\w.]+)\)(?:\n[^\n]*)? \.\.\. (ok|FAIL|ERROR|skipped)")
_FAILURE = lazy_pattern(r"(?m)^(?:FAIL|ERROR): (test\w*) \(([\w.]+)\)")
_GO = lazy_pattern(r"(?m)^\s*--- (PASS|FAIL): (\S+)")
_CARGO = lazy_pattern(r"(?m)^test (\S+) \.\.\. (ok|FAILED)\b")
_PASSED = frozenset({"PASSED", "ok", "PASS"})


def test_results(text: str) -> dict[str, bool]:
    """Return the single tests that a runner's output names: id → whether it passed. Skipped tests are left out."""
    found: dict[str, bool] = {}
    for before, name, other, after in _PYTEST.findall(text):
        found[name or other] = (before or after) in _PASSED
    for name, place, word in _UNITTEST.findall(text):
        if word != "skipped":
            found[_joined(place, name)] = word in _PASSED
    for name, place in _FAILURE.findall(text):
        found[_joined(place, name)] = False
    for word, name in _GO.findall(text):
        found[name] = word in _PASSED
    for name, word in _CARGO.findall(text):
        found[name] = word in _PASSED
    return dict(list(found.items())[:MOST])


def _joined(place: str, name: str) -> str:
    return place if place.endswith(f".{name}") else f"{place}.{name}"


def observed(step: Step) -> dict[str, bool]:
    """Return what one step shows of tests: single tests where they are named, else the runs of test commands.

    A run is called by its selector, `*` where it has none; one whose end nobody reported is left out.
    """
    calls = {action.call_id for action in step.actions if action.kind == "TEST"}
    found: dict[str, bool] = {}
    for event in step.events:
        if isinstance(event, ToolResult) and event.call_id in calls:
            found.update(test_results(event.text))
    for action in step.actions:
        if action.kind == "TEST" and action.ok is not None:
            found[f"run:{action.target or '*'}"] = action.ok
    return found
