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
        root, "diff-index", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-cr-at-eol",
        "--ignore-submodules=all", "--diff-filter=M", "HEAD",
    )  # fmt: skip
    if code != 0:
        return frozenset()
    real = set()
    for record in output.split(b"\0"):
        added, _, rest = record.partition(b"\t")
        deleted, _, path = rest.partition(b"\t")
        if path and (added, deleted) != (b"0", b"0"):
            real.add(decode_path(path))
    return frozenset(asked - real) & _changed(root)


def _changed(root: Path) -> frozenset[str]:
    """Return the paths that are modified against HEAD at all: a numstat says nothing of what it compared."""
    code, output, _ = try_git(
        root, "diff-index", "--name-only", "-z", "--no-renames", "--diff-filter=M", "--ignore-submodules=all", "HEAD"
    )
    return frozenset(decode_path(path) for path in output.split(b"\0") if path) if code == 0 else frozenset()
