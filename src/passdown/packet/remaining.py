"""What is open, in board or plan order."""

from __future__ import annotations

from typing import Literal

from passdown.model.identifier import normalize_text
from passdown.model.packet import CompletedItem, RemainingItem
from passdown.model.workbench import Task
from passdown.packet.caps import first
from passdown.packet.carry import carried_remaining, fill_with
from passdown.packet.completed import board_items
from passdown.packet.context import Context
from passdown.packet.plan import current_plan, left_behind

OLD_PLAN = "plan, not touched since a later request"


def list_remaining(context: Context, completed: list[CompletedItem]) -> tuple[list[RemainingItem], int]:
    """Return the open things and how many are left out: the board's, the plan's, then what the last packet left."""
    workbench = context.evidence.workbench
    boards = {id(task): "board" for task in workbench.tasks}
    items = [_task(task, boards.get(id(task), "features")) for task in board_items(context) if task.status != "done"]
    source = OLD_PLAN if left_behind(context.evidence) else "plan"
    for item in current_plan(context.evidence):
        if item.status in ("pending", "in_progress"):
            running = item.status == "in_progress" and source == "plan"
            status: Literal["in_progress", "todo"] = "in_progress" if running else "todo"
            items.append(RemainingItem(id=context.id("P-", item.text), text=item.text, status=status, source=source))
    done = {normalize_text(item.text).casefold() for item in completed}
    found: dict[str, RemainingItem] = {}
    for remaining in items:
        found.setdefault(normalize_text(remaining.text).casefold(), remaining)
    own, left = first(list(found.values()), "remaining")
    carried = [item for item in carried_remaining(context) if normalize_text(item.text).casefold() not in done]
    return fill_with(own, carried, "remaining"), left


def _task(task: Task, source: str) -> RemainingItem:
    return RemainingItem(
        id=task.id,
        text=task.goal or task.id,
        status="todo" if task.status == "done" else task.status,
        done_when=" && ".join(task.acceptance),
        source=source,
    )
