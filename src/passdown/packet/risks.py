"""Known problems, each with a code: what the reports found, what is missing, and what does not fit together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from passdown.model.evidence import Basis
from passdown.model.finding import SEVERITY_ORDER, Finding, Severity
from passdown.model.identifier import normalize_text
from passdown.model.packet import Blocker, Risk
from passdown.model.workbench import Review
from passdown.packet.assumptions import bad_scores
from passdown.packet.changed import claimed_but_unchanged
from passdown.packet.context import Context
from passdown.packet.git_facts import last_known_good
from passdown.packet.noted import noted_risks, notes_of, source_of, step_refusal
from passdown.packet.outcome import is_stale


class Problem(Struct, frozen=True, kw_only=True):
    """A risk before it has an id."""

    code: str
    severity: Severity
    detail: str
    source: str = ""
    basis: Basis = "derived"
    id: str = ""


def list_risks(context: Context, *, goal: str | None, blockers: list[Blocker], extra: list[Problem]) -> list[Risk]:
    """Return the known problems by severity, code and id, however many. Each code and detail once."""
    problems = [*_goal(goal), *_blocked(context, blockers), *_reports(context), *_missing(context), *_review(context)]
    problems += [*_gone(context), *_tests(context), *_tree(context), *_scope(context), *_found(context), *extra]
    found: dict[tuple[str, str], Risk] = {}
    for problem in problems:
        key = (problem.code, normalize_text(context.mask(problem.detail)))
        name = problem.id or context.id("R-", f"{problem.code} {problem.detail}")
        found.setdefault(
            key,
            Risk(
                id=name, code=problem.code, severity=problem.severity, detail=problem.detail or problem.code,
                source=problem.source, basis=problem.basis,
            ),
        )  # fmt: skip
    for risk in noted_risks(context):
        found[risk.code, normalize_text(context.mask(risk.detail))] = risk
    return by_severity(found.values())


def by_severity(risks: Iterable[Risk]) -> list[Risk]:
    """Return risks in the order of the packet: severity, code, id."""
    return sorted(risks, key=lambda risk: (SEVERITY_ORDER[risk.severity], risk.code, risk.id))


def _goal(goal: str | None) -> Iterator[Problem]:
    if goal is None:
        detail = "nobody stated a goal: no contract, no task in progress, no request"
        yield Problem(code="goal.missing", severity="warn", detail=detail)


def _blocked(context: Context, blockers: list[Blocker]) -> Iterator[Problem]:
    source = context.artifact("state") or "agent_state.json"
    for blocker in blockers:
        yield Problem(
            code="state.blocker", severity="block", detail=blocker.text, source=source, basis="declared", id=blocker.id
        )


def _reports(context: Context) -> Iterator[Problem]:
    workbench = context.evidence.workbench
    report = workbench.verification
    if report is None:
        return
    source = report.path or context.artifact("verification")
    listed = [finding for finding in report.findings if finding.severity != "info"]
    for finding in listed:
        yield Problem(
            code=finding.code, severity=finding.severity, detail=finding.detail, source=source, basis="declared"
        )
    if report.passed is False and not listed:
        yield Problem(
            code="verification.failed", severity="block", detail="the verification report failed and names no finding",
            source=source, basis="declared",
        )  # fmt: skip
    if is_stale(context, report.head_commit, report.here):
        judged = f"commit {report.head_commit[:12]}" if report.head_commit else "other files"
        detail = f"the verification report judged {judged}, and the files are different now"
        if report.here is None:
            detail = f"the verification report judged {judged}, which is not this one"
        yield Problem(code="verification.stale", severity="warn", detail=detail, source=source)


def _missing(context: Context) -> Iterator[Problem]:
    workbench = context.evidence.workbench
    if context.governed and workbench.verification is None:
        yield Problem(code="verification.missing", severity="block", detail="there is no verification report")
    if (context.governed or workbench.verification) and workbench.review is None:
        yield Problem(code="review.missing", severity="warn", detail="there is no review report")
    if context.acceptance and not context.evidence.chains and not workbench.feedback:
        detail = "there are acceptance criteria but no record of any command"
        yield Problem(code="feedback.missing", severity="block", detail=detail)
    assumed = notes_of(context, "assumption") or (workbench.state and workbench.state.assumptions)
    if workbench.state and not assumed and context.evidence.repository.changes:
        detail = "files changed but no assumption was recorded"
        yield Problem(
            code="assumptions.none_recorded", severity="warn", detail=detail, source=context.artifact("state")
        )
    if refused := step_refusal(context):
        detail = f"the noted next step was not taken over: {refused}"
        yield Problem(code="next_action.vague", severity="warn", detail=detail, source=source_of(context))
    if context.governed and not workbench.router:
        yield Problem(code="router.missing", severity="warn", detail="there is no AGENTS.md or CLAUDE.md")
    if last_known_good(context)[0] is None:
        severity: Severity = "warn" if context.governed else "info"
        yield Problem(code="lkg.missing", severity=severity, detail="no commit is known to be good")


def _review(context: Context) -> Iterator[Problem]:
    review = context.evidence.workbench.review
    if review is None:
        return
    source = review.path or context.artifact("review")
    for finding in bad_scores(context):
        yield Problem(code=finding.code, severity=finding.severity, detail=finding.detail, source=source)
    computed = _verdict(review)
    verdict = review.verdict or computed
    total = "" if review.total is None else f" ({review.total // 10}.{review.total % 10} of 10)"
    if verdict == "hard_fail":
        detail = f"the review failed hard{total}{_weak(review)}"
        yield Problem(code="review.hard_fail", severity="block", detail=detail, source=source, basis="declared")
    elif verdict == "soft_fail":
        detail = f"the review did not pass{total}{_weak(review)}"
        yield Problem(code="review.soft_fail", severity="warn", detail=detail, source=source, basis="declared")
    elif not verdict:
        yield Problem(
            code="review.no_verdict", severity="warn", detail="the review has no usable verdict", source=source
        )
    if review.verdict and computed and computed != review.verdict:
        detail = f"the review says {review.verdict}, its own scores say {computed}"
        yield Problem(code="review.verdict_mismatch", severity="warn", detail=detail, source=source)
    if is_stale(context, review.head_commit):
        detail = f"the review judged commit {review.head_commit[:12]}, which is not this one"
        yield Problem(code="review.stale", severity="warn", detail=detail, source=source)


def _verdict(review: Review) -> str:
    """Return the verdict the scores give: any 0 or a total below 5 fails hard, 7 and above passes."""
    scores = [dimension.score for dimension in review.dimensions if dimension.score is not None]
    if 0 in scores or (review.total is not None and review.total < 50):
        return "hard_fail"
    if review.total is None:
        return ""
    return "pass" if review.total >= 70 else "soft_fail"


def _weak(review: Review) -> str:
    weak = [dimension.name for dimension in review.dimensions if dimension.score == 0]
    return f": 0 for {', '.join(weak)}" if weak else ""


def _gone(context: Context) -> Iterator[Problem]:
    if context.sessions_gone:
        detail = "the sessions of the packet before are not here; what it knew from them is carried, marked `from`"
        yield Problem(code="session.missing", severity="warn", detail=detail, basis="observed")


def _tests(context: Context) -> Iterator[Problem]:
    tests = context.evidence.tests
    names = ", ".join(tests.failing[:3]) + (f" and {len(tests.failing) - 3} more" if len(tests.failing) > 3 else "")
    what = f"{names}: {tests.error_line}" if names and tests.error_line else names or tests.error_line
    if tests.state == "red":
        yield Problem(
            code="tests.red", severity="block", detail=what or "the recorded test run failed", basis="observed"
        )
    elif tests.state == "error":
        detail = what or "the recorded test run gave no result"
        yield Problem(code="tests.error", severity="block", detail=detail, basis="observed")
    elif tests.state == "stale":
        last = tests.last_outcome or "unknown"
        yield Problem(code="tests.stale", severity="warn", detail=f"the tree changed since the last test run ({last})")
    elif tests.state == "manual":
        yield Problem(code="tests.manual_criterion", severity="warn", detail="the acceptance criteria are prose")
    for chain in context.accepted:
        if chain.final != "ok" and tests.state not in ("red", "error"):
            detail = f"{chain.command} — {'failed' if chain.final == 'failed' else 'no result'} at its last run"
            yield Problem(code="acceptance.failed", severity="block", detail=detail, basis="observed")


def _tree(context: Context) -> Iterator[Problem]:
    evidence = context.evidence
    if evidence.repository.operation:
        detail = f"a {evidence.repository.operation} is in progress"
        yield Problem(code="tree.operation_in_progress", severity="block", detail=detail, basis="observed")
    if evidence.interrupted_edit:
        detail = f"the last edit of {evidence.interrupted_edit.path} was cut short"
        yield Problem(code="edit.interrupted", severity="block", detail=detail, basis="observed")
    unchanged = claimed_but_unchanged(context)
    if unchanged:
        more = f" and {len(unchanged) - 3} more" if len(unchanged) > 3 else ""
        detail = f"claimed as changed, but git calls unchanged: {', '.join(unchanged[:3])}{more}"
        yield Problem(code="claim.unchanged", severity="warn", detail=detail)


def _scope(context: Context) -> Iterator[Problem]:
    workbench = context.evidence.workbench
    reported = {finding.code for finding in workbench.verification.findings} if workbench.verification else set()
    report = workbench.scope_report
    if report is not None:
        for code, severity, paths in (
            ("scope.forbidden", "block", report.forbidden_writes),
            ("scope.off_scope", "warn", report.off_scope_writes),
        ):
            if paths and code not in reported:
                names = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
                level: Severity = "block" if severity == "block" else "warn"
                yield Problem(code=code, severity=level, detail=names, source=report.path, basis="declared")
        for finding in report.findings:
            if finding.severity != "info" and finding.code not in reported | {"scope.forbidden", "scope.off_scope"}:
                yield _problem(finding, report.path)
    failed = [row.slug for row in workbench.rule_results or () if not row.passed]
    if failed and "rule.failed" not in reported:
        yield Problem(
            code="rule.failed", severity="block", detail=", ".join(failed), source=context.artifact("rule_report"),
            basis="declared",
        )  # fmt: skip
    for probe in workbench.probes or ():
        if probe.status != "pass":
            yield Problem(
                code=f"init.{probe.name}", severity="warn", detail=probe.detail or f"the probe says {probe.status}",
                source=context.artifact("init_report"), basis="declared",
            )  # fmt: skip


def _found(context: Context) -> Iterator[Problem]:
    evidence = context.evidence
    for finding in evidence.workbench.findings:
        yield _problem(structs.replace(finding, detail=finding.located), finding.where)
    for finding in (*evidence.repository.findings, *evidence.findings):
        yield _problem(finding, finding.where)


def _problem(finding: Finding, source: str) -> Problem:
    return Problem(code=finding.code, severity=finding.severity, detail=finding.detail, source=source, basis="observed")
