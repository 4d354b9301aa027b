"""The draft: every field of the packet filled from the evidence, texts still raw, lists at their caps.

A draft says nothing of the clean state: it is what the clean-state check judges, and sealing adds the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from passdown.model.packet import (
    SCHEMA,
    SCHEMA_MINOR,
    SCHEMA_VERSION,
    CleanStateSummary,
    Environment,
    NextAction,
    Packet,
    Producer,
    Question,
    Risk,
    Tests,
)
from passdown.packet.assumptions import list_assumptions
from passdown.packet.blockers import list_blockers
from passdown.packet.caps import first
from passdown.packet.carry import last_known
from passdown.packet.changed import list_changed
from passdown.packet.clues import list_clues
from passdown.packet.completed import list_completed
from passdown.packet.context import Context
from passdown.packet.decisions import list_decisions, list_preferences
from passdown.packet.failed import list_commands, list_failed
from passdown.packet.git_facts import git_facts
from passdown.packet.goal import find_goal
from passdown.packet.local_only import list_local_only
from passdown.packet.outcome import decide_outcome
from passdown.packet.prereqs import list_prereqs
from passdown.packet.record import (
    interrupted_edit,
    list_directives,
    list_overrides,
    list_sessions,
    list_sources,
    list_summaries,
    scope_of,
    stamp,
    upstream_omissions,
)
from passdown.packet.remaining import list_remaining
from passdown.packet.settle import list_settle_first
from passdown.packet.steer import review_first, steer
from passdown.packet.summary import summarize
from passdown.packet.tests import tests_state
from passdown.packet.trim import trim_feedback
from passdown.packet.unknowns import list_unknowns
from passdown.packet.verification import plan_verification, verdict_pointer

_Section = tuple[list[Any], int]
"""A list and how many items it left out."""

_PLAIN: dict[str, Callable[[Context], _Section]] = {
    "decisions": list_decisions,
    "preferences": list_preferences,
    "directives": list_directives,
    "harness_summaries": list_summaries,
    "commands_run": list_commands,
    "failed_attempts": list_failed,
    "clues": list_clues,
    "settle_first": list_settle_first,
    "sessions": list_sessions,
    "overrides": list_overrides,
    "sources": list_sources,
}
"""Lists that depend on nothing but the context."""


class Draft(Struct, frozen=True, kw_only=True):
    """A packet without identity, all its risks (the packet holds as many as it has room for), and what it is made of.

    `given` is the next action the caller gave, `session_id` the name that was chosen, empty for one of its content.
    """

    context: Context
    packet: Packet
    risks: tuple[Risk, ...] = ()
    given: str | None = None
    session_id: str = ""


def fill_draft(context: Context, given: str | None, topic: str, session_id: str) -> Draft:
    """Return the draft of a context. Raises `NextActionError` when the given next action is not usable."""
    outcome = decide_outcome(context)
    goal, goal_basis = find_goal(context)
    tests, left_failing = tests_state(context)
    completed = list_completed(context)
    remaining = list_remaining(context, completed[0])
    blockers = list_blockers(context)
    steering = steer(context, given, goal=goal, blockers=blockers[0], remaining=remaining[0])
    assumptions, left_assumptions, unscored = list_assumptions(context)
    changed, left_changed, elsewhere = list_changed(context)
    lists: dict[str, _Section] = {name: section(context) for name, section in _PLAIN.items()} | {
        "completed": completed,
        "remaining": remaining,
        "blockers": blockers,
        "questions_for_human": steering.questions,
        "open_risks": first(steering.risks, "open_risks"),
        "changed_files": (changed, left_changed),
        "assumptions_to_validate": (assumptions, left_assumptions),
        "feedback_tail": trim_feedback(context, outcome),
        "unknowns": list_unknowns(context, outcome),
    }
    objects, left = _objects(context, steering.action, tests, steering.questions[0])
    items: dict[str, Any] = {name: section[0] for name, section in lists.items()}
    packet = Packet(
        **_head(context, topic),
        **objects,
        **items,
        outcome=outcome,
        goal=goal,
        goal_basis=goal_basis,
        summary=summarize(context, outcome, tests, completed[0], remaining[0]),
        tests=tests,
        next_action=steering.action,
        review_first=review_first(steering.action, assumptions),
        omitted=_omitted(context, lists, left | {"tests.failing": left_failing}),
        assumptions_unscored=unscored,
        changed_elsewhere=elsewhere,
    )
    return Draft(
        context=context, packet=packet, risks=tuple(steering.risks), given=given, session_id=session_id
    )  # fmt: skip


def _head(context: Context, topic: str) -> dict[str, Any]:
    """Return the fields that say what this is; those filled in at the end are empty."""
    previous = last_known(context)
    known = previous.as_of if previous is not None else None
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "schema_minor": SCHEMA_MINOR,
        "packet_id": "",
        "status": "active",
        "supersedes": None,
        "kind": "interim",
        "session_id": "",
        "topic": topic,
        "task_id": context.task_id,
        "as_of": max((at for at in (stamp(context.evidence.as_of), known) if at), default=None),
        "redactions": {},
        "environment": Environment(),
        "producer": Producer(),
    }


def _objects(
    context: Context, action: NextAction, tests: Tests, questions: list[Question]
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the fields that are objects of their own, and what each of them left out."""
    prereqs, left_prereqs = list_prereqs(context, action, tests, questions)
    git, left_commits = git_facts(context)
    plan, left_how = plan_verification(context)
    local, left_local = list_local_only(context)
    objects = {
        "git": git,
        "next_session_prereqs": prereqs,
        "verification": plan,
        "verdict_pointer": verdict_pointer(context),
        "clean_state": CleanStateSummary(),
        "local_only": local,
        "interrupted_edit": interrupted_edit(context),
        "scope": scope_of(context),
    }
    return objects, {"git.commits": left_commits, "verification.how": left_how} | left_prereqs | left_local


def _omitted(context: Context, lists: dict[str, _Section], left: dict[str, int]) -> dict[str, int]:
    counts = upstream_omissions(context.evidence)
    for name, count in [*((name, section[1]) for name, section in lists.items()), *left.items()]:
        counts[name] = counts.get(name, 0) + count
    return {name: count for name, count in sorted(counts.items()) if count > 0}
