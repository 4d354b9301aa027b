"""Subagents: whether one that was sent off has come back within the step."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolResult

_LAUNCHED = lazy_pattern(
    r"(?i)\b(?:launched|started|running|spawned)\b[^\n]{0,40}\b(?:successfully|in (?:the )?background|async\w*)"
)


def is_away(results: Sequence[ToolResult]) -> bool:
    """Say whether a subagent is still at work when the step ends."""
    return not results or results[-1].outcome == "running" or _LAUNCHED.search(results[-1].text[:400]) is not None
