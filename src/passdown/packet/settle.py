"""What blocks, with the commands that mend it: shown before the next step is taken."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from passdown.model.finding import Finding
from passdown.model.packet import SettleFirst
from passdown.packet.caps import first
from passdown.packet.context import Context

_MENDING = {
    "merge": "git merge --continue, or git merge --abort",
    "rebase": "git rebase --continue, or git rebase --abort",
    "cherry-pick": "git cherry-pick --continue, or git cherry-pick --abort",
    "revert": "git revert --continue, or git revert --abort",
    "bisect": "git bisect reset",
    "am": "git am --continue, or git am --abort",
}


def list_settle_first(context: Context) -> tuple[list[SettleFirst], int]:
    """Return what is to settle first (a running merge, a half-made edit, loose work), and how many are left out."""
    evidence = context.evidence
    repository = evidence.repository
    points = _interrupted(context)
    if repository.operation:
        points.append(
            SettleFirst(
                code="tree.operation_in_progress", detail=f"a {repository.operation} is in progress",
                fix=_MENDING.get(repository.operation, "git status"),
            )
        )  # fmt: skip
    points += _loose(context)
    for submodule in repository.submodules:
        if submodule.moved or submodule.dirty:
            what = "is at another commit than recorded" if submodule.moved else "has uncommitted changes"
            points.append(SettleFirst(code="tree.submodule", detail=f"a submodule {what}", path=submodule.path))
    points += [
        SettleFirst(code=finding.code, detail=finding.detail, fix=finding.fix, path=finding.where)
        for finding in (*repository.findings, *evidence.findings, *evidence.workbench.findings)
        if finding.severity == "block" and finding.fix
    ]
    return first(points, "settle_first")


def settle_findings(context: Context, blocking: Sequence[Finding]) -> list[SettleFirst]:
    """Return what is to settle first when the clean state was checked: a half-made edit, then all that blocks."""
    return _interrupted(context) + [
        SettleFirst(code=f.code, detail=f.detail, fix=f.fix, path=f.where) for f in blocking
    ]  # fmt: skip


def _interrupted(context: Context) -> list[SettleFirst]:
    edit = context.evidence.interrupted_edit
    if edit is None:
        return []
    fix = f"git diff -- {shlex.quote(context.mask(edit.path))}"
    detail = "the last edit was cut short: the file may be half changed"
    return [SettleFirst(code="edit.interrupted", detail=detail, fix=fix, path=edit.path)]


def _loose(context: Context) -> list[SettleFirst]:
    changes = context.evidence.repository.changes
    points = []
    for code, what, paths in (
        ("tree.uncommitted", "changed", [c.path for c in changes if c.uncommitted and not c.untracked]),
        ("tree.untracked", "new", [c.path for c in changes if c.untracked]),
    ):
        if paths:
            names = " ".join(shlex.quote(context.mask(path)) for path in paths[:3]) + (" …" if len(paths) > 3 else "")
            files = "file is" if len(paths) == 1 else "files are"
            points.append(
                SettleFirst(
                    code=code, detail=f"{len(paths)} {what} {files} not committed", path=paths[0],
                    fix=f"git add -- {names} && git commit",
                )
            )  # fmt: skip
    return points
