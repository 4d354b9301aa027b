"""What the previous packet hands on. A carried claim keeps its basis and says where it came from: never promoted."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import structs

from passdown.model.packet import (
    Assumption,
    Clue,
    CommandLine,
    CompletedItem,
    Decision,
    DirectiveLine,
    FailedAttempt,
    HarnessSummary,
    InterruptedEditLine,
    NextAction,
    Packet,
    Preference,
    Question,
    RemainingItem,
    Risk,
    Tests,
)
from passdown.packet.caps import LISTS, keep
from passdown.packet.context import Context

_Carried = TypeVar(
    "_Carried",
    bound=Assumption | Clue | CompletedItem | Decision | FailedAttempt | Preference | Question | RemainingItem | Risk,
)
_Record = TypeVar("_Record", bound=CommandLine | DirectiveLine | HarnessSummary | InterruptedEditLine | Tests)

EARLIER = "derived:earlier_packet"
"""The source of a next step that the packet before knew from a session which is not here any more."""

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


def _handed_on(item: Any, previous: Packet) -> Any:
    basis = "declared" if item.basis == "observed" else item.basis
    return structs.replace(item, from_packet=item.from_packet or previous.packet_id, basis=basis)


# --- what only a session knew that is gone -----------------------------------------------------------------------


def last_known(context: Context) -> Packet | None:
    """Return the packet before, when the sessions it was made of are gone: it alone knows what they said."""
    return context.previous if context.sessions_gone else None


def handed_down(context: Context, items: list[_Record]) -> list[_Record]:
    """Return items of the packet before as this one has them: no longer observed, and with where they come from."""
    previous = last_known(context)
    return [_handed_on(item, previous) for item in items] if previous is not None else []


def attempts_of_gone(context: Context) -> list[FailedAttempt]:
    """Return what the gone sessions tried in vain."""
    previous = last_known(context)
    return [_handed_on(item, previous) for item in previous.failed_attempts] if previous is not None else []


def completed_of_gone(context: Context) -> list[CompletedItem]:
    """Return what the gone sessions' plans called done; board and commits are read anew."""
    previous = last_known(context)
    if previous is None:
        return []
    return [_handed_on(item, previous) for item in previous.completed if item.evidence == "plan"]


def tests_of_gone(context: Context) -> Tests | None:
    """Return how the tests stood when a gone session ran them last: an older record, whatever the tree."""
    previous = last_known(context)
    if previous is None or not previous.tests.last_outcome:
        return None
    known: Tests = _handed_on(previous.tests, previous)
    return structs.replace(known, state="stale", evidence_line=0, tree="", check=None)


def step_of_gone(context: Context) -> NextAction | None:
    """Return the next step that a gone session led to; what a file says, or a run recorded here, is read anew."""
    previous = last_known(context)
    if previous is None or previous.next_action.source not in _FROM_SESSIONS:
        return None
    if previous.next_action.kind == "command" and context.evidence.tests.last_outcome:
        return None
    return structs.replace(previous.next_action, source=EARLIER, basis="declared")


_FROM_SESSIONS = frozenset({
    EARLIER, "derived:failing_test", "derived:plan_in_progress", "derived:plan_todo", "derived:last_step",
    "derived:last_request", "derived:claims", "derived:begun", "derived:plan",
})  # fmt: skip


# --- what every packet hands on ----------------------------------------------------------------------------------


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
