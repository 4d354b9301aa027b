"""Where we are: the worktree's root and its branch."""

from __future__ import annotations

import os
from pathlib import Path

from passdown.errors import NoEvidenceError
from passdown.repository.head import current_branch
from passdown.repository.locate import locate


def find_root(folder: Path) -> Path:
    """Return the worktree's root. Raises `NoEvidenceError` when `folder` is in no git repository."""
    root = locate(folder)
    if root is None:
        raise NoEvidenceError(
            "is not in a git repository",
            where=str(folder.resolve()),
            next_step="Run `git init` there, or name a repository with -C.",
        )
    return root


def branch_on_shelf(root: Path) -> str | None:
    """Return the branch that is checked out as packets name it, None for a detached HEAD."""
    from passdown.packet.boundary import branch_in_packet  # who only asks for the root need not load all of a packet
    from passdown.redact.scan import Redactor

    branch = current_branch(root)
    return branch_in_packet(branch, Redactor(os.environ)) if branch else None
