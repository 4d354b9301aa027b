"""What test runners print: which tests failed, how many ran, and whether they ran at all."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct

from passdown.evidence.output import one_line
from passdown.model.pattern import compile_pattern

MAX_FAILING = 20
MAX_ID = 200


class Report(Struct, frozen=True, gc=False):
    """One run of tests as its output tells it. `ran` is None when the output does not say how many ran.

    `passed` says that tests ran well all the same, as Go's lines do.
    """

    failing: tuple[str, ...] = ()
    more_failing: int = 0
    counts: str = ""
    ran: int | None = None
    failed: int | None = None
    broken: bool = False
    passed: bool = False


_FAILING: tuple[tuple[tuple[str, ...], str], ...] = (
    ((".py",), r"^(?:FAILED|ERROR) ([\w./\\-]+\.py(?:::[^\n]*?)?)(?: - .*)?$"),  # pytest
    (("FAIL: ", "ERROR: "), r"^(?:FAIL|ERROR): (\w+ \([\w.]+\))"),  # unittest
    (("--- FAIL: ",), r"^\s*--- FAIL: (\S+)"),  # go
    ((" ... FAILED",), r"^test (\S+) \.\.\. FAILED"),  # cargo
    (("FAIL [",), r"^\s+FAIL \[[^\]]*\] (?:\(\s*\d+/\d+\) )?(.+)$"),  # nextest
    (("(fail) ",), r"^\(fail\) (.+?)(?: \[[\d.]+ ?m?s\])?$"),  # bun
    (("● ",), r"^\s*● (.+ › .+)$"),  # jest
    (("FAIL", "×", "✗"), r"^\s*(?:FAIL|×|✗)\s+(\S.* > .+?)(?: \d+m?s)?$"),  # vitest
    (("not ok ",), r"^\s*not ok \d+ (?:- )?([^#\n]+?)\s*(?:#.*)?$"),  # TAP
    (("✖ ",), r"^\s*✖ (?!failing tests)(.+?)(?: \([\d.]+m?s\))?$"),  # node
    (("rspec ",), r"^rspec (\S+)"),  # rspec
    (("::",), r"^\s*\d+\) (\S+::\S+)"),  # phpunit
    ((") test ",), r"^\s+\d+\) (test .+ \([\w.]+\))$"),  # ExUnit
    (("(Failed)", "(Timeout)", "(SEGFAULT)", "(Not Run)"),
     r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)\)"),  # ctest
    ((" »", " expected", " Expected"),
     r"^(?:\[ERROR\]\s+)?([\w.$]+[.:](?!\d)\w+)(?::\d+)? (?:»|expected|Expected)"),  # surefire
    ((" FAILED",), r"^(\w\S* > \S.*) FAILED$"),  # gradle
    (("Failed ",), r"^\s*Failed ([\w.`()<>+]+) \["),  # dotnet
)  # fmt: skip
"""Failure lists of the runners: texts of which every match holds one, and the pattern."""
_MOCHA = r"^\s+\d+ failing\b"
_MOCHA_ID = r"^\s{1,6}\d+\) (\S.*?):?$"

_PYTEST = r"^=*\s*((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s?.*$"
_SECONDS = r" in [\d.]"
_SUMMARY: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Tests",), r"^\s*Tests:?\s+(?P<line>\d+ (?:failed|passed|skipped|todo)[^\n]*)$"),
    ((" failure",), r"^\s*(?P<line>\d+ tests?, \d+ failures?[^\n]*|\d+ examples?, \d+ failures?[^\n]*)$"),
    (("test result: ",), r"^test result: (?P<line>\w+\. \d+ passed; \d+ failed[^\n;]*)"),
    (("Tests run: ",), r"^\s*(?:\[\w+\]\s+)?(?P<line>Tests run: \d+, Failures: \d+, Errors: \d+[^\n]*)$"),
    (("Tests: ", "OK ("), r"^\s*(?P<line>Tests: \d+, Assertions: \d+[^\n]*|OK \(\d+ tests?[^\n]*\))"),
    (("% tests passed",), r"^(?P<line>\d+% tests passed, \d+ tests failed out of \d+)"),
    (("Passed!", "Failed!"), r"(?P<line>(?:Passed|Failed)!\s+- Failed:\s*\d+, Passed:\s*\d+[^\n]*)"),
    (("Summary [",), r"Summary \[[^\]]*\]\s*(?P<line>\d+ tests? run: [^\n]*)"),
    (("Tests Passed: ",), r"^(?P<line>Tests Passed: \d+, Failed: \d+[^\n]*)$"),
    (("Ran ",), r"^(?P<line>Ran \d+ tests? in [^\n]*)$"),
    ((" passing",), r"^\s*(?P<line>\d+ passing\b[^\n]*)$"),
    ((" pass",), r"^\s*(?P<line>\d+ pass)$"),
    (("pass ",), r"^(?:# |ℹ )(?P<line>pass \d+)$"),
)
"""Summary lines, in the same form. The last four stand beside others that count the failures."""
_BAD_COUNT = (
    r"(?<![\w.])(\d+) (?:tests? )?(?:failed|failures?|failing|fail|errors?)\b"
    r"|(?:Failures|Errors|Failed|fail|failures|errors)[:=]?\s*(\d+)\b"
)
_GOOD_COUNT = (
    r"(?<![\w.])(\d+) (?:tests? )?(?:passed|passing|pass|xfailed|xpassed)\b|(?:Passed|pass):?\s+(\d+)\b"
    r"|OK \((\d+) tests?"
    r"|(?:Tests run: |Ran |Tests: )(\d+)|\A(\d+) (?:tests?|examples?),|tests failed out of (\d+)|(\d+) tests? run:"
)
_NONE_RAN_WORDS = (
    "no tests ran", "no tests found", "no test files found", "no tests were found", "no tests to run", "1..0",
    "collected 0 items", "ran 0 tests", "0 examples", "no tests executed",
)  # fmt: skip
_NONE_RAN = (
    r"(?im)^(?:=*\s*no tests ran|NO TESTS RAN|no tests found|No test files found|No tests were found|no tests to run"
    r"|1\.\.0\b|collected 0 items|Ran 0 tests|0 examples|No tests executed)"
)
_BROKEN_WORDS = (
    "ImportError", "ModuleNotFoundError", "SyntaxError", "ERROR collecting", "Interrupted: ", "ERROR: file or dir",
    "ERROR: usage:", "error: could not compile", "error[E", "BUILD FAILURE", "(CompileError)", "== Compilation error",
    "Test suite failed to run", "command not found", "No module named ", "no required module", "[build failed]",
    "[setup failed]", "error TS",
)  # fmt: skip
_BROKEN = (
    r"(?m)^(?:E\s+\w*(?:ImportError|ModuleNotFoundError|SyntaxError)\b|ERROR collecting"
    r"|!+ Interrupted: \d+ errors? during collection|ImportError while loading conftest"
    r"|ERROR: (?:file or directory not found|usage:)|error: could not compile|error\[E\d+\]"
    r"|BUILD FAILURE|\*\* \(CompileError\)|== Compilation error|Test suite failed to run"
    r"|(?:\(eval\):\d+: |\S*sh: .*)command not found|No module named (?:pytest|unittest)|no required module provides)"
    r"|\[build failed\]|\[setup failed\]|\berror TS\d+:"
)
_REMEMBERED = 16_000
"""Characters of an output whose report is kept."""
_GO_OK = r"^ok\s+\S+"
_GO_FAIL = r"^(?:FAIL\b|panic: |---\ FAIL: )"
_GO_EMPTY = r"\[no test files\]|\[no tests to run\]"
_GO_EMPTY_WORDS = ("[no test files]", "[no tests to run]")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile when a text first holds what the pattern looks for: all of them cost more than most sessions."""
    return compile_pattern(pattern, re.MULTILINE)


def _holds(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


def read_report(text: str) -> Report:
    """Return what a test runner's output says. Only its own summary lines and failure lists are read."""
    return _remembered(text) if len(text) <= _REMEMBERED else _read(text)


def _read(text: str) -> Report:
    failing: dict[str, None] = {}
    for words, pattern in _FAILING:
        if _holds(text, words):
            for match in _compiled(pattern).finditer(text):
                failing[one_line(match[1], MAX_ID)] = None
    if " failing" in text and _compiled(_MOCHA).search(text):
        for match in _compiled(_MOCHA_ID).finditer(text):
            failing[one_line(match[1], MAX_ID)] = None
    line, failed, passed = _counts(text)
    if failed is None and failing:
        failed = len(failing)
    ran = None if passed is None and failed is None else (passed or 0) + (failed or 0)
    fine = False
    if ran is None and "ok" in text and _compiled(_GO_OK).search(text):
        lines = _compiled(_GO_OK).finditer(text)
        empty = all(_compiled(_GO_EMPTY).search(text, match.start(), _line_end(text, match.end())) for match in lines)
        ran, fine = (0, False) if empty else (None, not failing and not _compiled(_GO_FAIL).search(text))
    elif ran is None and (_holds(text, _GO_EMPTY_WORDS) or _none_ran(text)):
        ran = 0
    ids = tuple(failing)
    broken = not (ran and failing) and _holds(text, _BROKEN_WORDS) and bool(_compiled(_BROKEN).search(text))
    return Report(ids[:MAX_FAILING], max(0, len(ids) - MAX_FAILING), line, ran, failed, broken, fine and not broken)


_remembered = lru_cache(maxsize=64)(_read)
"""The cuts of one run see the same outputs again and again."""


def _none_ran(text: str) -> bool:
    return _holds(text.lower(), _NONE_RAN_WORDS) and bool(_compiled(_NONE_RAN).search(text))


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found


def _counts(text: str) -> tuple[str, int | None, int | None]:
    matches = list(_compiled(_PYTEST).finditer(text)) if _compiled(_SECONDS).search(text) else []
    if matches:
        line = matches[-1][1].strip().rstrip(",")
        if line == "no tests ran":
            return line, 0, 0
        return line, _total(_BAD_COUNT, line) or 0, _total(_GOOD_COUNT, line)
    for index, (words, pattern) in enumerate(_SUMMARY):
        if not _holds(text, words):
            continue
        found = [match["line"].strip() for match in _compiled(pattern).finditer(text)]
        if found:
            near = "\n".join(found)
            if index >= len(_SUMMARY) - 4:
                near += "\n" + "\n".join(_neighbours(text))
            passed, failed = _total(_GOOD_COUNT, near), _total(_BAD_COUNT, near)
            return one_line(found[-1], 120), failed or 0, _without_failures(found, passed, failed)
    return "", None, None


_ALL_RUN = r"\d+ (?:tests?|examples?),|Tests run: |Tests: \d|Ran |\d+% tests"


def _without_failures(found: list[str], passed: int | None, failed: int | None) -> int | None:
    """Where a summary counts all tests run (`5 tests, 4 failures`), take the failures off."""
    total = _compiled(_ALL_RUN).match(found[-1]) is not None
    return max(0, passed - (failed or 0)) if total and passed is not None else passed


_NEIGHBOUR = r"^\s*(?:FAILED \([^\n]*\)|\d+ (?:failing|fail)\b[^\n]*|(?:# |ℹ )fail \d+)\s*$"


def _neighbours(text: str) -> list[str]:
    return [match[0].strip() for match in _compiled(_NEIGHBOUR).finditer(text)]


def _total(pattern: str, line: str) -> int | None:
    numbers = [int(next(group for group in match.groups() if group)[:9]) for match in _compiled(pattern).finditer(line)]
    return sum(numbers) if numbers else None
