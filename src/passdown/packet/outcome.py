"""How the work stands: passed, failed or unknown."""

from __future__ import annotations

from passdown.packet.context import Context, Outcome
from passdown.packet.criteria import never_run


def is_stale(context: Context, head_commit: str, here: bool | None = None) -> bool:
    """Say whether a report was written for another state of the files: as measured (`here`), else by its commit."""
    if here is not None:
        return not here
    repository = context.evidence.repository
    heads = (repository.effective_head, repository.head)
    return bool(head_commit) and not any(head and _same_commit(head_commit, head) for head in heads)


def _same_commit(short: str, full: str) -> bool:
    return len(short) >= 7 and (full.startswith(short.lower()) or short.lower().startswith(full))


def decide_outcome(context: Context) -> Outcome:
    """Return `failed` when something measured says so, `passed` when everything that must hold was measured to hold.

    What nobody measured (no report, an acceptance command never run) makes it `unknown`, and so does a working state
    in which something blocks: neither is made up.
    """
    workbench, tests = context.evidence.workbench, context.evidence.tests
    verification, review = workbench.verification, workbench.review
    accepted = context.accepted
    if (
        (verification is not None and verification.passed is False)
        or any(chain.final != "ok" for chain in accepted)
        or (review is not None and review.verdict == "hard_fail")
        or tests.state in ("red", "error")
        or (tests.state == "stale" and tests.last_outcome in ("red", "error"))
    ):
        return "failed"
    if context.blocked:
        return "unknown"
    if context.governed or verification is not None:
        judged = verification is not None and verification.passed is True
        fresh = (
            judged and verification is not None and not is_stale(context, verification.head_commit, verification.here)
        )
        return "passed" if fresh and not never_run(context) else "unknown"
    return "passed" if tests.state == "green" else "unknown"
