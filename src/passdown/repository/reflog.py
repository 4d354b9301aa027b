"""Reflogs: when a branch came to be, and commits that HEAD left behind."""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path

from msgspec import Struct

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import open_regular, read_bounded
from passdown.io.git import try_git
from passdown.model.path import encode_path
from passdown.model.pattern import lazy_pattern

_LIMIT = 4 << 20
_ENTRY = lazy_pattern(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> (\d{1,12}) [+-]\d{4}(?:\t(.*))?")
_REWRITTEN = (b"rebase", b"commit (amend)", b"pull --rebase")
_ASKED = 200
_PATCHES = 64 << 20


class Lost(Struct, frozen=True):
    """A commit that no ref reaches any more, and its subject."""

    id: str
    subject: str


def branch_born(common_dir: Path, name: str) -> int | None:
    """Return when a branch's reflog begins, in milliseconds; None when there is no reflog."""
    try:
        with open_regular(common_dir / "logs" / "refs" / "heads" / os.fsdecode(encode_path(name))) as stream:
            found = _ENTRY.match(stream.readline(1 << 16))
    except (OSError, ValueError, UnsafeError, FormatError):
        return None
    return int(found[3]) * 1000 if found else None


def lost_commits(root: Path, git_dir: Path, since: int | None, *, held: Container[str] = ()) -> tuple[Lost, ...] | None:
    """Return the commits HEAD has been at since a moment (milliseconds) that no ref reaches; None without a reflog.

    What lives on does not count: what an amend or rebase replaced, and what a branch has with the same patch or tree.
    `held` are commits that a ref is known to reach.
    """
    try:
        lines = read_bounded(git_dir / "logs" / "HEAD", _LIMIT).split(b"\n")
    except (OSError, UnsafeError, FormatError):
        return None
    seen: dict[str, None] = {}
    replaced: set[str] = set()
    for line in lines:
        found = _ENTRY.match(line)
        if found is None or (since is not None and int(found[3]) * 1000 < since):
            continue
        old, new, message = found[1].decode(), found[2].decode(), found[4] or b""
        seen[new] = None
        if message.startswith(_REWRITTEN):
            replaced.add(old)
    ids = [this for this in seen if set(this) != {"0"}][-_ASKED:]
    ids = [this for this in ids if this not in held]
    return _unreachable(root, ids, replaced)


def _unreachable(root: Path, ids: list[str], replaced: set[str]) -> tuple[Lost, ...]:
    lost = _outside(root, ids)
    if not lost:
        return ()
    forks = [f"^{commit}" for commit in _forks(root, lost)]
    patches, trees = _contents(root, ["HEAD", "--branches", *forks])
    mine, mine_trees = _contents(root, ["--no-walk", *(commit.id for commit in lost)])
    same_tree = {this for this, tree in mine_trees.items() if tree in set(trees.values())}
    settled = {commit.id for commit in _outside(root, [*replaced, *same_tree])}
    kept = set(patches.values())
    return tuple(c for c in lost if c.id not in settled and c.id in mine and mine[c.id] not in kept)


def _outside(root: Path, commits: list[str]) -> list[Lost]:
    """Return the commits that these reach and no ref does, newest first; one that is gone is passed over."""
    if not commits:
        return []
    code, output, _ = try_git(
        root, "log", f"-{_ASKED}", "-z", "--no-merges", "--encoding=UTF-8", "--format=%H %s", "--ignore-missing",
        *commits, "--not", "--all", "HEAD",
    )  # fmt: skip
    rows = [record.partition(b" ") for record in output.split(b"\0") if record] if code == 0 else []
    return [Lost(this.decode(), subject.decode("utf-8", "replace")[:200]) for this, _, subject in rows]


def _forks(root: Path, lost: list[Lost]) -> set[str]:
    found = set()
    for commit in lost[:20]:
        code, output, _ = try_git(root, "merge-base", commit.id, "HEAD")
        found |= set(output.decode().split()) if code == 0 else set()
    return found


def _contents(root: Path, revisions: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the patch id of each commit that changes something, and the tree of each."""
    options = ("log", f"-{_ASKED}", "--no-merges", "--no-color")
    code, listed, _ = try_git(root, *options, "--format=%H %T", *revisions)
    trees = dict(line.split(" ") for line in listed.decode().splitlines()) if code == 0 else {}
    code, patches, _ = try_git(root, *options, "-p", "--no-ext-diff", "--no-textconv", *revisions)
    if code != 0 or len(patches) > _PATCHES:
        return {}, trees
    code, output, _ = try_git(root, "patch-id", "--stable", stdin=patches)
    rows = [line.split() for line in output.decode().splitlines()] if code == 0 else []
    return {row[1]: row[0] for row in rows if len(row) == 2}, trees
