"""The working tree against HEAD, as `git status` porcelain version 2 lists it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, structs

from passdown.errors import GitError
from passdown.io.git import ask_ahead, require_git
from passdown.repository.own import OwnPaths
from passdown.repository.questions import STATUS


class Entry(Struct, frozen=True):
    """A tracked path that differs from HEAD or from the index.

    `code` is git's two letters (index, working tree), `U` + anything for an unmerged path is told by `unmerged`.
    `submodule` is git's four-letter field (`N...` for a plain file).
    """

    path: bytes
    code: str
    submodule: str
    head_mode: str
    index_mode: str
    mode: str
    index_blob: str
    unmerged: bool = False


class Status(Struct, frozen=True):
    """All of it: HEAD's commit (empty when unborn), branch header, upstream with its distance, and the paths.

    `ahead` and `behind` are None without an upstream or when it is gone. `nested` are repositories that are no
    submodules; `ignored` counts entries, a wholly ignored folder as one, and `ignored_paths` are the first of them.
    """

    commit: str = ""
    branch: str = ""
    upstream: str = ""
    ahead: int | None = None
    behind: int | None = None
    entries: tuple[Entry, ...] = ()
    untracked: tuple[bytes, ...] = ()
    nested: tuple[bytes, ...] = ()
    ignored: int = 0
    ignored_paths: tuple[bytes, ...] = ()


MOST_IGNORED = 1000
"""Most ignored paths that are kept."""


def read_status_ahead(root: Path) -> None:
    """Have git read the status while other things are done, for `read_status` in the same moment."""
    ask_ahead(root, *STATUS)


def read_status(root: Path, own: OwnPaths) -> Status:
    """Read the status of the working tree at `root`, leaving out passdown's own paths. Writes no index."""
    output = require_git(root, *STATUS)
    headers: dict[bytes, bytes] = {}
    entries: list[Entry] = []
    untracked: list[bytes] = []
    nested: list[bytes] = []
    ignored: list[bytes] = []
    for record in _records(output):
        kind = record[:2]
        if kind == b"# ":
            name, _, value = record[2:].partition(b" ")
            headers[name] = value
        elif kind == b"? ":
            path = record[2:]
            if not own.holds(path):
                (nested if path.endswith(b"/") else untracked).append(path)
        elif kind == b"! ":
            if not (own.holds(record[2:]) or own.below(record[2:])):
                ignored.append(record[2:])
        else:
            entry = _entry(record)
            if not own.holds(entry.path):
                entries.append(entry)
    ahead, behind = _distance(headers.get(b"branch.ab", b""))
    commit = headers.get(b"branch.oid", b"").decode()
    return Status(
        "" if commit == "(initial)" else commit,
        headers.get(b"branch.head", b"").decode("utf-8", "surrogateescape"),
        headers.get(b"branch.upstream", b"").decode("utf-8", "surrogateescape"),
        ahead,
        behind,
        tuple(entries),
        tuple(untracked),
        tuple(nested),
        len(ignored),
        tuple(ignored[:MOST_IGNORED]),
    )


def _records(output: bytes) -> Iterator[bytes]:
    start = 0
    while (end := output.find(b"\0", start)) >= 0:
        yield output[start:end]
        start = end + 1


def _distance(field: bytes) -> tuple[int | None, int | None]:
    parts = field.split()
    if len(parts) != 2:
        return None, None
    return int(parts[0]), -int(parts[1])


def _entry(record: bytes) -> Entry:
    try:
        if record.startswith(b"1 "):
            _, code, sub, head_mode, index_mode, mode, _, blob, path = record.split(b" ", 8)
            return _plain(path, code, sub, head_mode, index_mode, mode, blob)
        if record.startswith(b"u "):
            _, code, sub, _, ours, _, mode, _, blob, _, path = record.split(b" ", 10)
            return structs.replace(_plain(path, code, sub, ours, ours, mode, blob), unmerged=True)
    except ValueError as error:
        raise GitError("git status wrote a line passdown does not know", where=ascii(record[:200])) from error
    raise GitError("git status wrote a line passdown does not know", where=ascii(record[:200]))


def _plain(path: bytes, *fields: bytes) -> Entry:
    # A large tree repeats the same few codes and modes: keep one of each.
    code, submodule, head_mode, index_mode, mode, blob = (sys.intern(field.decode()) for field in fields)
    return Entry(path, code, submodule, head_mode, index_mode, mode, blob)
