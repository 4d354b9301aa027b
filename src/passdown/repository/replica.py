"""A replica: a clone in a folder of its own that holds what git's refs lead to, and nothing else of this machine.

Objects come through git's own transfer, never by links or shared stores, which would also show what no ref leads to.
No hook, template, filter or setting of the user takes part, and no remote is asked.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from passdown.errors import GitError
from passdown.io.git import run_git, try_git
from passdown.repository.locate import Layout

_TIMEOUT = 600.0
_HEAD = "refs/passdown-replica/head"
_SETTINGS = (
    ("core.autocrlf", "false"), ("core.excludesFile", os.devnull), ("core.attributesFile", os.devnull),
    ("core.hooksPath", os.devnull), ("gc.auto", "0"), ("maintenance.auto", "false"), ("user.useConfigOnly", "true"),
)  # fmt: skip
_FETCH = ("-c", "fetch.fsckObjects=false", "-c", "transfer.fsckObjects=false", "-c", "maintenance.auto=false",
          "-c", "protocol.version=2")  # fmt: skip


class Origin(NamedTuple):
    """What a replica is made of: the refs that become `origin`'s, the commit to check out, and the branch's name.

    `branch` is empty for a detached HEAD, `main` the branch that `origin/HEAD` names (empty: none).
    """

    refs: str
    commit: str
    branch: str
    main: str = ""


def machine_origin(head: str, branch: str, integration_branch: str) -> Origin:
    """Return what a clone of this machine's repository would hold: its branches and tags."""
    return Origin("refs/heads/", head, branch, integration_branch)


def remote_origin(root: Path, branch: str, remotes: tuple[str, ...]) -> tuple[str, Origin | None]:
    """Return the remote of a branch, and what a clone of it would hold as far as the last fetch or push tells.

    The remote is empty when there is none. The commit checked out is that of the branch's upstream, else of the branch
    of its name; the origin's `branch` is not `branch` when the remote lacks it, and None when nothing is known of it.
    """
    if not remotes:
        return "", None
    form = "--format=%(upstream:remotename)%00%(upstream:remoteref)"
    code, output, _ = try_git(root, "for-each-ref", form, f"refs/heads/{branch}") if branch else (1, b"", "")
    named, _, ref = output.split(b"\n")[0].decode("utf-8", "surrogateescape").partition("\0") if code == 0 else [""] * 3
    remote = named if named in remotes else "origin" if "origin" in remotes else remotes[0]
    there = ref.removeprefix("refs/heads/") if named == remote and ref else branch
    folder, main = f"refs/remotes/{remote}/", _main(root, remote)
    for name in dict.fromkeys(name for name in (there, main) if name):
        if commit := _commit(root, folder + name):
            return remote, Origin(folder, commit, name, main)
    return remote, None


def replicate(layout: Layout, origin: Origin, target: Path) -> None:
    """Make the replica in `target`, which must not exist.

    Raises `GitError` when git cannot: objects are missing here, or a path cannot be written on this system.
    """
    target.mkdir(parents=True)
    sealed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "XDG_CONFIG_HOME": os.devnull}
    form = "sha256" if len(layout.empty_tree) == 64 else "sha1"
    run_git(target, "init", "-q", "--template=", f"--object-format={form}", env=sealed)
    for name, value in (*_SETTINGS, ("remote.origin.url", str(layout.common_dir))):
        run_git(target, "config", name, value, env=sealed)
    run_git(target, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*", env=sealed)
    specs = (f"+{origin.refs}*:refs/remotes/origin/*", f"^{origin.refs}HEAD", "+refs/tags/*:refs/tags/*")
    _fetch(layout, target, *specs, f"+{origin.commit}:{_HEAD}")
    switch = ("-B", origin.branch) if origin.branch else ("--detach",)
    run_git(target, "checkout", "-q", *switch, _HEAD, timeout=_TIMEOUT, env=sealed)
    run_git(target, "update-ref", "-d", _HEAD, env=sealed)
    if origin.branch:
        try_git(target, "branch", "-q", f"--set-upstream-to=origin/{origin.branch}", env=sealed)
    if origin.main and _commit(target, f"refs/remotes/origin/{origin.main}"):
        place = f"refs/remotes/origin/{origin.main}"
        run_git(target, "symbolic-ref", "refs/remotes/origin/HEAD", place, env=sealed)


def is_partial(root: Path) -> bool:
    """Say whether the repository is a partial clone, which lacks objects that only its remote has."""
    return try_git(root, "config", "--get-regexp", r"^remote\..*\.promisor$")[0] == 0


def _fetch(layout: Layout, target: Path, *specs: str) -> None:
    # The source is read as the user reads it: whether a folder of somebody else's is trusted stands in their settings.
    arguments = ("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-shallow", "--no-recurse-submodules")
    allowed = {"GIT_ALLOW_PROTOCOL": "file"}
    source = str(layout.common_dir)
    code, _, message = try_git(target, *_FETCH, *arguments, "--", source, *specs, timeout=_TIMEOUT, env=allowed)
    if code != 0:
        raise GitError(f"git cannot copy what is committed here: {message}", where=str(layout.root),
                       next_step="Try `git fsck` there; in a partial clone, fetch what is missing first.")  # fmt: skip


def _main(root: Path, remote: str) -> str:
    code, output, _ = try_git(root, "symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD")
    name = output.decode("utf-8", "surrogateescape").strip().removeprefix(f"refs/remotes/{remote}/")
    if code == 0 and name:
        return name
    return next((name for name in ("main", "master") if _commit(root, f"refs/remotes/{remote}/{name}")), "")


def _commit(root: Path, ref: str) -> str:
    code, output, _ = try_git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return output.decode().strip() if code == 0 else ""
