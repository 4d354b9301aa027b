"""The local branches: which stand alone, which share no history, which names clash."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from passdown.io.git import run_git, try_git
from passdown.model.path import decode_path, encode_path
from passdown.repository.refs import KEPT, list_refs

_HEADS = b"refs/heads/"


class Branch(Struct, frozen=True):
    """A local branch: name, tip, whether it has an upstream configured, whether HEAD is on it."""

    name: str
    tip: str
    upstream: bool
    current: bool


def read_branches(root: Path, integration_branch: str = "") -> tuple[Branch, ...]:
    """List the local branches by name, at most 2,000. `integration_branch` is the configured one, as in `read_refs`."""
    refs = [ref for ref in list_refs(root, integration_branch) if ref.name.startswith(_HEADS)]
    return tuple(
        Branch(decode_path(ref.name.removeprefix(_HEADS)), ref.id, ref.upstream, ref.current) for ref in refs[:KEPT]
    )


def has_refs(root: Path) -> bool:
    """Say whether the repository has any commit at all that a branch or tag names."""
    return bool(run_git(root, "for-each-ref", "--count=1", "--format=%(refname)").strip())


def branches_containing(root: Path, commit: str) -> tuple[str, ...]:
    """Return the branches, here and at remotes, that contain a commit: `main`, `origin/main`."""
    output = run_git(
        root, "for-each-ref", "--count=50", "--contains", commit, "--format=%(refname)", "refs/heads", "refs/remotes"
    )
    names = (decode_path(line) for line in output.split(b"\n") if line)
    return tuple(name.removeprefix("refs/heads/").removeprefix("refs/remotes/") for name in names)


def unrelated_branches(root: Path, integration: str) -> frozenset[str]:
    """Return the local branches that share no commit with `integration`: they contain none of its root commits."""
    roots = run_git(root, "rev-list", "--max-parents=0", integration).decode().split()
    apart = [argument for commit in roots[:50] for argument in ("--no-contains", commit)]
    output = run_git(root, "for-each-ref", *apart, "--format=%(refname:strip=2)", "refs/heads")
    return frozenset(decode_path(line) for line in output.split(b"\n") if line)


def commits_outside(root: Path, tip: str, others: Iterable[str]) -> int:
    """Count the commits of `tip` that neither the other commits nor any remote branch have."""
    code, output, _ = try_git(root, "rev-list", "--count", tip, "--not", *others, "--remotes")
    return int(output) if code == 0 and output.strip().isdigit() else 0


def commit_of_ref(root: Path, *names: str) -> str:
    """Return the commit of the first of these refs that exists, or an empty string."""
    for name in names:
        raw = encode_path(name).decode("utf-8", "surrogateescape")
        code, output, _ = try_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{raw}^{{commit}}")
        if code == 0:
            return output.decode().strip()
    return ""


def is_ancestor(root: Path, commit: str) -> bool:
    """Say whether a commit is in HEAD's history."""
    return try_git(root, "merge-base", "--is-ancestor", commit, "HEAD")[0] == 0


def parents_of(root: Path, commit: str) -> tuple[str, ...]:
    """Return the parents of a commit."""
    code, output, _ = try_git(root, "rev-list", "--parents", "-n", "1", commit)
    return tuple(output.decode().split()[1:]) if code == 0 else ()


def is_branch_name(root: Path, name: str) -> bool:
    """Say whether git takes `name` for a branch."""
    if not name or name.startswith("-") or "\0" in name:
        return False
    return try_git(root, "check-ref-format", "--branch", name)[0] == 0
