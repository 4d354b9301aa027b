"""What test runners print: which tests failed, how many ran, and whether they ran at all."""

from __future__ import annotations

import re
from typing import NamedTuple

from passdown.evidence.output import one_line

MAX_FAILING = 20
MAX_ID = 200


class Report(NamedTuple):
    """One run of tests as its output tells it. `ran` is None when the output does not say how many ran."""

    failing: tuple[str, ...] = ()
    more_failing: int = 0
    counts: str = ""
    ran: int | None = None
    failed: int | None = None
    broken: bool = False


_FAILING = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) ([\w./\\-]+\.py(?:::[^\n]*?)?)(?: - .*)?$",  # pytest
        r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))",  # unittest
        r"^\s*--- FAIL: (\S+)",  # go
        r"^test (\S+) \.\.\. FAILED",  # cargo
        r"^\s+FAIL \[[^\]]*\] (?:\(\s*\d+/\d+\) )?(.+)$",  # nextest
        r"^\(fail\) (.+?)(?: \[[\d.]+ ?m?s\])?$",  # bun
        r"^\s*● (.+ › .+)$",  # jest
        r"^\s*(?:FAIL|×|✗)\s+(\S.* > .+?)(?: \d+m?s)?$",  # vitest
        r"^\s*not ok \d+ (?:- )?([^#\n]+?)\s*(?:#.*)?$",  # TAP
        r"^\s*✖ (?!failing tests)(.+?)(?: \([\d.]+m?s\))?$",  # node
        r"^rspec (\S+)",  # rspec
        r"^\s*\d+\) (\S+::\S+)",  # phpunit
        r"^\s+\d+\) (test .+ \([\w.]+\))$",  # ExUnit
        r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)\)",  # ctest
        r"^(?:\[ERROR\]\s+)?([\w.$]+[.:]\w+)(?::\d+)? (?:»|expected|Expected)",  # surefire
        r"^(\w\S* > \S.*) FAILED$",  # gradle
        r"^\s*Failed ([\w.`()<>+]+) \[",  # dotnet
    )
)
_MOCHA = re.compile(r"^\s+\d+ failing\b", re.MULTILINE)
_MOCHA_ID = re.compile(r"^\s{1,6}\d+\) (\S.*?):?$", re.MULTILINE)

_PYTEST = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s?.*$", re.MULTILINE)
_SUMMARY = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^\s*Tests:?\s+(?P<line>\d+ (?:failed|passed|skipped|todo)[^\n]*)$",
        r"^\s*(?P<line>\d+ tests?, \d+ failures?[^\n]*|\d+ examples?, \d+ failures?[^\n]*)$",
        r"^test result: (?P<line>\w+\. \d+ passed; \d+ failed[^\n;]*)",
        r"^\s*(?:\[\w+\]\s+)?(?P<line>Tests run: \d+, Failures: \d+, Errors: \d+[^\n]*)$",
        r"^\s*(?P<line>Tests: \d+, Assertions: \d+[^\n]*|OK \(\d+ tests?[^\n]*\))",
        r"^(?P<line>\d+% tests passed, \d+ tests failed out of \d+)",
        r"(?P<line>(?:Passed|Failed)!\s+- Failed:\s*\d+, Passed:\s*\d+[^\n]*)",
        r"Summary \[[^\]]*\]\s*(?P<line>\d+ tests? run: [^\n]*)",
        r"^(?P<line>Ran \d+ tests? in [^\n]*)$",
        r"^\s*(?P<line>\d+ passing\b[^\n]*)$",
        r"^\s*(?P<line>\d+ pass)$",
        r"^(?:# |ℹ )(?P<line>pass \d+)$",
    )
)
_FAIL_COUNT = re.compile(
    r"(?<![\w.])(\d+) (?:tests? )?(?:failed|failures?|failing|fail|errors?)\b"
    r"|(?:Failures|Errors|Failed|fail|failures|errors)[:=]?\s*(\d+)\b"
)
_PASS_COUNT = re.compile(
    r"(?<![\w.])(\d+) (?:tests? )?(?:passed|passing|pass|xfailed|xpassed)\b|(?:Passed|pass):?\s+(\d+)\b"
    r"|OK \((\d+) tests?"
    r"|(?:Tests run: |Ran |Tests: )(\d+)|^(\d+) (?:tests?|examples?),|tests failed out of (\d+)|(\d+) tests? run:"
)
_NONE_RAN = re.compile(
    r"(?im)^(?:=*\s*no tests ran|NO TESTS RAN|no tests found|No test files found|No tests were found|no tests to run"
    r"|1\.\.0\b|collected 0 items|Ran 0 tests|0 examples|No tests executed)"
)
_BROKEN = re.compile(
    r"(?m)^(?:E\s+\w*(?:ImportError|ModuleNotFoundError|SyntaxError)\b|ERROR collecting"
    r"|!+ Interrupted: \d+ errors? during collection|ImportError while loading conftest"
    r"|ERROR: (?:file or directory not found|usage:)|error: could not compile|error\[E\d+\]"
    r"|BUILD FAILURE|\*\* \(CompileError\)|== Compilation error|Test suite failed to run"
    r"|(?:\(eval\):\d+: |\S*sh: .*)command not found|No module named (?:pytest|unittest)|no required module provides)"
    r"|\[build failed\]|\[setup failed\]|\berror TS\d+:"
)
_GO_OK = re.compile(r"^ok\s+\S+", re.MULTILINE)
_GO_EMPTY = re.compile(r"\[no test files\]|\[no tests to run\]")


def read_report(text: str) -> Report:
    """Return what a test runner's output says. Only its own summary lines and failure lists are read."""
    failing: dict[str, None] = {}
    for pattern in _FAILING:
        for match in pattern.finditer(text):
            failing[one_line(match[1], MAX_ID)] = None
    if _MOCHA.search(text):
        for match in _MOCHA_ID.finditer(text):
            failing[one_line(match[1], MAX_ID)] = None
    line, failed, passed = _counts(text)
    if failed is None and failing:
        failed = len(failing)
    ran = None if passed is None and failed is None else (passed or 0) + (failed or 0)
    if ran is None and _GO_OK.search(text):
        lines = _GO_OK.finditer(text)
        empty = all(_GO_EMPTY.search(text, match.start(), _line_end(text, match.end())) for match in lines)
        ran = 0 if empty else None
    elif ran is None and (_NONE_RAN.search(text) or _GO_EMPTY.search(text)):
        ran = 0
    ids = tuple(failing)
    broken = bool(_BROKEN.search(text)) and not (ran and failing)
    return Report(ids[:MAX_FAILING], max(0, len(ids) - MAX_FAILING), line, ran, failed, broken)


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found


def _counts(text: str) -> tuple[str, int | None, int | None]:
    matches = list(_PYTEST.finditer(text))
    if matches:
        line = matches[-1][1].strip().rstrip(",")
        if line == "no tests ran":
            return line, 0, 0
        return line, _total(_FAIL_COUNT, line) or 0, _total(_PASS_COUNT, line)
    for pattern in _SUMMARY:
        found = [match["line"].strip() for match in pattern.finditer(text)]
        if found:
            near = "\n".join(found)
            if pattern in _SUMMARY[-4:]:
                near += "\n" + "\n".join(_neighbours(text))
            passed, failed = _total(_PASS_COUNT, near), _total(_FAIL_COUNT, near)
            return one_line(found[-1], 120), failed or 0, _without_failures(found, passed, failed)
    return "", None, None


def _without_failures(found: list[str], passed: int | None, failed: int | None) -> int | None:
    """Where a summary counts all tests run (`5 tests, 4 failures`), take the failures off."""
    total = bool(re.match(r"\d+ (?:tests?|examples?),|Tests run: |Tests: \d|Ran |\d+% tests", found[-1]))
    return max(0, passed - (failed or 0)) if total and passed is not None else passed


_NEIGHBOUR = re.compile(r"^\s*(?:FAILED \([^\n]*\)|\d+ (?:failing|fail)\b[^\n]*|(?:# |ℹ )fail \d+)\s*$", re.MULTILINE)


def _neighbours(text: str) -> list[str]:
    return [match[0].strip() for match in _NEIGHBOUR.finditer(text)]


def _total(pattern: re.Pattern[str], line: str) -> int | None:
    numbers = [int(next(group for group in match.groups() if group)[:9]) for match in pattern.finditer(line)]
    return sum(numbers) if numbers else None
