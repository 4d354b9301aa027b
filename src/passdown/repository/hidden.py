"""Changes that git was told not to show: assume-unchanged and skip-worktree paths whose content differs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from msgspec import Struct

from passdown.io.git import run_git
from passdown.model.path import decode_path
from passdown.repository.blobs import read_present
from passdown.repository.locate import Layout
from passdown.repository.own import OwnPaths
from passdown.repository.tracked import marked_paths

KEPT = 1000
"""Most marked paths that are present and therefore compared."""


class Hidden(Struct, frozen=True):
    """A path whose change git status does not show, and the mark that hides it."""

    path: str
    mark: Literal["assume-unchanged", "skip-worktree"]


def hidden_changes(layout: Layout, own: OwnPaths) -> tuple[Hidden, ...]:
    """Return the marked paths that differ from the index, sorted. A skip-worktree file that is absent is fine."""
    marked: dict[bytes, Literal["assume-unchanged", "skip-worktree"]] = {}
    for tag, path in marked_paths(layout.root):
        if own.holds(path):
            continue
        if tag in (b"S", b"s"):
            if os.path.lexists(os.fsencode(layout.root) + b"/" + path):
                marked[path] = "skip-worktree"
        elif tag.islower():
            marked[path] = "assume-unchanged"
    if not marked:
        return ()
    paths = sorted(marked)[:KEPT]
    recorded = _recorded(layout.root, frozenset(paths))
    present = read_present(layout, paths)
    return tuple(
        Hidden(decode_path(path), marked[path])
        for path in paths
        if path in recorded and (path not in present or present[path].blob not in ("", recorded[path]))
    )


def _recorded(root: Path, paths: frozenset[bytes]) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for record in run_git(root, "ls-files", "-s", "-z").split(b"\0"):
        info, _, path = record.partition(b"\t")
        if path in paths and not info.startswith(b"160000"):
            found[path] = info.split()[1].decode()
    return found
