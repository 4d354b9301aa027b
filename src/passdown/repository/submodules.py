"""Submodules: what the index records, and whether the checkout differs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from passdown.io.git import run_git, try_git
from passdown.model.evidence import Submodule
from passdown.model.path import decode_path
from passdown.repository.locate import read_layout
from passdown.repository.operation import operation_in
from passdown.repository.own import OwnPaths
from passdown.repository.status import Entry, read_status

KEPT = 200
"""Most submodules that are listed."""


def read_submodules(root: Path, entries: Iterable[Entry]) -> tuple[Submodule, ...]:
    """List the submodules, sorted by path. Costs a call only where there is a `.gitmodules` or a changed one."""
    changed = {entry.path: entry for entry in entries if entry.submodule.startswith("S")}
    recorded = {path: entry.index_blob for path, entry in changed.items()}
    if (root / ".gitmodules").is_file():
        recorded |= _recorded(root)
    found = []
    for path in sorted(recorded)[:KEPT]:
        flags = changed[path].submodule if path in changed else "S..."
        found.append(
            Submodule(
                path=decode_path(path),
                commit=recorded[path],
                moved="C" in flags,
                dirty="M" in flags,
                untracked="U" in flags[1:],
            )
        )
    return tuple(found)


def checked_out(root: Path, path: bytes) -> str:
    """Return the commit a submodule's checkout is at, or an empty string."""
    folder = root / os.fsdecode(path)
    if folder.is_symlink() or not os.path.lexists(folder / ".git"):
        return ""
    code, output, _ = try_git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    return output.decode().strip() if code == 0 else ""


class Inside(Struct, frozen=True):
    """What is not committed inside a submodule: changed and untracked paths, and an operation that is under way."""

    changed: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    operation: str = ""


def look_inside(folder: Path) -> Inside:
    """Read the status of a submodule's own working tree. Raises `GitError` when git refuses it."""
    layout = read_layout(folder)
    status = read_status(layout.root, OwnPaths.of(()))
    return Inside(
        tuple(decode_path(entry.path) for entry in status.entries),
        tuple(decode_path(path) for path in status.untracked),
        operation_in(layout.git_dir),
    )


def _recorded(root: Path) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for record in run_git(root, "ls-files", "-s", "-z").split(b"\0"):
        if record.startswith(b"160000 "):
            info, _, path = record.partition(b"\t")
            found[path] = info.split()[1].decode()
    return found
