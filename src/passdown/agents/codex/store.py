"""Where Codex keeps its rollouts: `sessions/YYYY/MM/DD/` and `archived_sessions/`, plain or compressed.

Codex compresses rollouts that it has not touched for a week, possibly while they are being looked at: the plain file
wins where both exist, and a file that is gone is looked for under its other name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from passdown.io.jsonl import MAX_LINE, Line, read_file_lines

FOLDERS = ("sessions", "archived_sessions")


def walk(folder: Path, depth: int = 4) -> Iterator[Path]:
    """Yield the regular files under `folder`, following no link."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name, reverse=True)
    except OSError:
        return
    for entry in found:
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth:
                    yield from walk(Path(entry.path), depth - 1)
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
        except OSError:
            continue


def other_name(path: Path) -> Path:
    """Return the name the same rollout has when it is compressed, or no longer is."""
    return path.with_suffix("") if path.suffix == ".zst" else path.with_name(path.name + ".zst")


def present(path: Path) -> Path:
    """Return the path under which the rollout lies now; `path` itself when it lies nowhere."""
    return path if path.exists() or not other_name(path).exists() else other_name(path)


def lines_of(path: Path, *, max_line: int = MAX_LINE) -> Iterator[Line]:
    """Yield the lines of a rollout, which Codex may be compressing at this moment.

    Raises `FileNotFoundError` when it is under neither name, `UnsafeError` for a symlink.
    """
    try:
        yield from read_file_lines(path, max_line=max_line)
    except FileNotFoundError:
        if not other_name(path).exists():
            raise
    else:
        return
    yield from read_file_lines(other_name(path), max_line=max_line)
