"""How to prove the whole goal, and the receipts this packet leans on."""

from __future__ import annotations

import re

from passdown.model.evidence import Check
from passdown.model.packet import Receipt, VerdictPointer, VerificationPlan
from passdown.packet.caps import LISTS
from passdown.packet.carry import last_known
from passdown.packet.changed import removed_paths, runs_what_is_gone
from passdown.packet.context import Context
from passdown.packet.criteria import is_command
from passdown.packet.outcome import is_stale
from passdown.packet.paths import artifacts_of


def plan_verification(context: Context) -> tuple[VerificationPlan, int]:
    """Return how to prove the whole, and how many steps are left out.

    The contract's or task's criteria, else the project's verification command, else the recorded test commands, without
    those that run a script which the session took away again; at last those that a gone session left.
    """
    workbench = context.evidence.workbench
    how = [line for line in context.acceptance if line.strip()]
    how = how or ([workbench.verification_command] if workbench.verification_command else []) or _recorded(context)
    if not how and (previous := last_known(context)):
        return previous.verification, previous.omitted.get("verification.how", 0)
    how = list(dict.fromkeys(how))
    runnable = any(is_command(context, line) or not context.acceptance for line in how)
    cap = LISTS["VerificationPlan.how"]
    plan = VerificationPlan(
        how=how[:cap],
        expect="every command exits 0" if runnable else "each point holds" if how else "",
        by="command" if runnable else "manual",
    )
    return plan, max(0, len(how) - cap)


def _recorded(context: Context) -> list[str]:
    commands = context.evidence.tests.commands
    removed = removed_paths(context) if commands else frozenset[str]()
    return [command for command in commands if not runs_what_is_gone(context, command, removed)]


def verdict_pointer(context: Context) -> VerdictPointer:
    """Return the receipts: verification and review reports, each with its hash and whether it judged this tree."""
    workbench = context.evidence.workbench
    verification = review = None
    if workbench.verification:
        report = workbench.verification
        verification = _receipt(
            context, report.path, "verification", report.head_commit, passed=report.passed, here=report.here
        )
    if workbench.review:
        judged = workbench.review
        review = _receipt(
            context, judged.path, "review", judged.head_commit, verdict=judged.verdict, passed=_passed(judged.verdict)
        )
    return VerdictPointer(verification=verification, review=review)


def _passed(verdict: str) -> bool | None:
    return None if not verdict else verdict == "pass"


def _receipt(
    context: Context,
    path: str,
    role: str,
    head: str,
    *,
    passed: bool | None = None,
    verdict: str = "",
    here: bool | None = None,
) -> Receipt:
    path = path or context.artifact(role)
    sha256 = next((a.sha256 for a in artifacts_of(context.evidence) if a.path == path), "")
    return Receipt(
        path=path,
        sha256=sha256,
        passed=passed,
        verdict=verdict,
        head=head if re.fullmatch(r"[0-9a-f]{7,64}", head) else "",
        stale=is_stale(context, head, here),
        check=Check(kind="artifact_hash") if path and sha256 else None,
    )
