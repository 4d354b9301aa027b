"""The verdict over a whole packet: may the successor start from it, and if not, why."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from passdown.io.git import try_git
from passdown.model.brief import Readiness, Tally, Verdict
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.packet import NextAction, Packet
from passdown.packet.irreversible import needs_a_human
from passdown.redact.neutralise import one_line
from passdown.takeover.ground import Ground
from passdown.takeover.history import former_names


class Decision(Struct, frozen=True, kw_only=True):
    """The verdict and its reasons. `unacknowledged` when only a human's word is missing."""

    verdict: Readiness
    reasons: tuple[str, ...] = ()
    unacknowledged: bool = False


def tally(verdicts: Sequence[Verdict]) -> Tally:
    """Count the states of the claims that have a check, and the claims that have none."""
    states = Counter(verdict.state for verdict in verdicts if verdict.claim.check is not None)
    declared = sum(verdict.claim.check is None for verdict in verdicts)
    return Tally(
        holds=states["holds"],
        drifted=states["drifted"],
        contradicted=states["contradicted"],
        cannot_tell=states["cannot_tell"],
        declared=declared,
    )


def name_of(verdict: Verdict) -> str:
    """Return what a verdict is about, the way a line about it begins."""
    check = verdict.claim.check
    if check is None:
        return f"{verdict.claim.text}:"
    subject = one_line(check.subject, 120)
    names = {
        "is_ancestor": f"commit {subject[:12]}:",
        "stash_exists": f"stash {subject[:12]}:",
        "ref_at": f"{subject.removeprefix('refs/heads/')}:",
        "test_outcome_recorded": f"the run of {subject!r}",
    }
    return names.get(check.kind, subject)


def refusal(packet: Packet, ground: Ground, branch: str | None) -> str:
    """Say why a packet is not for this place: another repository, another branch. Empty when it is.

    `branch` is the one checked out, as packets name it; a branch that was renamed here is the same one.
    """
    facts, identity = ground.facts, packet.git.identity or ""
    if identity and facts.identity and identity != facts.identity and not _in_history(ground, identity):
        return f"it is of another repository (first commit {one_line(identity[:12], 12)}, here {facts.identity[:12]})"
    if packet.git.branch == branch or (branch and packet.git.branch in former_names(ground.root, branch)):
        return ""
    theirs = f"branch {one_line(packet.git.branch, 120)}" if packet.git.branch else "a detached HEAD"
    return f"it is of {theirs}; here is {f'branch {branch}' if branch else 'a detached HEAD'}"


def _in_history(ground: Ground, identity: str) -> bool:
    if not ground.is_object(identity) or not ground.facts.head:
        return False
    return try_git(ground.root, "merge-base", "--is-ancestor", identity, ground.facts.head)[0] == 0


def waits_for_a_human(action: NextAction) -> bool:
    """Say whether the next action needs a human's word: it cannot be taken back, or reaches outside.

    Judged anew, whatever the packet says; a question to the human is itself no such step.
    """
    return needs_a_human(action.text, action.command) or (action.requires_human and action.kind != "ask")


def replan(packet: Packet, verdicts: Sequence[Verdict], ground: Ground) -> str:
    """Say which path the next action names is not as it was, and which commit changed it; empty when none."""
    named = set(packet.next_action.paths)
    for verdict in verdicts:
        check = verdict.claim.check
        if check is None or check.subject not in named or verdict.state not in ("drifted", "contradicted"):
            continue
        if verdict.change in ("edited", "moved", "missing", "reverted", "appeared"):
            return f"{check.subject} {verdict.reason}{_changed_in(ground, packet.git.head or '', check.subject)}"
    return ""


def _changed_in(ground: Ground, since: str, path: str) -> str:
    if not ground.is_object(since) or not ground.facts.head:
        return ""
    arguments = ("--literal-pathspecs", "log", "-1", "--format=%h", f"{since}..{ground.facts.head}", "--", path)
    code, output, _ = try_git(ground.root, *arguments)
    name = output.decode().strip()
    return f" (commit {name})" if code == 0 and name else " (not committed)" if code == 0 else ""


def missing_tool(packet: Packet, ground: Ground) -> str:
    """Return a tool that the next action's command calls, that was there when it was written, and is not here."""
    try:
        words = shlex.split(packet.next_action.command)
    except ValueError:
        words = packet.next_action.command.split()
    called = {PurePosixPath(word).name for word in words}
    here = ground.environment.tools
    gone = [tool for tool, version in packet.environment.tools.items() if version and here.get(tool) == ""]
    versioned = {re.sub(r"[\d.]+$", "", name) for name in called}
    return next((tool for tool in sorted(gone) if tool in called | versioned), "")


def environment_findings(verdicts: Sequence[Verdict]) -> tuple[Finding, ...]:
    """Return what of the machine is not as it was where the packet was written: tools, their versions, variables."""
    return tuple(
        Finding(code="env.drift", severity="warn", detail=one_line(_machine(verdict), 200))
        for verdict in verdicts
        if verdict.claim.place.startswith("environment.") and verdict.state in ("drifted", "contradicted")
    )


def _machine(verdict: Verdict) -> str:
    check = verdict.claim.check
    was = f" (was {check.expect})" if check is not None and check.kind == "tool_version" else ""
    return f"{name_of(verdict)} {verdict.reason}{was}"


def decide(
    packet: Packet, verdicts: Sequence[Verdict], ground: Ground, *, successor: str = "", acknowledged: bool = False
) -> Decision:
    """Weigh the claims. `successor` is the id of the packet that supersedes this one, if any is here."""
    if packet.status != "active" or successor:
        by = f" by {successor[:12]}: passdown take {successor[:12]}" if successor else ""
        return Decision(verdict="stale", reasons=(f"it is {packet.status if not successor else 'superseded'}{by}",))
    if gone := _work_is_gone(verdicts):
        return Decision(verdict="stale", reasons=gone)
    if tool := missing_tool(packet, ground):
        return Decision(verdict="blocked", reasons=(f"the next step needs {tool}, which is not installed here",))
    if waits_for_a_human(packet.next_action) and not acknowledged:
        reason = "the next step cannot be taken back or reaches outside: a human says yes with passdown take --ack"
        return Decision(verdict="blocked", reasons=(reason,), unacknowledged=True)
    off = [verdict for verdict in verdicts if verdict.state in ("drifted", "contradicted")]
    if off or _moved_on(packet, ground.facts):
        return Decision(verdict="ready_with_drift")
    return Decision(verdict="ready")


def _work_is_gone(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return what makes the packet useless here: its commit lost, what it requires missing, its changes all undone."""
    required = [v for v in verdicts if v.state == "contradicted" and v.claim.required]
    gone = {v.reason: v for v in reversed(required) if v.change in ("lost", "missing", "reverted")}
    reasons = [f"{name_of(v)} {v.reason}" for v in reversed(gone.values())]
    files = [v for v in verdicts if v.claim.place == "changed_files" and v.claim.check is not None]
    if files and all(v.state == "contradicted" for v in files):
        reasons.append("none of the changed files has the content that was left")
    return tuple(dict.fromkeys(reasons))


def _moved_on(packet: Packet, facts: RepositoryFacts) -> bool:
    return bool(facts.operation) or facts.tree_fingerprint != packet.git.tree_fingerprint
