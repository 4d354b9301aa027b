"""Quality gates: what is too poor, too short or too long to make samples of, with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from passdown.data.filters.result import Filtered, dropped
from passdown.data.records import Trajectory
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AssistantMessage, Compaction, ToolResult, Unknown, UserMessage

STAGE = "quality"
_WORK = frozenset({"READ", "SEARCH", "EDIT", "CREATE", "DELETE", "TEST", "BUILD", "VCS", "RUN", "INSTALL"})
_CHANGES = frozenset({"EDIT", "CREATE", "DELETE"})
_HARNESS = lazy_pattern(
    r"(?i)exit_(?:error|api|environment|command)|early_exit|(?:api|internal|server|environment|container|docker|runtime)"
    r"[ _-]?(?:error|failure|crash)|error_(?:max|api|runtime)|instance_error|traceback|maximum retries|agent_?error"
)


class Limits(Struct, frozen=True, kw_only=True):
    """The gates' bounds: turns of the agent, characters of the whole, and the share of records that may be unread."""

    fewest_turns: int = 3
    most_turns: int = 500
    most_characters: int = 8_000_000
    unread: float = 0.2


def gate(trajectories: Iterable[Trajectory], limits: Limits | None = None) -> Filtered:
    """Yield the trajectories that pass every gate, and a reject for each other with the first reason that holds."""
    bounds = limits or Limits()
    for trajectory in trajectories:
        found = fault(trajectory, bounds)
        yield trajectory if found is None else dropped(STAGE, trajectory, *found)


def fault(trajectory: Trajectory, limits: Limits) -> tuple[str, str] | None:
    """Return why a trajectory does not pass and the number behind it, None when it does."""
    events = [event for step in trajectory.steps for event in step.events]
    unread = sum(isinstance(event, Unknown) for event in events)
    turns = sum(step.role == "agent" for step in trajectory.steps)
    kinds = {action.kind for step in trajectory.steps for action in step.actions}
    if unread > limits.unread * len(events):
        return "unreadable", f"{unread} of {len(events)} records"
    if turns < limits.fewest_turns:
        return "too_short", f"{turns} turns"
    if turns > limits.most_turns:
        return "too_long", f"{turns} turns"
    if (size := sum(map(_characters, events))) > limits.most_characters:
        return "too_long", f"{size} characters"
    if _HARNESS.search(trajectory.outcome.exit[:500]) and "submit" not in trajectory.outcome.exit.lower():
        return "harness_error", trajectory.outcome.exit
    if not kinds & _WORK:
        return "no_repo_action", ", ".join(sorted(kinds))
    if not kinds & _CHANGES and "TEST" not in kinds and not _writes(trajectory):
        return "no_edit_no_test", ", ".join(sorted(kinds))
    return None


def _characters(event: Any) -> int:
    if isinstance(event, UserMessage | AssistantMessage | ToolResult):
        return len(event.text)
    return len(event.summary) if isinstance(event, Compaction) else 0


def _writes(trajectory: Trajectory) -> bool:
    return any(action.writes for step in trajectory.steps for action in step.actions)
