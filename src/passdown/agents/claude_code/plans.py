"""The agent's plan: `TodoWrite` writes the whole list, the task tools change one item at a time."""

from __future__ import annotations

from typing import Any

from passdown.agents.claude_code.records import Twin
from passdown.model.pattern import lazy_pattern
from passdown.model.session import PlanItem, PlanStatus

_STATUS: dict[str, PlanStatus] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
    "cancelled": "cancelled",
}
_TASK = lazy_pattern(r"Task #(\w{1,32}) created")
MOST = 1000
"""Items kept of one plan; no real plan is longer."""


class TaskTable:
    """The plan as it stands: fed with calls and their results, it gives the whole list after each change."""

    def __init__(self) -> None:
        self.tasks: dict[str, PlanItem] = {}
        self.asked: dict[str, tuple[str, dict[str, Any]]] = {}

    def call(self, tool: str, call_id: str, arguments: dict[str, Any]) -> tuple[PlanItem, ...] | None:
        """Note a call of a plan tool; return the list when the call itself holds the whole of it."""
        if tool == "TodoWrite":
            return todos(arguments)
        if tool in ("TaskCreate", "TaskUpdate") and len(self.asked) < MOST:
            self.asked[call_id] = (tool, arguments)
        return None

    def result(self, call_id: str, text: str, twin: Twin | None, *, good: bool) -> tuple[PlanItem, ...] | None:
        """Apply a task tool's result; return the list when it changed."""
        asked = self.asked.pop(call_id, None)
        if asked is None or not good:
            return None
        tool, arguments = asked
        changed = self._create(arguments, text, twin) if tool == "TaskCreate" else self._update(arguments)
        return tuple(self.tasks.values()) if changed else None

    def _create(self, arguments: dict[str, Any], text: str, twin: Twin | None) -> bool:
        subject = arguments.get("subject")
        if not isinstance(subject, str) or len(self.tasks) >= MOST:
            return False
        task = twin.task if twin is not None else None
        found = _TASK.search(text[:200])
        number = str(task["id"]) if isinstance(task, dict) and "id" in task else found[1] if found else ""
        self.tasks[number or str(len(self.tasks) + 1)] = PlanItem(text=subject)
        return True

    def _update(self, arguments: dict[str, Any]) -> bool:
        number, status = str(arguments.get("taskId", "")), arguments.get("status")
        item = self.tasks.get(number)
        if item is None:
            return False
        if status == "deleted":
            del self.tasks[number]
            return True
        subject = arguments.get("subject")
        new = PlanItem(
            text=subject if isinstance(subject, str) and subject else item.text,
            status=_STATUS.get(str(status), item.status),
        )
        self.tasks[number] = new
        return new != item


def todos(arguments: dict[str, Any]) -> tuple[PlanItem, ...] | None:
    """Return the list a `TodoWrite` call writes, None when it holds none."""
    entries = arguments.get("todos")
    if not isinstance(entries, list):
        return None
    return tuple(
        PlanItem(text=entry["content"], status=_STATUS.get(str(entry.get("status")), "pending"))
        for entry in entries[:MOST]
        if isinstance(entry, dict) and isinstance(entry.get("content"), str)
    )
