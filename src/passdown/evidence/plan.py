"""The last plan of the newest session that had one."""

from __future__ import annotations

from msgspec import structs

from passdown.evidence.words import cut_middle
from passdown.model.evidence import PlanFact, Source
from passdown.model.session import PlanItem, PlanUpdate

MAX_ITEMS = 100
MAX_ITEM = 400
MAX_TEXT = 4000


class Plan:
    """Keeps the plan as it last stood. Sessions come oldest first, so a later one's plan replaces it."""

    def __init__(self) -> None:
        self._fact: PlanFact | None = None
        self.omitted = 0

    def update(self, event: PlanUpdate, source: Source) -> None:
        """Take the whole plan; an emptied one means that there is none any more."""
        if event.agent_id or not event.active:
            return
        self.omitted = max(0, len(event.items) - MAX_ITEMS)
        if not event.items and not event.text.strip():
            self._fact = None
            return
        items = tuple(_bounded(item) for item in event.items[:MAX_ITEMS])
        text, _ = cut_middle(event.text.strip(), MAX_TEXT)
        self._fact = PlanFact(items=items, text=text, at=event.at, source=source)

    def finish(self) -> PlanFact | None:
        """Return the plan, None when no session had one."""
        return self._fact


def _bounded(item: PlanItem) -> PlanItem:
    return structs.replace(item, text=cut_middle(item.text, MAX_ITEM)[0]) if len(item.text) > MAX_ITEM else item
