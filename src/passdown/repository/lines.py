"""How many lines a change adds and deletes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from passdown.errors import UnsafeError
from passdown.io.files import open_regular
from passdown.io.git import try_git

MAX_BYTES = 32 << 20
"""A larger untracked file is not counted."""

MAX_TOTAL = 256 << 20
"""Most bytes of untracked files that are counted in one snapshot."""

_CHUNK = 1 << 20
_ARGUMENTS = 512 << 10
_HEAD = 8000


class Lines(NamedTuple):
    """Added and deleted lines, -1 for a binary file or one that was not counted."""

    added: int = 0
    deleted: int = 0
    binary: bool = False


UNCOUNTED = Lines(-1, -1)


def diff_lines(root: Path, command: Sequence[str], paths: Sequence[bytes]) -> dict[bytes, Lines] | None:
    """Run a diff plumbing command with `--numstat` over `paths` (none: all of them).

    None when git cannot tell, as in a partial clone that lacks the content.
    """
    found: dict[bytes, Lines] = {}
    for batch in _batches(paths) if paths else [[]]:
        code, output, _ = try_git(
            root, command[0], "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
            "--ignore-submodules=none", *command[1:], "--", *map(os.fsdecode, batch),
            env={"GIT_LITERAL_PATHSPECS": "1"},
        )  # fmt: skip
        if code != 0:
            return None
        for record in output.split(b"\0"):
            added, _, rest = record.partition(b"\t")
            deleted, _, path = rest.partition(b"\t")
            if path:
                found[path] = Lines(-1, -1, True) if added == b"-" else Lines(int(added), int(deleted))
    return found


def file_lines(root: Path, files: Iterable[tuple[bytes, str, int]]) -> dict[bytes, Lines]:
    """Count the lines of untracked files, given as (path, mode, size), as git would count them when added."""
    found: dict[bytes, Lines] = {}
    budget = MAX_TOTAL
    for path, mode, size in files:
        if mode == "120000":
            found[path] = Lines(1)
        elif size > min(MAX_BYTES, budget):
            found[path] = UNCOUNTED
        else:
            budget -= size
            found[path] = _count(root / os.fsdecode(path))
    return found


def _count(path: Path) -> Lines:
    total, last, start = 0, b"\n", True
    try:
        with open_regular(path) as stream:
            while chunk := stream.read(_CHUNK):
                if start and b"\0" in chunk[:_HEAD]:
                    return Lines(-1, -1, True)
                total += chunk.count(b"\n")
                start, last = False, chunk[-1:]
    except (OSError, UnsafeError):
        return UNCOUNTED
    return Lines(total + (last != b"\n"))


def _batches(paths: Sequence[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for path in paths:
        if batch and size + len(path) + 9 > _ARGUMENTS:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += len(path) + 9
    if batch:
        yield batch
