"""The state of the tests as recorded. Nothing is run here, and nothing unrecorded is called passed."""

from __future__ import annotations

from passdown.model.evidence import Check
from passdown.model.packet import Tests
from passdown.packet.caps import LISTS
from passdown.packet.carry import tests_of_gone
from passdown.packet.context import Context


def tests_state(context: Context) -> tuple[Tests, int]:
    """Return the recorded state of the tests, and how many failing tests are left out.

    Without any record here, what the packet before knew of sessions that are gone.
    """
    facts = context.evidence.tests
    known = tests_of_gone(context) if not facts.last_outcome else None
    if known is not None and context.previous is not None:
        return known, context.previous.omitted.get("tests.failing", 0)
    fresh = facts.state in ("green", "red", "error")
    failing = list(dict.fromkeys(facts.failing))
    cap = LISTS["Tests.failing"]
    check = None
    if facts.commands and fresh:
        check = Check(kind="test_outcome_recorded", subject=facts.decided_by or facts.commands[0], expect=facts.state)
    tests = Tests(
        commands=list(facts.commands[: LISTS["Tests.commands"]]),
        state=facts.state,
        last_outcome=facts.last_outcome,
        failing=failing[:cap],
        counts=facts.counts,
        error_line=facts.error_line,
        evidence_line=facts.source.line if facts.source else 0,
        tree=context.evidence.repository.tree_fingerprint if fresh else "",
        check=check,
    )
    return tests, max(0, len(failing) - cap)
