"""The plan's items, also of a plan that is free text."""

from __future__ import annotations

from passdown.model.evidence import PlanFact
from passdown.model.pattern import lazy_pattern
from passdown.model.session import PlanItem, PlanStatus

_CHECKBOX = lazy_pattern(r"\s{0,12}(?:[-*+]|\d{1,3}[.)])\s+\[( |x|X|-|~|>)\]\s+(\S.*)")
_NUMBERED = lazy_pattern(r"\s{0,3}\d{1,3}[.)]\s+(\S.*)")
_MARKS: dict[str, PlanStatus] = {
    " ": "pending", "x": "completed", "X": "completed", "-": "cancelled", "~": "in_progress", ">": "in_progress",
}  # fmt: skip
_MOST = 200


def plan_items(plan: PlanFact | None) -> list[PlanItem]:
    """Return the plan's items; for a free-form plan its checkboxes, else its numbered lines as pending."""
    if plan is None:
        return []
    if plan.items:
        return [item for item in plan.items if item.text.strip()]
    lines = plan.text.splitlines()[:2000]
    boxes = [match for match in map(_CHECKBOX.fullmatch, lines) if match]
    if boxes:
        return [PlanItem(text=box[2].strip(), status=_MARKS[box[1]]) for box in boxes[:_MOST]]
    numbered = [match for match in map(_NUMBERED.fullmatch, lines) if match]
    return [PlanItem(text=match[1].strip()) for match in numbered[:_MOST]]
