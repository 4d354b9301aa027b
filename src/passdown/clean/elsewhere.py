"""Work that lies elsewhere: in stashes and other worktrees."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from passdown.clean.options import Situation
from passdown.model.evidence import Stash, Worktree
from passdown.model.finding import Finding, MendKind, Severity
from passdown.repository.branches import is_ancestor
from passdown.repository.worktrees import is_locked


def stash_findings(situation: Situation) -> Iterator[Finding]:
    """Find stashes without a note, that nobody lists, that belong elsewhere, or that only this device has."""
    repository = situation.repository
    noted = {stash.id for stash in repository.stashes if stash.noted}
    listed = {line.id for line in situation.draft.local_only.stashes}
    listed |= {row.expect for row in situation.draft.next_session_prereqs.conditions if row.kind == "stash"}
    told = " ".join(risk.detail for risk in situation.draft.open_risks)
    busy = {tree.branch for tree in repository.worktrees if tree.branch and not tree.prunable}
    for stash in {stash.id: stash for stash in reversed(repository.stashes)}.values():
        branch = _branch_of(stash.subject)
        if branch in busy and branch != repository.branch:
            yield _stash(
                stash, "stash.other_worktree", "warn", f"was made on {branch}, checked out elsewhere",
                f"settle it there, or drop it: git stash drop -q {_entry(stash)}", kind="choice",
            )  # fmt: skip
            continue
        if stash.id not in noted:
            yield _unnoted(situation, stash, branch)
        elif stash.id not in listed and stash.id[:12] not in told:
            note = shlex.quote(f"stash {stash.id[:12]} is kept: {stash.subject[:200]}")
            yield _stash(stash, "stash.unlisted", "block", "is not named in the packet", f"passdown note risk {note}")
        if stash.base and not repository.unborn and not is_ancestor(situation.root, stash.base):
            detail = "was made on a commit that is not in this branch's history"
            fix = f"git stash branch {_name(stash)} {_entry(stash)}"
            yield _stash(stash, "stash.foreign_base", "warn", detail, fix)
        if situation.severe:
            fix = f"git branch {_name(stash)} {stash.id} && git stash drop -q {_entry(stash)}"
            yield _stash(stash, "stash.local_only", "block", "exists on this device alone", fix)


def _unnoted(situation: Situation, stash: Stash, branch: str) -> Finding:
    recent = situation.is_recent(stash.at) is not False
    note = shlex.quote(f"On {branch or 'main'}: kept for the work on {situation.draft.topic or branch or 'this'}")
    # The newest entry cannot be stored over itself: it is taken off first, and only when it is still this one.
    fix = (
        f'[ "$(git rev-parse -q --verify refs/stash)" != {stash.id} ] || git stash drop -q; '
        f"git stash store -m {note} {stash.id}"
    )
    if recent:
        return _stash(stash, "stash.no_note", "block", "says nothing of why it is kept", fix)
    return _stash(stash, "stash.legacy", "warn", "is old and says nothing of why it is kept", fix)


def _stash(
    stash: Stash, code: str, severity: Severity, what: str, fix: str, *, kind: MendKind = "command"
) -> Finding:  # fmt: skip
    holds = ", untracked files included" if stash.untracked else ""
    return Finding(
        code=code, severity=severity, detail=f"stash {stash.id[:12]} ({stash.subject[:80]}{holds}) {what}",
        where=stash.id[:12], fix=fix, mend_kind=kind,
    )  # fmt: skip


def _branch_of(subject: str) -> str:
    for start in ("WIP on ", "On "):
        if subject.startswith(start):
            return subject.removeprefix(start).partition(": ")[0]
    return ""


def _name(stash: Stash) -> str:
    return f"stash-{stash.id[:12]}"


def _entry(stash: Stash) -> str:
    # By its id: the numbers move with each command that drops one.
    return f"\"$(git stash list --format='%gd %H' | sed -n 's/ {stash.id}$//p')\""


def worktree_findings(situation: Situation) -> Iterator[Finding]:
    """Find other worktrees with uncommitted work, and those that are gone."""
    for tree in situation.repository.worktrees:
        name = tree.name if not tree.branch else f"{tree.name} ({tree.branch})"
        if tree.prunable:
            yield _stale(situation, tree, name)
        elif tree.dirty:
            mine = bool(tree.branch) and situation.born_here(tree.branch) is True
            message = shlex.quote(situation.message("Keep the work"))
            folder = shlex.quote(tree.path)
            yield Finding(
                code="worktree.dirty", severity="block" if mine or situation.severe else "warn",
                detail=f"the worktree {name} has uncommitted work",
                fix=f"git -C {folder} add -A && git -C {folder} commit -q -m {message}",
            )  # fmt: skip
        elif tree.dirty is None:
            yield Finding(code="worktree.unknown", severity="warn", detail=f"the worktree {name} was not looked into")


def _stale(situation: Situation, tree: Worktree, name: str) -> Finding:
    locked = is_locked(Path(situation.repository.common_dir), tree.path)
    prune = "git worktree prune --expire=now"
    return Finding(
        code="worktree.stale", severity="warn",
        detail=f"the worktree {name} is gone{', and locked' if locked else ''}",
        fix=f"git worktree unlock {shlex.quote(tree.path)} && {prune}" if locked else prune,
    )  # fmt: skip
