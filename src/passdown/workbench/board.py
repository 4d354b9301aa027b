"""task_board.json, as an array or as JSON Lines (lessons 32, 34 and 42)."""

from __future__ import annotations

from typing import Any

from passdown.model.finding import Severity
from passdown.model.identifier import content_id
from passdown.model.workbench import BoardStatus, Task
from passdown.workbench.aliases import STATUSES
from passdown.workbench.document import MalformedError, Notes, decode_json, kind_of, quoted
from passdown.workbench.rows import rows_of
from passdown.workbench.shapes import flag, text_of, texts_of


def read_board(data: bytes, notes: Notes) -> tuple[Task, ...]:
    """Return the tasks in file order. Raises `MalformedError` when the file is neither an array nor JSON Lines."""
    tasks = read_tasks(_entries(data, notes), notes)
    report_active(tasks, notes, "warn")
    return tasks


def _entries(data: bytes, notes: Notes) -> list[Any]:
    if notes.path.endswith(".jsonl"):
        return [row.record for row in rows_of(data, "board", notes)]
    try:
        value = decode_json(data)
    except MalformedError as error:
        lines = [line for line in data.splitlines() if line.strip()]
        if error.code != "artifact.bad_json" or len(lines) < 2 or not lines[0].lstrip().startswith(b"{"):
            raise
        probe = Notes(notes.path)
        rows = rows_of(data, "board", probe)
        if not rows or any(finding.code == "board.bad_line" for finding in probe.findings):
            raise
        notes.take(probe.findings)
        return [row.record for row in rows]
    if isinstance(value, dict):
        for name in ("tasks", "items"):
            if isinstance(value.get(name), list):
                return list(value[name])
        if "id" in value:
            return [value]
    if not isinstance(value, list):
        raise MalformedError("artifact.bad_shape", f"must be an array of tasks, but is {kind_of(value)}")
    return value


def read_tasks(entries: list[Any], notes: Notes, *, ids_expected: bool = True) -> tuple[Task, ...]:
    """Return one task per entry, in order; an entry without an id gets one from its goal, a second one is dropped."""
    tasks: dict[str, Task] = {}
    for entry in entries:
        if not isinstance(entry, dict):
            notes.warn("artifact.bad_item", f"a task must be an object, but is {kind_of(entry)}")
            continue
        task = _task(entry, notes, ids_expected=ids_expected)
        if task is None:
            continue
        if task.id in tasks:
            notes.warn("board.duplicate_id", f"the id {quoted(task.id)} stands twice; the first one counts")
        else:
            tasks[task.id] = task
    return tuple(tasks.values())


def _task(entry: dict[str, Any], notes: Notes, *, ids_expected: bool) -> Task | None:
    goal = text_of(entry, "goal", notes)
    name = text_of(entry, "id", notes).strip()
    if not name and not goal.strip():
        notes.warn("artifact.bad_item", "a task has neither an id nor a goal and is left out")
        return None
    if not name and ids_expected:
        notes.warn("board.missing_id", f"a task has no id: {quoted(goal)}")
    acceptance = texts_of(entry, "acceptance_criteria", notes)
    return Task(
        id=name or content_id("T-", goal),
        goal=goal,
        status=_status(entry, notes),
        owner=text_of(entry, "owner", notes),
        acceptance=acceptance or texts_of(entry, "steps", notes),
        source=notes.path,
    )


def _status(entry: dict[str, Any], notes: Notes) -> BoardStatus:
    if "status" not in entry:
        return "done" if flag(entry, "passes", notes) else "todo"
    value = entry["status"]
    word = STATUSES.get(value.strip().lower().replace("-", "_").replace(" ", "_")) if isinstance(value, str) else None
    match word:
        case "in_progress":
            return "in_progress"
        case "done":
            return "done"
        case "blocked":
            return "blocked"
        case "todo":
            return "todo"
    notes.warn("board.unknown_status", f"the status {quoted(value)} is unknown; the task counts as open")
    return "todo"


def report_active(tasks: tuple[Task, ...], notes: Notes, severity: Severity) -> None:
    """Report several tasks in progress at once."""
    active = [task.id for task in tasks if task.status == "in_progress"]
    if len(active) > 1:
        names = ", ".join(quoted(name) for name in active[:5])
        notes.add(severity, "board.multiple_active", f"{len(active)} are in progress at once: {names}")
