"""What was not checked. What is listed here is never rendered as passed."""

from __future__ import annotations

from passdown.packet.caps import LISTS
from passdown.packet.context import Context
from passdown.packet.criteria import never_run
from passdown.packet.tests import tests_state

NOT_CHECKED = "clean_state.not_checked"
"""True of every draft: sealing with a clean state takes it out."""


def list_unknowns(context: Context, outcome: str) -> tuple[list[str], int]:
    """Return the codes of what nobody checked, sorted, and how many are left out."""
    evidence = context.evidence
    repository, workbench, tests = evidence.repository, evidence.workbench, tests_state(context)[0]
    stated = {
        "outcome.unknown": outcome == "unknown",
        "tests.not_run": tests.state == "not_run",
        "tests.stale": tests.state == "stale",
        "tests.manual": tests.state == "manual",
        "acceptance.not_run": bool(never_run(context)),
        "verification.absent": workbench.verification is None,
        "review.absent": workbench.review is None,
        "coverage.absent": workbench.verification is None or workbench.verification.coverage_current is None,
        NOT_CHECKED: True,
        "session.missing": not evidence.sessions,
        "session.unknown_records": any(session.unknown for session in evidence.sessions),
        "session.format_not_understood": any(session.misread for session in evidence.sessions),
        "git.no_upstream": bool(repository.branch) and not repository.upstream,
        "git.shallow": repository.shallow,
        "scope.forbidden_unknown": workbench.scope_report is not None and not workbench.scope_report.forbidden_known,
        "feedback.torn_lines": workbench.feedback_skipped > 0,
        "worktree.unread": any(worktree.dirty is None for worktree in repository.worktrees),
    }
    codes = sorted(code for code, holds in stated.items() if holds)
    cap = LISTS["unknowns"]
    return codes[:cap], max(0, len(codes) - cap)
