"""Failing tests that a person said to leave alone: to make them pass is no next step."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.model.evidence import Evidence
from passdown.model.pattern import lazy_pattern

_TEST = lazy_pattern(
    r"(?<![\w./-])(?:[\w.-]+/)*(?P<name>\w+)(?:\.\w{1,5}(?:::[\w:]+)?)(?![\w/])|\b(?P<bare>test_\w+|\w+_test)\b"
)
_BEFORE = lazy_pattern(
    r"(?i)(?:\bleave|\bignore|\bskip|\bdo(?:n['’]t| not) (?:touch|fix|change|mend))"
    r"(?: (?:the|that|failing|failures?|broken|tests?|of|in|from)){0,5} `?$"
)
_AFTER = lazy_pattern(
    r"(?i)^`?[^.\n]{0,60}?(?:\bleave (?:it|them|that) (?:alone|be\b|as|out)|\bignore (?:it|them|that)\b"
    r"|\bdo(?:n['’]t| not) (?:touch|fix|change|mend) (?:it|them|that)\b|\bfails? for reasons outside\b"
    r"|\bknown (?:to fail|failures?)\b|\b(?:expected|supposed) to fail\b)"
)
_WORD = lazy_pattern(r"\w+")


def are_excused(evidence: Evidence) -> bool:
    """Say whether failing tests are known by name, and each of them is one that a person said to leave alone."""
    failing = evidence.tests.failing
    left = set(_left(evidence)) if failing else set()
    return bool(left) and all(left.intersection(_WORD.findall(name)) for name in failing)


def _left(evidence: Evidence) -> Iterator[str]:
    """Yield the tests, or the names of their files without folder and ending, that are to be left alone."""
    for directive in evidence.directives:
        for line in directive.text.split("\n"):
            for found in _TEST.finditer(line):
                if _AFTER.search(line[found.end() :]) or _BEFORE.search(line[: found.start()]):
                    yield found["name"] or found["bare"]
