"""Skipped tests, and the names of failing ones, in what real runners print."""

from __future__ import annotations

import pytest

from passdown.evidence.reports import read_report
from passdown.evidence.skips import skipped_in

OUTPUTS = {
    "pytest": ("SKIPPED [3] tests/test_a.py:4: later\n===== 5 passed, 2 skipped, 1 xfailed in 0.12s =====\n", 2),
    "pytest, none": ("12 passed in 0.12s\n", 0),
    "unittest": ("Ran 5 tests in 0.001s\n\nOK (skipped=2)\n", 2),
    "cargo, two binaries": (
        "\n".join(f"test result: ok. 3 passed; 0 failed; {n} ignored; 0 measured; 0 filtered out" for n in (1, 2)), 3,
    ),
    "jest": ("Tests:       1 skipped, 4 passed, 5 total\n", 1),
    "vitest": ("      Tests  4 passed | 2 skipped (6)\n", 2),
    "mocha": ("  5 passing (12ms)\n  2 pending\n", 2),
    "node": ("ℹ tests 5\nℹ pass 4\nℹ fail 0\nℹ skipped 1\n", 1),
    "surefire": ("[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 2, Time elapsed: 0.05 s\n", 2),
    "dotnet": ("Passed!  - Failed:     0, Passed:     4, Skipped:     1, Total:     5\n", 1),
    "rspec": ("5 examples, 0 failures, 2 pending\n", 2),
    "nothing said": ("all fine\n", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_skipped(name: str) -> None:
    text, count = OUTPUTS[name]
    assert skipped_in(text) == count


FAILURES = {
    "pytest": ("FAILED tests/test_a.py::TestX::test_b[1-é] - assert 1 == 2\n1 failed, 3 passed in 0.1s\n", "tests/test_a.py::TestX::test_b[1-é]"),
    "pytest collection": ("ERROR tests/test_a.py - ModuleNotFoundError: x\n1 error in 0.1s\n", "tests/test_a.py"),
    "unittest": ("FAIL: test_b (tests.test_a.TestX)\n\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n", "test_b (tests.test_a.TestX)"),
    "unittest 3.11": ("FAIL: test_b (test_a.TestX.test_b)\nRan 2 tests in 0.001s\nFAILED (failures=1)\n", "test_b (test_a.TestX.test_b)"),
    "go": ("--- FAIL: TestBurst (0.00s)\n    --- FAIL: TestBurst/two_a_second (0.00s)\nFAIL\nFAIL\tx\t0.01s\n", "TestBurst/two_a_second"),
    "cargo": ("test limits::tests::burst ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n", "limits::tests::burst"),
    "TAP": ("TAP version 13\nok 1 - starts\nnot ok 2 - limits a burst # time=3ms\n1..2\n", "limits a burst"),
    "surefire": ("[ERROR]   LimitsTest.burst:12 expected: <3> but was: <4>\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n", "LimitsTest.burst"),
    "gradle": ("LimitsTest > burst() FAILED\n    org.opentest4j.AssertionFailedError\n2 tests completed, 1 failed\n", "LimitsTest > burst()"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_failing_names(name: str) -> None:
    text, failing = FAILURES[name]
    report = read_report(text)
    assert failing in report.failing
