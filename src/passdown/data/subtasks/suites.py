"""Results of runners that print suites as an indented tree (jest, mocha, node), files (vitest), or points (TAP)."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern

_LEAF = lazy_pattern(r"^(\s*)([✓✔✕✗×✖])\s+(\S.*?)(?:\s+\(?[\d.]+ ?m?s\)?)?\s*$")
_TAP = lazy_pattern(r"^\s*(ok|not ok) \d+ -? ?(\S.*?)\s*(#.*)?$")
_HEADING = lazy_pattern(r"^(\s*)([^\s✓✔✕✗×✖●(].*\S|\S)\s*$")
_COUNTS = lazy_pattern(r"^(?:Tests?|Test Suites|Test Files|Snapshots|Time|Ran all|\d+ (?:passing|failing|pending))\b")
_WELL = "✓✔"
_LONGEST = 300
_MOST_LINES = 20_000


def suite_results(text: str) -> dict[str, bool]:
    """Return test → whether it passed; a test in suites is called `suite › test`."""
    found: dict[str, bool] = {}
    if not any(mark in text for mark in ("✓", "✔", "✕", "✗", "×", "✖", "ok ")):
        return found
    open_suites: list[tuple[int, str]] = []
    for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
        if len(line) > _LONGEST:
            continue
        if leaf := _LEAF.match(line):
            indent = len(leaf[1])
            while open_suites and open_suites[-1][0] >= indent:
                open_suites.pop()
            found[" › ".join([*(name for _, name in open_suites), leaf[3].replace(" > ", " › ")])] = leaf[2] in _WELL
        elif point := _TAP.match(line):
            if not (point[3] and ("SKIP" in point[3].upper() or "TODO" in point[3].upper())):
                found[point[2]] = point[1] == "ok"
        elif not line.strip() or _COUNTS.match(line):
            open_suites.clear()
        elif heading := _HEADING.match(line):
            indent = len(heading[1])
            while open_suites and open_suites[-1][0] >= indent:
                open_suites.pop()
            if indent:
                open_suites.append((indent, heading[2]))
    return found if _is_report(text) else {}


_REPORT = lazy_pattern(
    r"(?m)^\s*(?:Tests?:? +\d|Test Files|\d+ (?:passing|failing)|TAP version|1\.\.\d+|# (?:pass|tests) \d"
    r"|ℹ (?:pass|tests) \d)|^(?:PASS|FAIL) \S+\.\w+"
)


def _is_report(text: str) -> bool:
    """Say whether a runner printed it: marks alone are what many a script prints too."""
    return _REPORT.search(text) is not None
