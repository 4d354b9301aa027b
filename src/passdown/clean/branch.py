"""The branch: is HEAD where the next session expects it, and does no commit hang in the air?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from passdown.clean.ci import ci_branch
from passdown.clean.expected import expected_findings
from passdown.clean.options import Situation
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.repository.branches import (
    branches_containing,
    commit_of_ref,
    commits_outside,
    has_refs,
    parents_of,
    unrelated_branches,
)
from passdown.repository.history import read_history
from passdown.repository.reflog import lost_commits

UNKNOWN = frozenset({"branch.history_unknown", "base.shallow", "worktree.unknown", "leftovers.not_scanned"})
"""Codes of findings that say that something could not be looked at."""

_APART = ("gh-pages", "docs", "*-data")
_RELEASE = lazy_pattern(r"releases?/.+")
_ASKED = 30


def branch_findings(situation: Situation) -> Iterator[Finding]:
    """Find a HEAD that is detached or elsewhere, and branches and commits that nothing leads to."""
    repository = situation.repository
    if repository.unborn:
        yield from _unborn(situation)
        return
    if repository.detached and not repository.operation:
        yield from _detached(situation)
    elif not repository.detached:
        yield from expected_findings(situation)
        yield from _protected(situation)
    yield from _pushed(situation)
    yield from _case(situation)
    yield from _orphans(situation)
    yield from _lost(situation)
    yield from (f for f in repository.findings if f.code.startswith(("base.", "branch.")))


def _unborn(situation: Situation) -> Iterator[Finding]:
    if has_refs(situation.root):
        back = situation.repository.integration_branch or "main"
        yield Finding(
            code="branch.unborn", severity="block", where=situation.repository.branch,
            detail=f"the branch {situation.repository.branch} has no commit yet, though the repository has",
            fix=f"git switch {shlex.quote(back)}",
        )  # fmt: skip


def _detached(situation: Situation) -> Iterator[Finding]:
    root, head = situation.root, situation.repository.head
    ci = ci_branch(situation.options.environ)
    if ci.found and (ci.kind != "branch" or _is_tip(root, ci.name, head)):
        what = f"the branch {ci.name}" if ci.kind == "branch" else f"the {ci.kind} {ci.name}: name a topic"
        yield Finding(
            code="branch.detached_ci", severity="warn", where=ci.name,
            detail=f"HEAD is detached, as a CI system leaves it; this is {what}",
        )  # fmt: skip
        return
    holders = branches_containing(root, head)
    if holders and _is_submodule(situation):
        detail = f"HEAD is detached, as submodules are; {holders[0]} has the commit"
        yield Finding(code="branch.detached", severity="warn", detail=detail, where=head[:12])
        return
    at_tip = next((branch.name for branch in situation.branches if branch.tip == head), "")
    if at_tip:
        detail, fix = f"HEAD is detached at the tip of {at_tip}", f"git switch {shlex.quote(at_tip)}"
    else:
        fix = f"git switch -c {shlex.quote(_free_name(situation))}"
        detail = f"HEAD is detached, in the history of {holders[0]}" if holders else (
            f"HEAD is detached at {head[:12]}, which no branch contains: only the reflog leads to it"
        )  # fmt: skip
    yield Finding(code="branch.detached", severity="block", detail=detail, where=head[:12], fix=fix)


def _is_submodule(situation: Situation) -> bool:
    """Say whether this is the checkout of a submodule: its git folder lies in that of another repository."""
    return "/modules/" in Path(situation.repository.git_dir).as_posix() and (situation.root / ".git").is_file()


def _is_tip(root: Path, name: str, head: str) -> bool:
    """Say whether HEAD is the branch's tip or a merge of it; a branch that is not here is taken at its word."""
    tip = commit_of_ref(root, f"refs/remotes/origin/{name}", f"refs/heads/{name}")
    return not tip or tip == head or tip in parents_of(root, head)


def _free_name(situation: Situation) -> str:
    taken = {branch.name for branch in situation.branches}
    topic = re.sub(r"[^A-Za-z0-9._-]+", "-", situation.draft.topic).strip("-.") or "work"
    names = [topic, f"{topic}-{situation.repository.head[:7]}"]
    if topic in ("detached", situation.repository.integration_branch):
        names = [f"work-{situation.repository.head[:7]}"]
    return next((name for name in names if name not in taken), f"{names[-1]}-2")


def _protected(situation: Situation) -> Iterator[Finding]:
    repository, policy = situation.repository, situation.config.topic_branches
    branch = repository.branch
    if policy and repository.commits and (branch == repository.integration_branch or _RELEASE.fullmatch(branch)):
        yield Finding(
            code="branch.protected", severity=policy, where=branch,
            detail=f"{repository.commits_total} commits are on {branch}; work belongs on a branch of its own",
            fix=f"git switch -c {shlex.quote(_free_name(situation))}",
        )  # fmt: skip


# --- what others have --------------------------------------------------------------------------------------------


def _pushed(situation: Situation) -> Iterator[Finding]:
    repository = situation.repository
    branch, ahead, behind = repository.branch, repository.ahead or 0, repository.behind or 0
    if ahead and behind:
        detail = f"{branch} and {repository.upstream} have diverged: {ahead} here, {behind} there"
        yield Finding(code="branch.diverged", severity="warn", detail=detail, where=branch, fix="git pull --rebase")
    elif behind:
        detail = f"{branch} is {behind} commit{'' if behind == 1 else 's'} behind {repository.upstream}"
        yield Finding(code="branch.behind", severity="warn", detail=detail, where=branch, fix="git pull --ff-only")
    if repository.unpushed or (situation.severe and repository.unpushed is None):
        level = "block" if situation.severe else "warn"
        where = shlex.quote(_remote(situation))
        push = f"git push -q -u {where} {shlex.quote(branch)}" if branch else f"git push {where} HEAD"
        commits = "1 commit is" if repository.unpushed == 1 else f"{repository.unpushed} commits are"
        detail = f"{commits} on no remote" if repository.remotes else "there is no remote at all"
        yield Finding(
            code="branch.unpushed", severity="block" if level == "block" else "warn", detail=detail, where=branch,
            fix=push if repository.remotes else "git remote add origin <address>, then push",
            mend_kind="command" if repository.remotes else "choice",
        )  # fmt: skip


def _remote(situation: Situation) -> str:
    remotes = situation.repository.remotes
    named = situation.repository.upstream.partition("/")[0]
    return named if named in remotes else "origin" if "origin" in remotes or not remotes else remotes[0]


def _case(situation: Situation) -> Iterator[Finding]:
    branch = situation.repository.branch
    for other in situation.branches:
        if branch and other.name != branch and other.name.lower() == branch.lower():
            yield Finding(
                code="branch.case_clash", severity="warn", where=branch,
                detail=f"{branch} and {other.name} differ in case only: some devices cannot hold both",
                fix=f"git branch -m {shlex.quote(other.name)} {shlex.quote(other.name + '-2')}",
            )  # fmt: skip


# --- orphans -----------------------------------------------------------------------------------------------------


def _orphans(situation: Situation) -> Iterator[Finding]:
    repository = situation.repository
    others = [b for b in situation.branches if b.name != repository.integration_branch]
    if not others or not repository.integration_branch:
        return
    integration = commit_of_ref(
        situation.root,
        f"refs/heads/{repository.integration_branch}",
        f"refs/remotes/origin/{repository.integration_branch}",
    )
    if not integration:
        return
    if repository.shallow:
        yield _unknown("the clone is shallow: whether branches share their history cannot be told")
        return
    apart = unrelated_branches(situation.root, integration)
    busy = {tree.branch for tree in repository.worktrees}
    asked = 0
    for branch in others:
        if branch.name in apart:
            if not any(fnmatchcase(branch.name, glob) for glob in _APART):
                yield _unrelated(situation, branch.name, current=branch.current)
            continue
        alone = not branch.current and not branch.upstream and branch.name not in busy
        if alone and asked < _ASKED and situation.born_here(branch.name):
            asked += 1
            if (found := _stray(situation, branch.name, branch.tip, integration)) is not None:
                yield found


def _unrelated(situation: Situation, name: str, *, current: bool) -> Finding:
    integration = situation.repository.integration_branch
    mine = current or situation.born_here(name) is True
    quoted = shlex.quote(name)
    join = f"git switch -q {shlex.quote(integration)} && git merge -q --no-edit --allow-unrelated-histories {quoted}"
    return Finding(
        code="branch.unrelated", severity="block" if mine else "warn", where=name,
        detail=f"the branch {name} shares no history with {integration}", fix=join,
    )  # fmt: skip


def _stray(situation: Situation, name: str, tip: str, integration: str) -> Finding | None:
    count = commits_outside(situation.root, tip, ("HEAD", integration))
    quoted = shlex.quote(name)
    if not count:
        return Finding(
            code="branch.merged", severity="warn", where=name, fix=f"git branch -D {quoted}",
            detail=f"the branch {name} of this session is merged, or never had a commit of its own",
        )  # fmt: skip
    if not situation.severe and _is_listed(situation, name):
        return None
    push = f"git push -q -u {shlex.quote(_remote(situation))} {quoted}"
    commits = "1 commit" if count == 1 else f"{count} commits"
    listing = f"passdown note risk {shlex.quote(f'branch {name} is kept, on this device alone: {commits}')}"
    return Finding(
        code="branch.stray", severity="block", where=name, fix=push if situation.repository.remotes else listing,
        detail=f"the branch {name} of this session has {commits} that nothing else leads to",
    )  # fmt: skip


def _is_listed(situation: Situation, name: str) -> bool:
    """Say whether the packet lists a branch: somebody noted a risk that names it as one."""
    named = re.compile(rf"\bbranch(?:es)?\b[^\n]*(?<![\w./-]){re.escape(name)}(?![\w/-])(?!\.\w)", re.IGNORECASE)
    return any(risk.basis == "declared" and named.search(risk.detail) for risk in situation.draft.open_risks)


def _lost(situation: Situation) -> Iterator[Finding]:
    root, repository = situation.root, situation.repository
    held = read_history(root, repository.head, situation.own).steps
    lost = lost_commits(root, Path(repository.git_dir), situation.began, held=held)
    if lost is None:
        yield _unknown("HEAD has no reflog: commits that nothing leads to cannot be told")
        return
    if lost:
        names = ", ".join(f"{commit.id[:12]} ({commit.subject[:40]})" for commit in lost[:3])
        more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
        fix = " && ".join(f"git branch rescued-{commit.id[:12]} {commit.id}" for commit in lost[:20])
        yield Finding(
            code="branch.lost_commits", severity="block", where=lost[0].id[:12], fix=fix,
            detail=f"{len(lost)} commits of this session are on no branch: {names}{more}",
        )  # fmt: skip


def _unknown(detail: str) -> Finding:
    return Finding(code="branch.history_unknown", severity="warn", detail=detail)
