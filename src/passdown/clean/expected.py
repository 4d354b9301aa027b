"""The branch that the work belongs on: configured, that of the topic's packet, of the workbench, or named by a rule."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from passdown.clean.options import Situation
from passdown.model.finding import Finding
from passdown.repository.branches import is_ancestor, is_branch_name
from passdown.store.packets import heads, read_store, shelves


def expected_findings(situation: Situation) -> Iterator[Finding]:
    """Find a HEAD that is on another branch than the work."""
    config, branch, task = situation.config, situation.repository.branch, situation.draft.task_id or ""
    wanted, why = _wanted(situation)
    if wanted and wanted != branch and is_branch_name(situation.root, wanted):
        exists = any(other.name == wanted for other in situation.branches)
        yield Finding(
            code="branch.unexpected", severity="block", where=branch,
            detail=f"HEAD is on {branch}; the work belongs on {wanted[:100]} ({why})",
            fix=f"git switch -q {'' if exists else '-c '}{shlex.quote(wanted)}",
        )  # fmt: skip
    elif not wanted and config.branch_pattern and task:
        pattern = config.branch_pattern.replace("{task}", task)
        if not fnmatchcase(branch, pattern):
            name = pattern.replace("*", "work")
            fix = f"git switch -q -c {shlex.quote(name)}" if is_branch_name(situation.root, name) else ""
            yield Finding(
                code="branch.unexpected", severity="block", where=branch, fix=fix,
                detail=f"HEAD is on {branch}; the branch of {task} is named {pattern}",
            )  # fmt: skip


def _wanted(situation: Situation) -> tuple[str, str]:
    """Return the first branch that anything names, and what named it."""
    if situation.config.branch:
        return situation.config.branch, "as configured"
    if branch := _of_packet(situation):
        return branch, f"that of the active packet of {situation.draft.topic}"
    workbench = situation.workbench
    if workbench.state and workbench.state.branch:
        return workbench.state.branch, "as the state says"
    return (workbench.contract.branch, "as the contract says") if workbench.contract else ("", "")


def _of_packet(situation: Situation) -> str:
    """Return the branch of the topic's active packet, while commits there are not in HEAD; empty when there is none.

    A packet of this branch settles it; one whose branch is gone, or was merged into HEAD, speaks of the past.
    """
    stored = read_store(shelves(situation.root, Path(situation.repository.common_dir), situation.config)).packets
    named = {packet.head.git.branch for packet in stored if packet.head.topic == situation.draft.topic}
    active = {branch for branch in named if branch and heads(stored, branch, situation.draft.topic)}
    if situation.repository.branch in active:
        return situation.repository.branch
    tips = {branch.name: branch.tip for branch in situation.branches}
    return next((b for b in sorted(active) if b in tips and not is_ancestor(situation.root, tips[b])), "")
