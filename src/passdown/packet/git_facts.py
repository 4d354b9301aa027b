"""Where the work stands in git."""

from __future__ import annotations

import re
from typing import Literal

from passdown.model.evidence import Check
from passdown.model.moment import to_rfc3339
from passdown.model.packet import CommitLine, GitFacts
from passdown.model.workbench import Verification
from passdown.packet.caps import LISTS
from passdown.packet.context import Context
from passdown.packet.outcome import is_stale

LkgRule = Literal["verification", "green_tree", "artifact", ""]


def git_facts(context: Context) -> tuple[GitFacts, int]:
    """Return the facts and how many commits since the base are left out."""
    repository = context.evidence.repository
    head = repository.effective_head or repository.head
    cap = LISTS["GitFacts.commits"]
    commits = [CommitLine(id=commit.id, subject=commit.subject) for commit in repository.commits[:cap]]
    check = [Check(kind="is_ancestor", subject=head, expect="HEAD")] if head else []
    if repository.branch and head:
        check.append(Check(kind="ref_at", subject=f"refs/heads/{repository.branch}", expect=head))
    facts = GitFacts(
        branch=repository.branch or None,
        detached=repository.detached,
        identity=repository.identity or None,
        head=head or None,
        base=repository.base or None,
        base_rule=repository.base_rule,
        since=to_rfc3339(context.evidence.since),
        last_known_good_commit=last_known_good(context)[0],
        upstream=repository.upstream or None,
        ahead=repository.ahead,
        behind=repository.behind,
        commits=commits,
        tree_fingerprint=repository.tree_fingerprint,
        check=check,
    )
    return facts, max(0, max(repository.commits_total, len(repository.commits)) - len(commits))


def _judged(verification: Verification | None) -> tuple[str, ...]:
    judged = verification is not None and verification.passed and verification.head_commit
    return (verification.head_commit.lower(),) if verification is not None and judged else ()


def last_known_good(context: Context) -> tuple[str | None, LkgRule]:
    """Return the newest commit known to be good and how it is known.

    The newest one that a passed verification report judged, else this tree when a green test run is recorded for it,
    else what `last_known_good.json` says, else none.
    """
    evidence = context.evidence
    repository, verification = evidence.repository, evidence.workbench.verification
    head = repository.effective_head or repository.head
    if head and _judged(verification) and not is_stale(context, _judged(verification)[0]):
        return head, "verification"
    verified = evidence.workbench.verified_commits
    verified = _judged(verification) if verified is None else verified
    known = [c.id for c in repository.commits if any(c.id.startswith(commit) for commit in verified)]
    if known or (verified and len(verified[0]) in (40, 64)):
        return (known or verified)[0], "verification"
    loose = any(change.uncommitted or change.untracked for change in repository.changes)
    if head and evidence.tests.state == "green" and not loose:
        return head, "green_tree"
    named = evidence.workbench.last_known_good.lower()
    return (named, "artifact") if re.fullmatch(r"[0-9a-f]{7,64}", named) else (None, "")
