"""What would be lost with this working tree or this device: each thing with the command that keeps it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from passdown.clean.mend import commit_command, listed, quote_path
from passdown.config import Config
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding, Severity
from passdown.model.path import decode_path
from passdown.redact.neutralise import one_line
from passdown.repository.attributes import ignored_paths
from passdown.repository.hidden import hidden_changes
from passdown.repository.locate import Layout
from passdown.repository.own import OwnPaths
from passdown.repository.status import Status, read_status
from passdown.repository.unpublished import (
    branches_ahead,
    held_by,
    is_unpublished_submodule,
    unfetched_lfs,
    unpublished,
)
from passdown.store.packets import own_paths

_NAMED = 20
_CONTINUED = ("merge", "rebase", "cherry-pick", "revert")


class Scene(Struct, frozen=True, kw_only=True):
    """The repository as it is now. With `portable`, what only this device has counts as lost, not as a warning."""

    layout: Layout
    config: Config
    facts: RepositoryFacts
    status: Status
    own: OwnPaths
    topic: str = ""
    portable: bool = False

    @property
    def root(self) -> Path:
        """The worktree's root."""
        return self.layout.root

    @property
    def remote(self) -> str:
        """The remote to push to; `origin` when there is none yet."""
        remotes, named = self.facts.remotes, self.facts.upstream.partition("/")[0]
        return named if named in remotes else "origin" if "origin" in remotes or not remotes else remotes[0]

    def message(self, what: str) -> str:
        """Return a commit message that says for which work."""
        return f"{what} ({one_line(self.topic, 64)})" if self.topic else what

    def then_push(self, branch: str) -> str:
        """Return what to add to a command that makes a branch, so that another device has it, too."""
        return f" && git push -q -u {shlex.quote(self.remote)} {branch}" if self.portable and self.facts.remotes else ""


def open_scene(
    layout: Layout, config: Config, facts: RepositoryFacts, *, topic: str = "", portable: bool = False
) -> Scene:
    """Read what the facts have no room for: every uncommitted path."""
    own = OwnPaths.of(own_paths(config))
    status = read_status(layout.root, own)
    return Scene(
        layout=layout, config=config, facts=facts, status=status, own=own, topic=topic, portable=portable
    )  # fmt: skip


def find_losses(scene: Scene, named: Sequence[str]) -> Iterator[Finding]:
    """Find what no clone of this repository has. `named` are the paths that packet and workbench point to.

    In the order of mending; `find_unpushed` comes last, because what is kept is pushed after it is committed.
    """
    yield from _tree(scene)
    yield from _named_but_ignored(scene, named)
    yield from _stashes(scene)
    yield from _worktrees(scene)
    yield from _submodules(scene)


def find_unpushed(scene: Scene) -> Iterator[Finding]:
    """Find what only this device has, though git has it: commits on no remote; files that Git LFS did not fetch."""
    yield from _unpushed(scene)
    yield from _lfs(scene)


def _lost(code: str, detail: str, fix: str, where: str = "", severity: Severity = "block") -> Finding:
    place = one_line(where, 300)
    return Finding(code=f"lost.{code}", severity=severity, detail=one_line(detail, 400), where=place, fix=fix)


# --- the working tree --------------------------------------------------------------------------------------------


def _tree(scene: Scene) -> Iterator[Finding]:
    if scene.facts.operation:
        name = scene.facts.operation
        fix = f"git {name} --continue" if name in _CONTINUED else "git status"
        yield _lost("operation", f"a {name} is under way: how far it is stands in this worktree alone", fix)
    changed = sorted({decode_path(entry.path) for entry in scene.status.entries if entry.submodule == "N..."})
    if changed:
        fix = commit_command(changed, scene.message("Keep the work"), tracked=True)
        detail = f"{_files(len(changed))} changed and not committed: {listed(changed)}"
        yield _lost("uncommitted", detail, fix, changed[0])
    new = sorted({decode_path(path) for path in scene.status.untracked} - set(changed))
    if new:
        fix = commit_command(new, scene.message("Add the new files"), tracked=False)
        yield _lost("untracked", f"{_files(len(new))} new and not committed: {listed(new)}", fix, new[0])
    for path in map(decode_path, scene.status.nested[:_NAMED]):
        detail = f"{path} is a repository of its own inside this one: git does not carry it along"
        yield _lost("nested", detail, f"git submodule add <its address> {quote_path(path.rstrip('/'))}", path)
    for hidden in hidden_changes(scene.layout, scene.own)[:_NAMED]:
        name = quote_path(hidden.path)
        fix = f"git update-index --no-{hidden.mark} -- {name} && git add -- {name} && git commit -q -m " + shlex.quote(
            scene.message("Keep the work")
        )
        yield _lost("hidden", f"{hidden.path} is changed, and marked {hidden.mark} so that git does not say so", fix,
                    hidden.path)  # fmt: skip


def _files(count: int) -> str:
    return f"{count} file is" if count == 1 else f"{count} files are"


def _named_but_ignored(scene: Scene, named: Sequence[str]) -> Iterator[Finding]:
    ignored = sorted(ignored_paths(scene.root, named))
    present = [path for path in ignored if (scene.root / path).is_file() and not scene.own.holds(path.encode())]
    if present:
        names = " ".join(map(quote_path, present[:_NAMED]))
        message = shlex.quote(scene.message("Keep what the handoff points to"))
        fix = f"git add -f -- {names} && git commit -q -m {message} -- {names}"
        detail = f"git ignores {_paths(len(present))} that the handoff points to: {listed(present)}"
        yield _lost("ignored", detail, fix, present[0])


def _paths(count: int) -> str:
    return "a file" if count == 1 else f"{count} files"


# --- beside the branch -------------------------------------------------------------------------------------------


def _stashes(scene: Scene) -> Iterator[Finding]:
    stashes = scene.facts.stashes
    kept = held_by(scene.root, [stash.id for stash in stashes], "remotes" if scene.portable else "branches")
    for stash in stashes:
        if stash.id not in kept:
            name = f"stash-{stash.id[:12]}"
            fix = f"git branch {name} {stash.id}"
            if stash.id in held_by(scene.root, [stash.id], "branches"):
                fix = "true"
            yield _lost("stash", f"stash {stash.id[:12]} ({one_line(stash.subject, 80)})", fix + scene.then_push(name),
                        stash.id[:12])  # fmt: skip


def _worktrees(scene: Scene) -> Iterator[Finding]:
    alone = [tree.head for tree in scene.facts.worktrees if not tree.branch and tree.head]
    held = held_by(scene.root, alone, "branches")
    for tree in scene.facts.worktrees:
        name = tree.name if not tree.branch else f"{tree.name} ({tree.branch})"
        folder = shlex.quote(tree.path)
        if tree.dirty:
            message = shlex.quote(scene.message("Keep the work"))
            yield _lost("worktree", f"the worktree {name} has uncommitted work",
                        f"git -C {folder} add -A && git -C {folder} commit -q -m {message}", tree.name)  # fmt: skip
        elif tree.dirty is None and not tree.prunable:
            yield _lost("worktree_unknown", f"the worktree {name} was not looked into", f"git -C {folder} status",
                        tree.name, "warn")  # fmt: skip
        if not tree.branch and tree.head and tree.head not in held:
            branch = f"kept-{tree.head[:12]}"
            yield _lost("worktree_commits", f"the worktree {name} has commits that are on no branch",
                        f"git branch {branch} {tree.head}{scene.then_push(branch)}", tree.name)  # fmt: skip


def _submodules(scene: Scene) -> Iterator[Finding]:
    for submodule in scene.facts.submodules:
        path = quote_path(submodule.path)
        if submodule.dirty or submodule.untracked:
            message = shlex.quote(scene.message("Keep the work"))
            yield _lost("submodule", f"the submodule {submodule.path} has uncommitted work",
                        f"git -C {path} add -A && git -C {path} commit -q -m {message}", submodule.path)  # fmt: skip
        if submodule.moved:
            fix = commit_command([submodule.path], scene.message("Move the submodule"), tracked=True)
            yield _lost("submodule", f"the submodule {submodule.path} is at another commit than recorded", fix,
                        submodule.path)  # fmt: skip
    for submodule in scene.facts.submodules[:_NAMED]:
        if is_unpublished_submodule(scene.root, submodule.path, submodule.commit):
            detail = f"the commit of the submodule {submodule.path} is on none of its remotes: nobody can fetch it"
            fix = f"git -C {quote_path(submodule.path)} push origin HEAD"
            yield _lost("submodule_unpushed", detail, fix, submodule.path)


# --- what only this device has -----------------------------------------------------------------------------------


def _unpushed(scene: Scene) -> Iterator[Finding]:
    facts, level = scene.facts, _level(scene)
    if facts.unborn:
        return
    remote = shlex.quote(scene.remote)
    branch = shlex.quote(facts.branch)
    if not facts.remotes:
        fix = "git remote add origin <address>" + (f" && git push -u origin {branch}" if branch != "''" else "")
        yield _lost("no_remote", "there is no remote: all of it is on this device alone", fix, severity=level)
        return
    own = unpublished(scene.root, facts.head)
    if own:
        push = (
            f"git push -q -u {remote} {branch}"
            if facts.branch
            else f"git push -q {remote} HEAD:refs/heads/kept-{facts.head[:12]}"
        )
        detail = f"{_commits(own)} of {facts.branch or 'the detached HEAD'} {_are(own)} on no remote"
        yield _lost("unpushed", detail, push, facts.branch, level)
    for ahead in branches_ahead(scene.root):
        if ahead.name != facts.branch:
            detail = f"{_commits(ahead.commits)} of the branch {ahead.name} {_are(ahead.commits)} on no remote"
            yield _lost("branch", detail, f"git push -q -u {remote} {shlex.quote(ahead.name)}", ahead.name, level)
    if facts.behind:
        where = f"{facts.upstream}, as far as the last fetch tells"
        detail = f"{facts.branch} is {_commits(facts.behind)} behind {where}"
        yield _lost("behind", detail, "git pull --ff-only", facts.branch, "warn")


def _level(scene: Scene) -> Severity:
    return "block" if scene.portable else "warn"


def _commits(count: int) -> str:
    return "1 commit" if count == 1 else f"{count} commits"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _lfs(scene: Scene) -> Iterator[Finding]:
    if scene.facts.has_lfs:
        total, missing = unfetched_lfs(scene.root)
        if missing:
            detail = f"{len(missing)} of {total} files kept by Git LFS are not fetched here: {listed(missing)}"
            yield _lost("lfs", detail, "git lfs pull", missing[0], "warn")
