"""A packet that was built on the spot is kept in git's own folder, so that what its brief leaves out can be read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from passdown.errors import UnsafeError
from passdown.io.files import write_files
from passdown.model.pattern import lazy_pattern

FOLDER = "passdown/built"
KEPT = 8
"""How many of them are kept, the newest ones."""

_NAME = lazy_pattern(r"[0-9a-f]{12}")


def keep_built(common_dir: Path, root: Path, packet_id: str, data: bytes, markdown: str) -> tuple[str, str]:
    """Write the packet's two files, mode 0600, and return their paths as seen from the worktree, Markdown first.

    Raises `UnsafeError` when the folder is a symlink.
    """
    folder = common_dir / FOLDER
    place = folder / packet_id[:12]
    for part in (folder.parent, folder, place):
        if part.is_symlink():
            raise UnsafeError("is a symlink; not writing through it", where=str(part), next_step="Remove the link.")
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    files = [(place / "handoff.md", markdown.encode()), (place / "handoff.json", data)]
    write_files(files, mode=0o600)
    _forget_older(folder, place)
    shown = Path(os.path.relpath(os.path.realpath(place), os.path.realpath(root))).as_posix()
    return f"{shown}/handoff.md", f"{shown}/handoff.json"


def _forget_older(folder: Path, newest: Path) -> None:
    kept = [path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.is_dir() and not path.is_symlink()]
    for old in sorted(kept, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        if old != newest:
            shutil.rmtree(old, ignore_errors=True)
