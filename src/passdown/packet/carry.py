"""What the previous packet hands on. A carried claim keeps its basis and says where it came from: never promoted."""

from __future__ import annotations

from typing import TypeVar

from msgspec import structs

from passdown.model.packet import (
    Assumption,
    Clue,
    Decision,
    FailedAttempt,
    Packet,
    Preference,
    Question,
    RemainingItem,
    Risk,
)
from passdown.packet.caps import LISTS, keep
from passdown.packet.context import Context

_Carried = TypeVar(
    "_Carried", bound=Assumption | Clue | Decision | FailedAttempt | Preference | Question | RemainingItem | Risk
)

_ARTIFACT_ROLES = {
    "questions": "questions", "state": "state", "contract": "contract", "overrides": "overrides",
    "rule_report": "rule_report",
}  # fmt: skip


def fill_with(own: list[_Carried], carried: list[_Carried], name: str) -> list[_Carried]:
    """Return the carried items that the list still has room for, newest last, before its own.

    Those without room are not counted as omitted: the previous packet holds them, and counting them would make the
    second of two identical builds differ from the first.
    """
    present = {item.id for item in own}
    others = [item for item in carried if item.id not in present]
    room = LISTS[name] - len(own)
    return [*(keep(others, room, newest=True) if room > 0 else []), *own]


def _handed_on(item: _Carried, previous: Packet) -> _Carried:
    basis = "declared" if item.basis == "observed" else item.basis
    return structs.replace(item, from_packet=item.from_packet or previous.packet_id, basis=basis)


def carried_remaining(context: Context) -> list[RemainingItem]:
    """Return what the previous packet left open, where nothing here says anew what is open (no board, no plan)."""
    previous, evidence = context.previous, context.evidence
    if previous is None or evidence.plan is not None or evidence.workbench.tasks or evidence.workbench.features:
        return []
    return [_handed_on(item, previous) for item in previous.remaining]


def _withdrawn(context: Context) -> set[str]:
    rows = [row for row in context.evidence.workbench.decisions if row.state == "withdrawn"]
    return {context.name("P-" if row.kind == "preference" else "D-", row.id, row.choice) for row in rows}


def carried_decisions(context: Context) -> list[Decision]:
    """Return the previous packet's decisions that were not withdrawn since."""
    if context.previous is None:
        return []
    withdrawn = _withdrawn(context)
    return [_handed_on(item, context.previous) for item in context.previous.decisions if item.id not in withdrawn]


def carried_preferences(context: Context) -> list[Preference]:
    """Return the previous packet's standing wishes that were not withdrawn since."""
    if context.previous is None:
        return []
    withdrawn = _withdrawn(context)
    return [_handed_on(item, context.previous) for item in context.previous.preferences if item.id not in withdrawn]


def carried_clues(context: Context) -> list[Clue]:
    """Return the previous packet's pinned clues, except those unpinned or withdrawn since."""
    if context.previous is None:
        return []
    known = {context.name("K-", row.id, row.text) for row in context.evidence.workbench.clues}
    return [
        _handed_on(clue, context.previous) for clue in context.previous.clues if clue.pinned and clue.id not in known
    ]


def carried_risks(context: Context) -> list[Risk]:
    """Return the previous packet's pinned risks that the notes here say nothing of."""
    return _pinned(context, context.previous.open_risks if context.previous else [], "R-")


def carried_attempts(context: Context) -> list[FailedAttempt]:
    """Return the previous packet's pinned attempts that the notes here say nothing of."""
    return _pinned(context, context.previous.failed_attempts if context.previous else [], "F-")


def carried_assumptions(context: Context) -> list[Assumption]:
    """Return the previous packet's pinned assumptions that the notes here say nothing of."""
    return _pinned(context, context.previous.assumptions_to_validate if context.previous else [], "A-")


def _pinned(context: Context, items: list[_Carried], prefix: str) -> list[_Carried]:
    previous = context.previous
    if previous is None:
        return []
    known = {context.name(prefix, row.id, row.text) for row in context.evidence.workbench.notes}
    return [_handed_on(item, previous) for item in items if getattr(item, "pinned", False) and item.id not in known]


def carried_questions(context: Context) -> list[Question]:
    """Return the previous packet's questions that are still open.

    A question whose own source is here is read anew, so it is carried only where that source is missing.
    """
    if context.previous is None:
        return []
    closed = {context.name("Q-", row.id, row.question) for row in context.evidence.workbench.questions}
    here = {artifact.path for artifact in context.evidence.workbench.artifacts if artifact.role in _ARTIFACT_ROLES}
    return [
        _handed_on(question, context.previous)
        for question in context.previous.questions_for_human
        if question.id not in closed and question.source not in here and question.source != "next_action"
    ]
