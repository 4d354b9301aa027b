"""Clues: chunks worth keeping, each reachable through its anchors."""

from __future__ import annotations

from passdown.model.packet import Clue
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import ClueRow
from passdown.packet.caps import first
from passdown.packet.carry import carried_clues
from passdown.packet.context import Context
from passdown.packet.paths import is_relative

_COMMIT = lazy_pattern(r"[0-9a-f]{7,64}")
_LINE = lazy_pattern(r":\d+(?:-\d+)?$")


def list_clues(context: Context) -> tuple[list[Clue], int]:
    """Return the clues, pinned ones first, and how many are left out. A broken anchor is reported, its clue kept."""
    rows = {row.id: row for row in context.evidence.workbench.clues}
    own = [_clue(context, row) for row in rows.values() if not row.withdrawn and row.text.strip()]
    carried = [_again(context, clue) for clue in carried_clues(context)]
    pinned = [*carried, *(clue for clue in own if clue.pinned)]
    kept, left = first([*pinned, *(clue for clue in own if not clue.pinned)], "clues")
    return kept, left


def _clue(context: Context, row: ClueRow) -> Clue:
    anchors = list(row.anchors)
    return Clue(
        id=context.name("K-", row.id, row.text), text=row.text, anchors=anchors, tags=list(row.tags), by=row.by,
        pinned=row.pinned, broken=_broken(context, anchors),
    )  # fmt: skip


def _again(context: Context, clue: Clue) -> Clue:
    return Clue(
        id=clue.id, text=clue.text, anchors=clue.anchors, tags=clue.tags, by=clue.by, pinned=True,
        broken=_broken(context, clue.anchors), from_packet=clue.from_packet,
    )  # fmt: skip


def _broken(context: Context, anchors: list[str]) -> list[str]:
    return [anchor for anchor in anchors if not _may_resolve(context, anchor)]


def _may_resolve(context: Context, anchor: str) -> bool:
    """Say whether an anchor leads somewhere, as far as is known; a commit id cannot be told from here."""
    if _COMMIT.fullmatch(anchor):
        return True
    path = _LINE.sub("", anchor.split("::", maxsplit=1)[0]).removeprefix("./")
    if not is_relative(path):
        return False
    fact = context.look(path)
    return fact is None or (fact.exists and not fact.outside)
