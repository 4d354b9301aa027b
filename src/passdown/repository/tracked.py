"""The paths git tracks."""

from __future__ import annotations

from pathlib import Path

from passdown.io.git import run_git
from passdown.model.path import decode_path


def tracked_paths(root: Path) -> frozenset[str]:
    """Return the repository-relative paths in the index."""
    return frozenset(decode_path(path) for path in run_git(root, "ls-files", "-z").split(b"\0") if path)
