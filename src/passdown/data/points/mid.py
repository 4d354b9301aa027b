"""Mid-states: work is under way."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.data.points.run import Found, Run
from passdown.data.records import Mark, Step
from passdown.model.session import AssistantMessage, ToolCall, ToolResult, Usage, UserMessage

REACH = 3
"""Steps within which edits make a burst."""
SHARES = (25, 50, 75)
_LETTERS = 4
"""Characters of a token, where nobody counted tokens."""
_NAMED = 3
_MOST = 16
"""Names and steps in a mark of open subtasks, of which there may be many."""


def marks(run: Run) -> Iterator[Found]:
    """Yield the mid-states of a run."""
    last, first = -REACH - 1, True
    for at, signals in enumerate(run.signals):
        if first and signals.sources:
            first = False
            yield Found(at + 1, Mark(detector="first_meaningful_modification", kind="mid", steps=(at,)))
        if any(edit.sort != "scratch" for edit in signals.edits):
            if at - last <= REACH:
                yield Found(at + 1, Mark(detector="edit_burst", kind="mid", steps=(last, at)))
            last = at
        if signals.checks:
            last = -REACH - 1
        if signals.unchecked:
            yield Found(at + 1, Mark(detector="unvalidated_edit", kind="mid", steps=(at,)))
    yield from _open_files(run)
    yield from _open_items(run)
    yield from _context(run)


def _open_files(run: Run) -> Iterator[Found]:
    """Find cuts between the first and the last change of files that the run left changed."""
    spans = [(steps[0], steps[-1], path) for path, steps in run.edits.items() if path in run.final]
    for k in range(1, len(run.signals) + 1):
        now = [(begun, path) for begun, done, path in spans if begun < k <= done]
        if now:
            yield Found(k, _open(now, oracle=True))


def _open_items(run: Run) -> Iterator[Found]:
    """Find items of the plan that are in progress and for which something was changed."""
    items = [(place, node.subject) for place, node in enumerate(run.graph.nodes) if node.kind == "todo"]
    if not items:
        return
    begun: dict[int, int] = {}
    for k in range(1, min(len(run.graph.statuses), len(run.signals) + 1)):
        edited = any(edit.sort != "scratch" for edit in run.signals[k - 1].edits)
        for place, _ in items:
            if run.graph.statuses[k][place] != "in_progress":
                begun.pop(place, None)
            elif edited:
                begun.setdefault(place, k - 1)
        now = [(begun[place], subject) for place, subject in items if place in begun]
        if now:
            yield Found(k, _open(now, oracle=False))


def _open(subtasks: list[tuple[int, str]], *, oracle: bool) -> Mark:
    """Return one mark for all that is open: where each was begun, and the first names."""
    steps = tuple(sorted({begun for begun, _ in subtasks}))[:_MOST]
    more = f" and {len(subtasks) - _NAMED} more" if len(subtasks) > _NAMED else ""
    detail = ", ".join(name[:60] for _, name in subtasks[:_NAMED]) + more
    return Mark(detector="open_subtask", kind="mid", steps=steps, detail=detail, oracle_select=oracle)


def _context(run: Run) -> Iterator[Found]:
    total = 0
    left = list(SHARES)
    for at, signals in enumerate(run.signals):
        if not left:
            return
        total = _used(signals.step, total)
        while left and total * 100 >= left[0] * run.budget > 0:
            detail = f"{left.pop(0)} % of {run.budget} tokens"
            yield Found(at + 1, Mark(detector="context_cut", kind="mid", steps=(at,), detail=detail))


def _used(step: Step, before: int) -> int:
    """Return the tokens of the context after a step: as counted in the log, else by the length of its texts."""
    letters = counted = 0
    for event in step.events:
        if isinstance(event, Usage):
            counted = (event.context or event.input + event.cache_read + event.cache_write) + event.output
        elif isinstance(event, UserMessage | AssistantMessage | ToolResult):
            letters += len(event.text)
        elif isinstance(event, ToolCall):
            letters += len(event.command) or sum(
                len(text) for text in event.arguments.values() if isinstance(text, str)
            )
    return counted or before + letters // _LETTERS
