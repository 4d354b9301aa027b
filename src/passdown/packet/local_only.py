"""What another device lacks."""

from __future__ import annotations

from passdown.model.evidence import Check
from passdown.model.packet import LocalOnly, StashLine, WorktreeLine
from passdown.packet.caps import LISTS
from passdown.packet.context import Context
from passdown.packet.paths import artifacts_of


def list_local_only(context: Context) -> tuple[LocalOnly, dict[str, int]]:
    """Return stashes, unpushed commits, untracked artifacts and other worktrees, and what is left out of each list."""
    repository = context.evidence.repository
    ignored = [artifact.path for artifact in artifacts_of(context.evidence) if not artifact.tracked]
    room = {name: LISTS[f"LocalOnly.{name}"] for name in ("stashes", "worktrees", "ignored_artifacts")}
    local = LocalOnly(
        stashes=[
            StashLine(
                id=stash.id, subject=stash.subject, noted=stash.noted,
                check=Check(kind="stash_exists"),
            )
            for stash in repository.stashes[: room["stashes"]]
        ],
        unpushed=repository.unpushed,
        ignored_artifacts=ignored[: room["ignored_artifacts"]],
        worktrees=[
            WorktreeLine(name=worktree.name, branch=worktree.branch, dirty=worktree.dirty)
            for worktree in repository.worktrees[: room["worktrees"]]
        ],
        uncommitted=sum(change.uncommitted or change.untracked for change in repository.changes),
    )  # fmt: skip
    totals = {"stashes": repository.stashes, "worktrees": repository.worktrees, "ignored_artifacts": ignored}
    return local, {f"local_only.{name}": max(0, len(totals[name]) - room[name]) for name in room}
