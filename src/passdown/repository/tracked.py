"""The paths git tracks."""

from __future__ import annotations

from pathlib import Path

from passdown.errors import GitError
from passdown.io.git import ask_git
from passdown.model.path import decode_path


def tracked_paths(root: Path) -> frozenset[str]:
    """Return the repository-relative paths in the index."""
    return frozenset(decode_path(path) for _, path in index_tags(root))


def index_tags(root: Path) -> list[tuple[bytes, bytes]]:
    """Return the tag (`H`, `S` for skip-worktree, lower case for assume-unchanged) and path of every index entry."""
    code, output, message = ask_git(root, "ls-files", "-v", "-z")
    if code != 0:
        raise GitError(f"git ls-files failed: {message}", where=str(root))
    return [(record[:1], record[2:]) for record in output.split(b"\0") if record]
