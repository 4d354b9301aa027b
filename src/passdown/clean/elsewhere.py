"""Work that lies elsewhere: in stashes, other worktrees and submodules."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from passdown.clean.mend import commit_command, quote_path
from passdown.clean.options import Situation
from passdown.io.git import try_git
from passdown.model.evidence import Stash, Submodule
from passdown.model.finding import Finding, Severity
from passdown.model.path import encode_path

_ASKED = 50


def stash_findings(situation: Situation) -> Iterator[Finding]:
    """Find stashes without a note, that nobody lists, that belong elsewhere, or that only this device has."""
    repository = situation.repository
    noted = {stash.id for stash in repository.stashes if stash.noted}
    listed = {line.id for line in situation.draft.local_only.stashes}
    told = " ".join(risk.detail for risk in situation.draft.open_risks)
    busy = {tree.branch for tree in repository.worktrees if tree.branch and not tree.prunable}
    for stash in {stash.id: stash for stash in reversed(repository.stashes)}.values():
        branch = _branch_of(stash.subject)
        if branch in busy and branch != repository.branch:
            yield _stash(stash, "stash.other_worktree", "warn", f"was made on {branch}, checked out elsewhere", "")
            continue
        if stash.id not in noted:
            yield _unnoted(situation, stash, branch)
        elif stash.id not in listed and stash.id[:12] not in told:
            yield _stash(stash, "stash.unlisted", "block", "is named nowhere in the packet", "git stash list")
        if stash.base and not repository.unborn and not _is_ancestor(situation.root, stash.base):
            detail = "was made on a commit that is not in this branch's history"
            yield _stash(
                stash,
                "stash.foreign_base",
                "warn",
                detail,
                f"git stash branch {_name(stash)} {_selector(situation, stash)}",
            )
        if situation.severe:
            fix = f"git branch {_name(stash)} {stash.id}"
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


def _stash(stash: Stash, code: str, severity: Severity, what: str, fix: str) -> Finding:
    holds = ", untracked files included" if stash.untracked else ""
    return Finding(
        code=code, severity=severity, detail=f"stash {stash.id[:12]} ({stash.subject[:80]}{holds}) {what}",
        where=stash.id[:12], fix=fix,
    )  # fmt: skip


def _branch_of(subject: str) -> str:
    for start in ("WIP on ", "On "):
        if subject.startswith(start):
            return subject.removeprefix(start).partition(": ")[0]
    return ""


def _name(stash: Stash) -> str:
    return f"stash-{stash.id[:12]}"


def _selector(situation: Situation, stash: Stash) -> str:
    return f"'stash@{{{situation.repository.stashes.index(stash)}}}'"


def _is_ancestor(root: Path, commit: str) -> bool:
    return try_git(root, "merge-base", "--is-ancestor", commit, "HEAD")[0] == 0


def worktree_findings(situation: Situation) -> Iterator[Finding]:
    """Find other worktrees with uncommitted work, and those that are gone."""
    for tree in situation.repository.worktrees:
        name = tree.name if not tree.branch else f"{tree.name} ({tree.branch})"
        if tree.prunable:
            detail = f"the worktree {name} is gone"
            yield Finding(code="worktree.stale", severity="warn", detail=detail, fix="git worktree prune --expire=now")
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


def submodule_findings(situation: Situation) -> Iterator[Finding]:
    """Find submodules that moved, that hold uncommitted work, or whose commit nobody else can fetch."""
    for number, submodule in enumerate(situation.repository.submodules):
        path = submodule.path
        if submodule.moved:
            fix = commit_command([path], situation.message("Move the submodule"), tracked=True)
            yield Finding(
                code="tree.submodule_moved", severity="block", where=path, fix=fix,
                detail=f"the submodule {path} is at another commit than recorded",
            )  # fmt: skip
        if submodule.dirty or submodule.untracked:
            what = "uncommitted changes" if submodule.dirty else "untracked files"
            folder, message = quote_path(path), shlex.quote(situation.message("Keep the work"))
            yield Finding(
                code="tree.submodule_dirty", severity="block" if submodule.dirty else "warn", where=path,
                detail=f"the submodule {path} has {what}",
                fix=f"git -C {folder} add -A && git -C {folder} commit -q -m {message}",
            )  # fmt: skip
        if number < _ASKED and _is_unpushed(situation.root, submodule):
            yield Finding(
                code="tree.submodule_unpushed", severity="block" if situation.severe else "warn", where=path,
                detail=f"the commit of the submodule {path} is on none of its remotes",
                fix=f"git -C {quote_path(path)} push origin HEAD",
            )  # fmt: skip


def _is_unpushed(root: Path, submodule: Submodule) -> bool:
    folder = root / os.fsdecode(encode_path(submodule.path))
    if not submodule.commit or folder.is_symlink() or not os.path.lexists(folder / ".git"):
        return False
    code, output, _ = try_git(folder, "rev-list", "-n", "1", submodule.commit, "--not", "--remotes")
    return code == 0 and bool(output.strip())
