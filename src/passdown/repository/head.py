"""HEAD: its branch, its commit, the effective commit under passdown's own ones, and the repository's identity."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.errors import FormatError, GitError, UnsafeError
from passdown.io.files import read_bounded
from passdown.io.git import ask_git, require_git, run_git
from passdown.model.path import decode_path
from passdown.model.pattern import lazy_pattern
from passdown.repository.history import History
from passdown.repository.own import OwnPaths

_LOOK_THROUGH = 1000
"""Most of passdown's own commits in a row that are looked through."""

_PLAIN_HEAD = lazy_pattern(rb"ref: refs/heads/([A-Za-z0-9_][A-Za-z0-9_-]*(?:/[A-Za-z0-9_][A-Za-z0-9_-]*)*)\n")
"""What HEAD holds in most repositories. Any other content is left to git."""


class Head(Struct, frozen=True):
    """Where HEAD is. `commit` is empty when unborn; `looked_through` are the tip's commits above `effective`.

    `at` is the committer date of the effective commit in milliseconds, `tree` its tree.
    """

    branch: str = ""
    detached: bool = False
    commit: str = ""
    effective: str = ""
    tree: str = ""
    at: int = 0
    looked_through: tuple[str, ...] = ()


_Described = tuple[str, str, int]
"""A commit's id, its tree and its committer date in seconds."""


def current_branch(root: Path, git_dir: Path | None = None) -> str:
    """Return the branch HEAD names, born or not; empty when HEAD is detached. `git_dir` is the worktree's, if known."""
    try:
        plain = _PLAIN_HEAD.fullmatch(read_bounded((git_dir or root / ".git") / "HEAD", 1024))
    except (OSError, UnsafeError, FormatError):
        plain = None
    if plain:
        return plain[1].decode()
    code, output, _ = ask_git(root, "symbolic-ref", "--quiet", "HEAD")
    return decode_path(output.strip()).removeprefix("refs/heads/") if code == 0 else ""


def read_head(root: Path, history: History, branch: str, own: OwnPaths) -> Head:
    """Describe HEAD, given its history (without a tip when unborn) and branch (empty when detached).

    The effective commit is found by going back over commits with one parent that touch something and nothing but
    passdown's own paths, so that committing a packet does not change what the packet says.
    """
    commit = history.tip
    if not commit:
        return Head(branch=branch, detached=not branch)
    step = history.steps.get(commit)
    if step is not None and not step.own:
        return Head(branch, not branch, commit, commit, step.tree, step.at * 1000)
    found = _describe(root, commit, own.pathspec())
    skipped: tuple[str, ...] = ()
    if found is None or found[0] != commit:
        skipped, found = _look_through(root, commit, found)
    if found is None:
        raise GitError("git log lists no commit", where=str(root), next_step="Try `git fsck`.")
    return Head(branch, not branch, commit, found[0], found[1], found[2] * 1000, skipped)


def identity_of(root: Path, history: History) -> str:
    """Return the oldest root commit of a history: the same in every clone, whatever its folder is called."""
    if history.whole and history.steps:
        return history.root()
    output = require_git(root, "log", "--max-parents=0", "--format=%ct %H", history.tip)
    roots = [line.split() for line in output.decode().splitlines()]
    return min(((int(at), root_id) for at, root_id in roots), default=(0, ""))[1]


def resolve_commit(root: Path, name: str) -> str:
    """Return the full id of the commit that `name` means here, or an empty string."""
    code, output, _ = ask_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    return output.decode().strip() if code == 0 else ""


def _describe(root: Path, commit: str, pathspec: list[str]) -> _Described | None:
    output = require_git(root, "log", "-1", "--first-parent", "--format=%H %T %ct", commit, *pathspec)
    parts = output.decode().split()
    return (parts[0], parts[1], int(parts[2])) if parts else None


def _look_through(root: Path, commit: str, below: _Described | None) -> tuple[tuple[str, ...], _Described | None]:
    # Everything above `below` touches passdown's own paths or nothing. What touches nothing (an empty commit), merges
    # and the first commit of all are kept.
    span = [commit, f"^{below[0]}"] if below else [commit]
    output = run_git(root, "log", f"-{_LOOK_THROUGH}", "--first-parent", "--format=%H %T %ct %P", *span)
    line = [record.split() for record in output.decode().splitlines()]
    trees = [record[1] for record in line[1:]] + ([below[1]] if below else [])
    skipped: list[str] = []
    for (this, tree, at, *parents), beneath in zip(line, trees, strict=False):
        if len(parents) != 1 or tree == beneath:
            return tuple(skipped), (this, tree, int(at))
        skipped.append(this)
    if below and len(skipped) == len(line):
        return tuple(skipped), below
    return tuple(skipped), (line[-1][0], line[-1][1], int(line[-1][2])) if line else None
