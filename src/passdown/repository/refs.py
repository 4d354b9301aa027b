"""The few refs that matter: the stash, the integration branch here and at its remote."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from passdown.io.git import require_git

DEFAULT_BRANCHES = ("main", "master", "trunk")


class Refs(Struct, frozen=True):
    """Ids by full ref name, and where symbolic refs lead."""

    ids: dict[str, str]
    targets: dict[str, str]


class Integration(Struct, frozen=True):
    """The branch that work is merged into: its plain name, and the refs that hold it (local, remote)."""

    name: str
    local: str = ""
    remote: str = ""


def read_refs(root: Path, integration_branch: str) -> Refs:
    """Read the stash, `origin/HEAD` and every ref that may be the integration branch, in one call."""
    names = ["refs/stash", "refs/remotes/origin/HEAD", *_names((integration_branch, *DEFAULT_BRANCHES))]
    output = require_git(root, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", *names)
    ids: dict[str, str] = {}
    targets: dict[str, str] = {}
    for line in output.decode("utf-8", "surrogateescape").splitlines():
        this, name, target = line.split(" ")
        ids[name] = this
        if target:
            targets[name] = target
    return Refs(ids, targets)


def find_integration(refs: Refs, configured: str) -> Integration | None:
    """Choose the integration branch: the configured one, else `origin/HEAD`, else main, master or trunk."""
    default = refs.targets.get("refs/remotes/origin/HEAD", "").removeprefix("refs/remotes/origin/")
    for name in (configured, default, *DEFAULT_BRANCHES):
        if not name:
            continue
        local = f"refs/heads/{name}"
        remote = next((ref for ref in (f"refs/remotes/origin/{name}", f"refs/remotes/{name}") if ref in refs.ids), "")
        if name == default and not remote:
            remote = "refs/remotes/origin/HEAD" if "refs/remotes/origin/HEAD" in refs.ids else ""
        if local in refs.ids or remote:
            plain = name.partition("/")[2] if remote == f"refs/remotes/{name}" else name
            return Integration(plain, local if local in refs.ids else "", remote)
    return None


def _names(branches: tuple[str, ...]) -> list[str]:
    return [
        name
        for branch in branches
        if branch
        for name in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}", f"refs/remotes/{branch}")
    ]
