"""How many lines a change adds and deletes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from passdown.errors import UnsafeError
from passdown.io.files import open_regular
from passdown.io.git import ask_git

MAX_BYTES = 32 << 20
"""A larger untracked file is not counted."""

MAX_TOTAL = 256 << 20
"""Most bytes of untracked files that are counted in one snapshot."""

_CHUNK = 1 << 20
_ARGUMENTS = 512 << 10
_HEAD = 8000


class Lines(Struct, frozen=True):
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
        code, output, _ = ask_git(
            root, "--literal-pathspecs", command[0], "--numstat", "-z", "--no-renames", "--no-ext-diff",
            "--no-textconv", "--ignore-submodules=none", *command[1:], "--", *map(os.fsdecode, batch),
        )  # fmt: skip
        if code != 0:
            return None
        for record in output.split(b"\0"):
            added, _, rest = record.partition(b"\t")
            deleted, _, path = rest.partition(b"\t")
            if path:
                found[path] = Lines(-1, -1, True) if added == b"-" else Lines(int(added), int(deleted))
    return found


def file_lines(root: Path, files: Iterable[tuple[bytes, str]]) -> dict[bytes, Lines]:
    """Count the lines of files that the base lacks, given as (path, mode), as git would count them when added."""
    found: dict[bytes, Lines] = {}
    budget = MAX_TOTAL
    for path, mode in files:
        if not mode:
            found[path] = Lines()
        elif not mode.startswith("100"):
            found[path] = Lines(1)
        else:
            found[path], size = _count(root / os.fsdecode(path), min(MAX_BYTES, budget))
            budget -= size
    return found


def _count(path: Path, limit: int) -> tuple[Lines, int]:
    total, last, size = 0, b"\n", 0
    try:
        with open_regular(path) as stream:
            if os.fstat(stream.fileno()).st_size > limit:
                return UNCOUNTED, 0
            while chunk := stream.read(_CHUNK):
                if not size and b"\0" in chunk[:_HEAD]:
                    return Lines(-1, -1, True), len(chunk)
                total += chunk.count(b"\n")
                last = chunk[-1:]
                size += len(chunk)
    except (OSError, UnsafeError):
        return UNCOUNTED, size
    return Lines(total + (last != b"\n")), size


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
