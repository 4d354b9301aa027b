"""The summary: a generated template of counts, outcome, verdicts and what remains. No sentence of anybody's."""

from __future__ import annotations

from passdown.model.packet import CompletedItem, RemainingItem, Tests
from passdown.packet.context import Context, Outcome

_OUTCOME = {"passed": "run passed", "failed": "run failed", "unknown": "outcome unknown"}
_TESTS = {
    "green": "tests green", "red": "tests red", "error": "tests gave no result", "not_run": "tests not run",
    "stale": "tests stale", "manual": "acceptance is prose",
}  # fmt: skip


def summarize(
    context: Context, outcome: Outcome, tests: Tests, completed: list[CompletedItem], remaining: list[RemainingItem]
) -> str:
    """Return the summary, one paragraph."""
    repository, workbench = context.evidence.repository, context.evidence.workbench
    changed = max(repository.changes_total, len(repository.changes))
    commits = max(repository.commits_total, len(repository.commits))
    loose = sum(change.uncommitted or change.untracked for change in repository.changes)
    state = _TESTS[tests.state] + (f" ({_plural(len(tests.failing), 'failing test')})" if tests.failing else "")
    verification, review = workbench.verification, workbench.review
    verdicts = []
    if verification is not None:
        word = {True: "passed", False: "failed", None: "without a verdict"}[verification.passed]
        verdicts.append(f"verification {word}")
    if review is not None:
        verdicts.append(f"review {review.verdict or 'without a verdict'}")
    parts = [
        f"{context.task_id + ': ' if context.task_id else ''}{_OUTCOME[outcome]}",
        f"{_plural(commits, 'commit')}, {_plural(changed, 'changed file')} ({loose} uncommitted)",
        ", ".join([state, *verdicts]),
        f"{len(completed)} done, {len(remaining)} open" + (f", first: {remaining[0].text}" if remaining else ""),
    ]
    return "; ".join(parts) + "."


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
