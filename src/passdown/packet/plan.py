"""The plan's items, also of a plan that is free text."""

from __future__ import annotations

import re

from msgspec import structs

from passdown.model.evidence import Evidence, PlanFact
from passdown.model.pattern import lazy_pattern
from passdown.model.session import PlanItem, PlanStatus
from passdown.packet.vague import is_filler

_CHECKBOX = lazy_pattern(r"\s{0,12}(?:[-*+]|\d{1,3}[.)])\s+\[( |x|X|-|~|>)\]\s+(\S.*)")
_NUMBERED = lazy_pattern(r"\s{0,3}\d{1,3}[.)]\s+(\S.*)")
_STEP_HEADING = lazy_pattern(r"#{1,6}\s+(?:step\s+)?\d{1,3}[.):]\s+(\S.*)", re.IGNORECASE)
_ASIDE = lazy_pattern(
    r"#{1,6}\s+\W*(?:verif|test|valid|accept|context|background|notes?\b|risk|why\b|out of scope|non-goals|"
    r"验|测试|背景|风险)",
    re.IGNORECASE,
)
"""A heading of a plan below which no work is listed: why, and how to see that it is done."""
_MARKS: dict[str, PlanStatus] = {
    " ": "pending", "x": "completed", "X": "completed", "-": "cancelled", "~": "in_progress", ">": "in_progress",
}  # fmt: skip
_MOST = 200
_CHECKING = lazy_pattern(
    r"(?:re-?)?(?:run|verify|execute|validate|check|do)\b.{0,60}\b(?:tests?|suite|lint\w*|fmt|checks?|typecheck|verification)\b"
    r".{0,40}",
    re.IGNORECASE,
)
"""An item that a green run of the tests fulfils."""


def current_plan(evidence: Evidence) -> list[PlanItem]:
    """Return the plan's items, those that only ask for a run of the tests done once a later run was green."""
    plan, tests = evidence.plan, evidence.tests
    green = "green" in (tests.state, tests.last_outcome) and plan is not None and (tests.at or 0) > (plan.at or 0) > 0
    return [
        structs.replace(item, status="completed")
        if green and item.status in ("pending", "in_progress") and _CHECKING.fullmatch(item.text.strip())
        else item
        for item in plan_items(plan)
    ]


def left_behind(evidence: Evidence) -> bool:
    """Say whether work went on without the plan: a later request was answered, and the plan not touched for it.

    Questions and words such as "go on" leave a plan standing.
    """
    at = evidence.plan.at if evidence.plan else None
    if at is None:
        return False
    asked = [
        directive.at
        for directive in evidence.directives
        if directive.at and directive.at > at and not is_filler(directive.text) and not _asks(directive.text)
    ]
    return bool(asked) and any(said.at and said.at > asked[0] for said in evidence.statements)


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def plan_items(plan: PlanFact | None) -> list[PlanItem]:
    """Return the plan's items; for a free-form plan its checkboxes, else its numbered headings or lines as pending."""
    if plan is None:
        return []
    if plan.items:
        return [item for item in plan.items if item.text.strip()]
    lines = plan.text.splitlines()[:2000]
    boxes = [match for match in map(_CHECKBOX.fullmatch, lines) if match]
    if boxes:
        return [PlanItem(text=box[2].strip(), status=_MARKS[box[1]]) for box in boxes[:_MOST]]
    headings = [match for match in map(_STEP_HEADING.fullmatch, lines) if match]
    numbered = headings if len(headings) > 1 else _numbered(lines)
    return [PlanItem(text=match[1].strip()) for match in numbered[:_MOST]]


def _numbered(lines: list[str]) -> list[re.Match[str]]:
    """Return the numbered lines, but for those below a heading that lists no work; all of them when that is all."""
    found: list[re.Match[str]] = []
    below: list[re.Match[str]] = []
    aside = False
    for line in lines:
        if line.startswith("#"):
            aside = _ASIDE.match(line) is not None
        elif match := _NUMBERED.fullmatch(line):
            (below if aside else found).append(match)
    return found or below
