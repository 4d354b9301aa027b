"""rule_report.json and docs/agent-rules.md (lesson 33)."""

from __future__ import annotations

from typing import Any

from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import RuleResult
from passdown.workbench.document import MalformedError, Notes, decode_text, kind_of
from passdown.workbench.shapes import clean, flag, text_of

_HEADING = lazy_pattern(r"##\s+(\S+/\S+)\s*$")
_BULLET = lazy_pattern(r"[-*]\s+`?(category|check)`?\s*:\s*\S")


def read_rule_report(value: Any, notes: Notes) -> tuple[RuleResult, ...]:
    """Return the results, from a list or from an object with one under `results`, `rules` or `rows`.

    Raises `MalformedError` for the lesson's demo object, which compares two made-up turns.
    """
    rows = value
    if isinstance(value, dict):
        rows = next((value[name] for name in ("results", "rules", "rows") if isinstance(value.get(name), list)), None)
        if rows is None and {"bad", "good"} <= value.keys():
            raise MalformedError(
                "rule_report.demo",
                "is the demonstration of lesson 33 (bad and good turns), not a report of this work",
                fix="Write a list of {slug, passed}.",
            )
    if not isinstance(rows, list):
        raise MalformedError("artifact.bad_shape", f"must be a list of rule results, but is {kind_of(value)}")
    results: list[RuleResult] = []
    for row in rows:
        slug = text_of(row, "slug", notes) if isinstance(row, dict) else ""
        if not slug:
            notes.warn("artifact.bad_item", "a rule result has no slug and is left out")
            continue
        passed = flag(row, "passed", notes)
        if passed is None:
            notes.warn("rule_report.no_result", "a rule has no result; it counts as failed")
        results.append(RuleResult(slug=slug, passed=bool(passed), category=text_of(row, "category", notes)))
    return tuple(results)


def read_rules(data: bytes, notes: Notes) -> tuple[str, ...]:
    """Return the slugs of the rules: `##` headings of the form `category/name` with a category and a check."""
    slugs: list[str] = []
    block = ""
    seen: set[str] = set()
    for line in [*decode_text(data).splitlines(), "## end/end"]:
        heading = _HEADING.match(line)
        if heading:
            if block and seen >= {"category", "check"}:
                slugs.append(clean(block))
            elif block:
                notes.warn("rules.incomplete", f"the rule {ascii(block)[:60]} has no category or no check")
            block, seen = heading[1], set()
        elif bullet := _BULLET.match(line.strip()):
            seen.add(bullet[1])
    return tuple(dict.fromkeys(slugs))
