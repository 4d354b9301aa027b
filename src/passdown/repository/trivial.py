"""Uncommitted changes that change nothing but a file's mode or its line ends."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from passdown.io.git import try_git
from passdown.model.evidence import Change
from passdown.model.path import decode_path


def trivial_changes(root: Path, changes: Iterable[Change]) -> frozenset[str]:
    """Return the paths among these changes that differ from HEAD only in mode or line ends."""
    asked = {
        change.path
        for change in changes
        if change.uncommitted and not change.untracked and change.status == "M" and change.mode.startswith("100")
    }
    if not asked:
        return frozenset()
    code, output, _ = try_git(
        root, "diff-index", "--raw", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
        "--ignore-cr-at-eol", "--ignore-submodules=all", "--diff-filter=M", "HEAD",
    )  # fmt: skip
    return frozenset(asked & _differing(output.split(b"\0"))) if code == 0 else frozenset()


def _differing(fields: list[bytes]) -> set[str]:
    """Return the paths that differ from HEAD (the raw lines say so), and whose text does not (the numbers say so)."""
    modified: set[str] = set()
    rows = iter(fields)
    for row in rows:
        if row.startswith(b":"):
            modified.add(decode_path(next(rows, b"")))
            continue
        added, _, rest = row.partition(b"\t")
        deleted, _, path = rest.partition(b"\t")
        if path and (added, deleted) != (b"0", b"0"):
            modified.discard(decode_path(path))
    return modified
