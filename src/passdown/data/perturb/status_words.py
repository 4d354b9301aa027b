"""The words in which notes and test programs tell that a run passed or failed, and their opposites."""

from __future__ import annotations

import re

from passdown.model.pattern import lazy_pattern

_RED = lazy_pattern(r"(?i)\b(?:fail(?:ed|s|ures?|ing)?|red|exit [1-9]\d*)\b")
_GREEN = lazy_pattern(r"(?i)\b(?:pass(?:ed|es|ing)?|green|exit 0)\b")
_BOTH = lazy_pattern(r"(?P<failed>\d+) failed, (?P<passed>\d+) passed")
_FAILED = lazy_pattern(r"(?P<count>\d+) failed\b")
_PASSED = lazy_pattern(r"(?P<count>\d+) passed\b")
_ENDED = lazy_pattern(r"\bexit [1-9]\d*(?: ×\d+)?")
_ENDED_WELL = lazy_pattern(r"\bexit 0\b(?: ×\d+)?")
_QUOTED = lazy_pattern(r' \("[^"\n]*"\)')
_DETAIL = lazy_pattern(r"\bfailed: (?!\d+ failed|Ran \d+ tests? in )[^(\n]*(?= \(|$)")
_COMPLAINT = lazy_pattern(r"^\s*(?:- )?(?:E\s|E$|FAILED|ERROR|AssertionError|Traceback|\(exit \d+\)|FAIL:)")
_OF_BOTH = lazy_pattern(r"Ran \d+ tests? in [\d.]+s")
"""What a test program says at the end of a run that passed, and of one that failed."""
_UNITTEST_OK = lazy_pattern(r"OK(?: \(.*\))?\s*")
_TRIED = lazy_pattern(r"\btried, failed\b|^- Open errors:")
_MAKE_PASS = lazy_pattern(r"\bMake (?P<command>`+[^\n]*?`+) pass\b")

_WHY = lazy_pattern(r"\bderived:(?P<gap> ?)failing(?P<join>[ _])test\b")


def is_red(text: str) -> bool:
    """Say whether a result begins by saying that the run failed."""
    return text.startswith("failed") or "(red)" in text


def is_green(text: str) -> bool:
    """Say whether a result begins by saying that the run passed."""
    return text.startswith("passed") or "(green)" in text


def says(line: str, *, green: bool) -> bool:
    """Say whether a line tells that a run passed, or with `green` false that one failed."""
    return (_GREEN if green else _RED).search(line) is not None


def flipped_value(value: str) -> str:
    """Return the opposite of a fact's value."""
    green = is_red(value)
    word, colon, detail = value.partition(": ")
    word = "passed" if green else "failed"
    counts = _counts(detail, green=green)
    if _OF_BOTH.fullmatch(detail):
        return value.replace(value.partition(": ")[0], word, 1)
    return f"{word}{colon}{counts}" if counts != detail else word


def flipped_line(line: str, *, green: bool) -> str | None:
    """Return a line of notes with the opposite result, None for one that says nothing but why a run failed."""
    if not green:
        return _to_red(line)
    if _TRIED.search(line) or _COMPLAINT.match(line):
        return None
    line = _MAKE_PASS.sub(r"Run \g<command> again", line)
    line = _WHY.sub("derived:\\g<gap>last\\g<join>run", line)
    line = _DETAIL.sub("failed", _QUOTED.sub("", line))
    return _to_green(line)


def flipped_output(line: str, *, green: bool) -> str | None:
    """Return a line that a test program printed with the opposite result, None for one that only complains."""
    if not green:
        return "FAILED (failures=1)" if _UNITTEST_OK.fullmatch(line) else _to_red(line)
    return None if _COMPLAINT.match(line) else _to_green(line)


def _counts(text: str, *, green: bool) -> str:
    if green:
        text = _BOTH.sub(lambda found: f"{int(found['failed']) + int(found['passed'])} passed", text)
        return _FAILED.sub(lambda found: f"{found['count']} passed", text)
    if _FAILED.search(text):
        return text
    return _PASSED.sub(_one_failed, text)


def _one_failed(found: re.Match[str]) -> str:
    left = int(found["count"]) - 1
    return f"1 failed, {left} passed" if left > 0 else "1 failed"


def _to_green(line: str) -> str:
    line = _ENDED.sub("exit 0", _counts(line, green=True)).replace("(red)", "(green)").replace("**red**", "**green**")
    for word, other in (("failed", "passed"), ("FAILED", "PASSED"), ("Failed", "Passed")):
        line = re.sub(rf"\b{word}\b", other, line)
    return line


def _to_red(line: str) -> str:
    line = _ENDED_WELL.sub("exit 1", line).replace("(green)", "(red)").replace("**green**", "**red**")
    line = line.replace("tried, failed, passes now:", "tried, failed:")
    counted = _counts(line, green=False)
    if counted != line:
        line = counted
        return re.sub(r"(?<!\d )\bpassed\b(?!, )", "failed", line)
    return re.sub(r"\bpassed\b", "failed", re.sub(r"\bPASSED\b", "FAILED", line))
