"""Commits: the ones since a base, their trees, and the last good one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from passdown.io.git import ask_git, require_git, run_git, try_git
from passdown.model.evidence import Commit
from passdown.model.path import decode_path
from passdown.model.pattern import lazy_pattern
from passdown.repository.history import History
from passdown.repository.own import OwnPaths

KEPT = 200
"""Most commits that are listed; the rest is counted."""

_SUBJECT = 1000
_ID = lazy_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CANDIDATES = 200
_SEARCHED = 20
"""Most commits that are searched for the last change; each may name thousands of files."""


def commits_since(
    root: Path,
    base: str,
    head: str = "HEAD",
    *,
    own: Sequence[str] | OwnPaths = (),
    limit: int = KEPT,
    history: History | None = None,
) -> tuple[tuple[Commit, ...], int]:
    """Return the newest `limit` commits of `head` that are not in `base`, newest first, and how many there are.

    An empty `base` means the whole history. Commits that touch only passdown's `own` paths are left out.
    `history`, where it is known, spares looking for them.
    """
    mine = own if isinstance(own, OwnPaths) else OwnPaths.of(own)
    span = [head, f"^{base}"] if base else [head]
    found = _listed(root, span, limit + 1)
    whole = len(found) <= limit
    touching = history.touching_own(commit.id for commit in found) if history and whole else None
    skip = _own_commits(root, span, mine, touching) if mine.names and found else frozenset()
    if skip and not whole:
        found = _listed(root, span, limit + 1 + len(skip))
    listed = [commit for commit in found if commit.id not in skip]
    total = len(listed)
    if total > limit:
        total = int(run_git(root, "rev-list", "--count", *span)) - len(skip)
    return tuple(listed[:limit]), total


def _listed(root: Path, span: Sequence[str], most: int) -> list[Commit]:
    output = require_git(root, "log", "-z", "--encoding=UTF-8", f"-{most}", "--format=%H %T %ct %s", *span)
    return [_commit(record) for record in output.split(b"\0") if record]


def commit_messages(root: Path, commits: Sequence[Commit]) -> dict[str, str]:
    """Return the whole message of each of these commits, by its id, at most 10,000 characters of each."""
    ids = [commit.id for commit in commits[:KEPT]]
    if not ids:
        return {}
    output = run_git(root, "log", "--no-walk", "-z", "--encoding=UTF-8", "--format=%H %B", *ids)
    rows = (record.decode("utf-8", "replace").partition(" ") for record in output.split(b"\0") if record)
    return {this: message[:10_000] for this, _, message in rows}


def commit_trees(root: Path, commits: Iterable[str]) -> dict[str, str]:
    """Return the tree of each commit that exists here, by the id it was asked for with (full ids only)."""
    asked = [commit for commit in dict.fromkeys(commits) if _ID.fullmatch(commit)]
    if not asked:
        return {}
    names = "".join(f"{commit}^{{tree}}\n" for commit in asked).encode()
    output = run_git(root, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=names)
    answers = [line.split() for line in output.decode().splitlines()]
    return {commit: answer[0] for commit, answer in zip(asked, answers, strict=True) if answer[1:] == ["tree"]}


def commit_before(root: Path, at: int, head: str = "HEAD", *, history: History | None = None) -> str:
    """Return the newest commit on `head`'s first-parent line committed at or before `at` (milliseconds), or ''."""
    known = history.before(at // 1000, head) if history else None
    if known is not None:
        return known
    code, output, _ = try_git(root, "rev-list", "-1", "--first-parent", f"--before=@{at // 1000}", head)
    return output.decode().strip() if code == 0 else ""


def changed_at(root: Path, head: str, counts: Callable[[str], bool]) -> int | None:
    """Return when (milliseconds) the newest commit on `head`'s first-parent line was made that changed a counted path.

    0 when none did. Where none of the newest 20 did, the last of them stands in: nothing later changed such a path.
    None where git cannot tell.
    """
    code, output, _ = ask_git(
        root, "log", f"-{_SEARCHED}", "--first-parent", "--diff-merges=first-parent", "--root", "--name-only",
        "--format=%x01%ct", head, "--",
    )  # fmt: skip
    if code != 0:
        return None
    records = output.split(b"\x01")[1:]  # git quotes the names that hold such a byte
    for record in records:
        at, *names = record.split(b"\n")
        if any(counts(decode_path(name)) for name in names if name):
            return int(at) * 1000
    return int(records[-1].split(b"\n", 1)[0]) * 1000 if len(records) == _SEARCHED else 0


def last_good(root: Path, commits: Iterable[str], head: str = "HEAD") -> str:
    """Return the newest of `commits` that is in the history of `head`, or an empty string.

    Ids that are not here are passed over; at most 200 are looked at, the first ones given.
    """
    known = list(commit_trees(root, list(commits)[:_CANDIDATES]))
    if not known or try_git(root, "rev-parse", "--verify", "--quiet", head)[0] != 0:
        return ""
    newest_first = run_git(root, "rev-list", "--no-walk=sorted", *known).decode().split()
    for commit in newest_first:
        if try_git(root, "merge-base", "--is-ancestor", commit, head)[0] == 0:
            return commit
    return ""


def _commit(record: bytes) -> Commit:
    this, tree, at, subject = record.split(b" ", 3)
    text = subject[: _SUBJECT * 4].decode("utf-8", "replace")[:_SUBJECT]
    return Commit(id=this.decode(), subject=text, at=int(at) * 1000, tree=tree.decode())


def _own_commits(root: Path, span: list[str], own: OwnPaths, touching: frozenset[str] | None) -> frozenset[str]:
    listing = ("rev-list", "--full-history", "--no-merges", *span)
    if touching is None:
        names = [f":(top,literal){os.fsdecode(name)}" for name in sorted(own.names)]
        touching = _ids(run_git(root, *listing, "--", *names))
    return touching - _ids(run_git(root, *listing, *own.pathspec())) if touching else frozenset()


def _ids(output: bytes) -> frozenset[str]:
    return frozenset(output.decode().split())
