"""What is taken over as it stands: directives, summaries, sessions, sources, overrides, scope and times."""

from __future__ import annotations

from datetime import UTC, datetime

from passdown.model.evidence import Directive, Evidence
from passdown.model.identifier import normalize_text
from passdown.model.packet import (
    DirectiveLine,
    HarnessSummary,
    InterruptedEditLine,
    OverrideLine,
    Scope,
    SessionLine,
    SourceLine,
)
from passdown.packet.caps import LISTS, TEXTS, first, last
from passdown.packet.carry import handed_down, last_known
from passdown.packet.context import Context
from passdown.packet.goal import first_request
from passdown.packet.paths import artifacts_of
from passdown.packet.questions import open_approvals
from passdown.packet.vague import is_vague, sets_a_rule

_LATEST = 253402300799999

_UPSTREAM = {
    "chains": "commands_run", "directives": "directives", "harness_summaries": "harness_summaries",
    "sessions": "sessions",
}  # fmt: skip


def stamp(at: int | None) -> str | None:
    """Return milliseconds since the epoch as RFC 3339 in whole seconds, UTC; None for what is no time."""
    if at is None or not 0 <= at <= _LATEST:
        return None
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def upstream_omissions(evidence: Evidence) -> dict[str, int]:
    """Return what the evidence itself had no room for, under the packet's names where there is one."""
    counts: dict[str, int] = {}
    for name, count in evidence.omitted.items():
        key = _UPSTREAM.get(name, f"evidence.{name}")
        counts[key] = counts.get(key, 0) + max(0, count)
    return counts


def list_directives(context: Context) -> tuple[list[DirectiveLine], int]:
    """Return the human's own words in order, and how many messages are left out.

    What was said again counts once, where it was said last. When there are too many: the first request, those that set
    a rule, and the latest have room first. Where the sessions are gone: those of the packet before.
    """
    if previous := last_known(context):
        return handed_down(context, previous.directives), previous.omitted.get("directives", 0)
    words = [directive for directive in context.evidence.directives if directive.origin != "plan"]
    said = {normalize_text(directive.text): directive for directive in words}
    directives = [d for d in words if said[normalize_text(d.text)] is d and d.text.strip()]
    opening = first_request(context)
    earliest = normalize_text(opening.text) if opening else ""
    order = sorted(
        range(len(directives)),
        key=lambda at: (
            normalize_text(directives[at].text) != earliest, is_vague(directives[at].text),
            not sets_a_rule(directives[at].text), -at,
        ),
    )  # fmt: skip
    kept = sorted(order[: LISTS["directives"]])
    return [_directive(context, directives[at]) for at in kept], len(directives) - len(kept)


def _directive(context: Context, directive: Directive) -> DirectiveLine:
    text, cut = _middle(context.mask(directive.text.strip()), TEXTS["DirectiveLine"]["text"].cap)
    return DirectiveLine(text=text, at=stamp(directive.at), cut=directive.cut + cut)


def _middle(text: str, cap: int) -> tuple[str, int]:
    """Cut a text in its middle, where it is least telling; return how many characters are missing."""
    if len(text) <= cap:
        return text, 0
    head, tail = cap * 2 // 3, cap // 3 - 3
    return f"{text[:head]} … {text[-tail:]}", len(text) - head - tail


def list_summaries(context: Context) -> tuple[list[HarnessSummary], int]:
    """Return the newest compaction summaries, as the harness wrote them, and how many are left out."""
    if previous := last_known(context):
        return handed_down(context, previous.harness_summaries), previous.omitted.get("harness_summaries", 0)
    kept, left = last(list(context.evidence.harness_summaries), "harness_summaries")
    cap = TEXTS["HarnessSummary"]["text"].cap
    lines = []
    for summary in kept:
        text, cut = _middle(context.mask(summary.text.strip()), cap)
        lines.append(HarnessSummary(text=text, at=stamp(summary.at), cut=summary.cut + cut))
    return lines, left


def list_sessions(context: Context) -> tuple[list[SessionLine], int]:
    """Return the sessions used, the primary one first, and how many are left out; those that are gone with them."""
    if previous := last_known(context):
        return list(previous.sessions), previous.omitted.get("sessions", 0)
    lines = [
        SessionLine(
            agent=session.agent,
            id=session.session_id,
            events=session.events,
            unknown=session.unknown,
            compactions=session.compactions,
            started_at=stamp(session.started_at),
            ended_at=stamp(session.ended_at),
            primary=session.primary,
        )
        for session in context.evidence.sessions
    ]
    return first(sorted(lines, key=lambda s: (not s.primary, s.started_at or "", s.agent, s.id)), "sessions")


def list_sources(context: Context) -> tuple[list[SourceLine], int]:
    """Return every artifact that was read, in path order, and how many are left out."""
    lines = [
        SourceLine(path=a.path, sha256=a.sha256, bytes=a.bytes, role=a.role, tracked=a.tracked)
        for a in artifacts_of(context.evidence)
    ]
    return first(lines, "sources")


def list_overrides(context: Context) -> tuple[list[OverrideLine], int]:
    """Return the human overrides in log order, and how many are left out."""
    rows = context.evidence.workbench.overrides
    lines = [OverrideLine(code=row.code, by=row.user_id, reason=row.reason, signed=row.signed) for row in rows]
    return last(lines, "overrides")


def scope_of(context: Context) -> Scope | None:
    """Return how the writes stood to the contract, or None without one."""
    contract, report = context.contract, context.evidence.workbench.scope_report
    if contract is None:
        return None
    return Scope(
        contract=contract.path or context.artifact("contract") or "scope_contract.json",
        in_scope=len(report.in_scope_writes) if report else 0,
        off_scope=len(report.off_scope_writes) if report else 0,
        forbidden=len(report.forbidden_writes) if report and report.forbidden_known else None,
        approvals_open=[entry for entry, _ in open_approvals(context)][: LISTS["Scope.approvals_open"]],
    )


def interrupted_edit(context: Context) -> InterruptedEditLine | None:
    """Return the edit that was cut short, if the evidence has one, or a gone session had and nobody committed it."""
    edit, previous = context.evidence.interrupted_edit, last_known(context)
    if edit is None and previous is not None and previous.interrupted_edit is not None:
        loose = {change.path for change in context.evidence.repository.changes if change.uncommitted}
        lines = handed_down(context, [previous.interrupted_edit])
        return next((line for line in lines if line.path in loose), None)
    return InterruptedEditLine(path=edit.path, tool=edit.tool) if edit else None
