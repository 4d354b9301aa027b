"""Which chain a feedback row belongs to: the one it says it retries, else the one of the same command."""

from __future__ import annotations

from collections.abc import Sequence

from passdown.model.workbench import FeedbackRow


class Links:
    """Follows `parent_command_id` in file order. A cycle is cut where it first points forward."""

    def __init__(self, rows: Sequence[FeedbackRow]) -> None:
        self._known = frozenset(row.command_id for row in rows if row.command_id)
        self._chain_of: dict[str, str] = {}

    def parent_chain(self, row: FeedbackRow) -> tuple[str, bool]:
        """Return the key of the chain the row continues (empty: none), and whether its beginning is rotated away."""
        parent = row.parent_command_id
        if not parent:
            return "", False
        if parent in self._chain_of:
            return self._chain_of[parent], False
        return "", parent not in self._known

    def remember(self, row: FeedbackRow, key: str) -> None:
        """Take note of the chain that a row was put into."""
        if row.command_id:
            self._chain_of[row.command_id] = key
