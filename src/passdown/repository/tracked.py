"""The paths git tracks."""

from __future__ import annotations

from pathlib import Path

from passdown.io.git import require_git
from passdown.model.path import decode_paths

_LISTING = ("ls-files", "-v", "-z")


def tracked_paths(root: Path) -> frozenset[str]:
    """Return the repository-relative paths in the index."""
    records = decode_paths(require_git(root, *_LISTING))
    return frozenset(record[2:] for record in records)


def marked_paths(root: Path) -> list[tuple[bytes, bytes]]:
    """Return tag and path of the index entries that git was told not to look at, or that are unmerged or gone.

    The tag is `S` for skip-worktree, lower case for assume-unchanged.
    """
    output = require_git(root, *_LISTING)
    if output.count(b"\0") == (b"\0" + output).count(b"\0H "):  # most often there is none among many
        return []
    return [(record[:1], record[2:]) for record in output.split(b"\0") if record and not record.startswith(b"H ")]
