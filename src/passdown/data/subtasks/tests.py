"""Single tests and their results, out of what test runners print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from passdown.data.records import Action, Step
from passdown.data.subtasks.suites import suite_results
from passdown.evidence.output import without_colours
from passdown.evidence.reports import Report, read_report
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolResult

MOST = 400
"""Test ids that are kept of one step."""

_PYTEST = lazy_pattern(
    r"(?m)^(?:(PASSED|FAILED|ERROR)\s+([^\s\[]+::[^\s\[]+(?:\[[^\n]*?\](?=\s|$))?)"
    r"|([^\s\[]+::[^\s\[]+(?:\[[^\n]*?\](?=\s))?)\s+(?:<- \S+\s+)?(PASSED|FAILED|ERROR)\b)"
)
_UNITTEST = lazy_pattern(
    r"(?m)^(test\w*) \(([\w.]+)\)(?:\n[^\n]*)? \.\.\. (ok|FAIL|ERROR|skipped|(?=[^\n]))"
    r"(?:[^\n]*\n(?:(?!test|=====|-----)[^\n]*\n){0,20}?(ok|FAIL|ERROR|skipped)(?= |$))?"
)
_FAILURE = lazy_pattern(r"(?m)^(?:FAIL|ERROR): (test\w*) \(([\w.]+)\)")
_GO = lazy_pattern(r"(?m)^\s*--- (PASS|FAIL): (\S+)")
_CARGO = lazy_pattern(r"(?m)^test (\S+) \.\.\. (ok|FAILED)\b")
_PASSED = frozenset({"PASSED", "ok", "PASS"})
_MARKS = ("::", " ... ", ": test", "--- ", "✓", "✔", "✕", "✗", "×", "● ", "ok ")
_CLIPPED = 400_000

_NARROWED = lazy_pattern(r"(?:^|\s)(?:-k|-m|-t|-g|--grep|-run|--testNamePattern|--deselect|--lf|--ff)\b")
_START_FAILED = lazy_pattern(
    r"No module named|command not found|No such file or directory|Traceback \(most recent call last\)"
    r"|ModuleNotFoundError|ImportError while loading|could not find|Cannot find module|error: no such"
)
_TROUBLE = lazy_pattern(
    r"(?m)Traceback \(most recent call last\)|^\s*\w*(?:Error|Exception)\b: |^\s*(?:✗|✕|×|FAIL(?:ED|URE)?\b)"
    r"|command not found|^(?:E: |ERROR\b|npm ERR!|error: )"
)


class Ran(NamedTuple):
    """One run of tests (or of another check): which action of its step it was, and whether it went well.

    `results` are single tests by id. `began` is False when no test was run at all.
    """

    action: int
    target: str
    well: bool
    results: dict[str, bool]
    began: bool
    complete: bool


def test_results(text: str) -> dict[str, bool]:
    """Return the single tests that a runner's output names: id → whether it passed. Skipped tests are left out."""
    found: dict[str, bool] = {}
    if not any(mark in text for mark in _MARKS):
        return found
    text = without_colours(text[:_CLIPPED])
    for before, name, other, after in _PYTEST.findall(text):
        found[name or other] = (before or after) in _PASSED
    for name, place, word, later in _UNITTEST.findall(text):  # what a test prints comes before its result
        if (told := word or later) and told != "skipped":
            found[_joined(place, name)] = told in _PASSED
    for name, place in _FAILURE.findall(text):
        found[_joined(place, name)] = False
    for word, name in _GO.findall(text):
        found[name] = word in _PASSED
    for name, word in _CARGO.findall(text):
        found[name] = word in _PASSED
    for name, well in suite_results(text).items():
        found.setdefault(name, well)
    return dict(list(found.items())[:MOST])


test_results.__test__ = False  # type: ignore[attr-defined]


def _joined(place: str, name: str) -> str:
    return place if place.endswith(f".{name}") else f"{place}.{name}"


def texts_of(step: Step) -> dict[str, str]:
    """Return what each call of a step printed."""
    return {event.call_id: event.text for event in step.events if isinstance(event, ToolResult)}


def went_well(action: Action, text: str) -> bool:
    """Say whether an action went well: as it was reported, else as its output reads."""
    return action.ok if action.ok is not None else _TROUBLE.search(text[:_CLIPPED]) is None


def test_run(action: Action, place: int, text: str) -> Ran:
    """Read one run of a test command. What cannot have run a test did not begin."""
    results, report = test_results(text), read_report(text)
    well = _is_well(action, report, results, text)
    began = bool(results) or bool(report.ran) or report.passed
    if not began and report.ran is None and not report.broken:
        began = well or not (_START_FAILED.search(text) or not text.strip())
    failing = sum(not passed for passed in results.values())
    complete = report.ran is not None and (well or failing >= max(report.failed or 0, 1))
    return Ran(place, action.target, well, results, began, complete or well)


def _is_well(action: Action, report: Report, results: dict[str, bool], text: str) -> bool:
    if report.failed or not all(results.values()):
        return False
    if action.ok is not None:
        return action.ok
    return bool(report.ran) or bool(results) or _TROUBLE.search(text[:_CLIPPED]) is None


test_run.__test__ = False  # type: ignore[attr-defined]


def covers(target: str, name: str) -> bool:
    """Say whether a run of everything that `target` selects runs a test. A selection by name is nobody's whole."""
    if _NARROWED.search(target):
        return False
    words = [word for word in target.split(" @ ", maxsplit=1)[0].split() if word[:1] != "-"]
    while words and words[0] in _RUNNERS:
        words.pop(0)
    return not words or any(_selects(word.removeprefix("./"), name) for word in words)


_RUNNERS = frozenset({
    "pytest", "go", "cargo", "npm", "yarn", "pnpm", "npx", "jest", "vitest", "mocha", "unittest", "discover", "django",
    "test", "tests", "run", "nose", "tox", "nox", "manage.py", "python", "-v", "make", "check", "...", "ctest", "rspec",
    "mise", "task", "just", "ci", "test:ci", "test:all",
})  # fmt: skip


def _selects(word: str, name: str) -> bool:
    word = word.rstrip("/")
    if word in ("", ".", "..."):
        return True
    return name == word or name.startswith((f"{word}::", f"{word}/", f"{word}.", f"{word} ", f"{word}["))


def observed(step: Step) -> dict[str, bool]:
    """Return what one step shows of tests: single tests where they are named, else whether a test command went well.

    A command is called `run:` and its selection; one that cannot have run a test is left out.
    """
    found: dict[str, bool] = {}
    for ran in runs_of(step):
        found.update(ran.results)
        if not ran.results and ran.began:
            found[name_of(ran)] = ran.well
    return found


def name_of(ran: Ran) -> str:
    """Return the id of a run whose single tests nobody named."""
    return f"run:{ran.target or '*'}"


def runs_of(step: Step) -> tuple[Ran, ...]:
    """Return the test runs of a step, in order."""
    if not any(action.kind == "TEST" for action in step.actions):
        return ()
    texts = texts_of(step)
    return tuple(
        test_run(action, place, texts.get(action.call_id, ""))
        for place, action in enumerate(step.actions) if action.kind == "TEST"
    )  # fmt: skip


def results_over(runs: Iterable[Ran], known: dict[str, bool]) -> dict[str, bool]:
    """Return what the runs of one step tell of tests, given what was known before.

    A run that names only its failures (or nothing, because all is well) tells of the other tests it selects, too.
    """
    found: dict[str, bool] = {}
    for ran in runs:
        if not ran.began:
            continue
        before = {**known, **found}
        found.update(ran.results)
        told = bool(ran.results)
        for name in before if ran.complete else ():
            if name not in ran.results and not name.startswith("run:") and covers(ran.target, name):
                found[name] = told = True
        if not told or name_of(ran) in before:
            found[name_of(ran)] = ran.well
    return found
