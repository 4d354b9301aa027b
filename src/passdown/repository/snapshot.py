"""The snapshot: everything git says about a repository at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import structs

from passdown.io.git import one_moment
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.path import decode_path
from passdown.repository.base import choose_base
from passdown.repository.changes import nested_findings, read_changes
from passdown.repository.commits import commits_since
from passdown.repository.dirt import Dirt, read_dirt
from passdown.repository.fingerprint import tree_fingerprint
from passdown.repository.head import Head, current_branch, identity_of, read_head, resolve_commit
from passdown.repository.history import History, read_history
from passdown.repository.locate import Layout, read_layout
from passdown.repository.operation import operation_in
from passdown.repository.own import OwnPaths
from passdown.repository.refs import Integration, find_integration, read_refs
from passdown.repository.settings import Settings, has_lfs, read_settings
from passdown.repository.stashes import read_stashes
from passdown.repository.status import Status, read_status
from passdown.repository.submodules import read_submodules
from passdown.repository.upstream import read_upstream
from passdown.repository.worktrees import read_worktrees


@one_moment()
def snapshot(
    root: Path,
    *,
    base: str | None = None,
    base_hints: Sequence[tuple[str, str]] = (),
    own_paths: Sequence[str] = (),
    integration_branch: str = "",
) -> RepositoryFacts:
    """Read the facts of the repository at `root`, changing nothing and running nothing that it names.

    `base_hints` are (rule, commit) pairs, tried in order when `base` is not given (`base.py` tells all the rules).
    `own_paths` are passdown's own outputs: not changes, not dirt, and commits of nothing else are looked through.
    Raises `GitError` when git refuses, `UsageError` when `base` is no commit.
    """
    layout = read_layout(root)
    return _read(layout, OwnPaths.of(own_paths), base, base_hints, integration_branch)


def _read(
    layout: Layout, own: OwnPaths, base: str | None, hints: Sequence[tuple[str, str]], integration_branch: str
) -> RepositoryFacts:
    root = layout.root
    status = _bare_status(root) if layout.bare else read_status(root, own)
    history = read_history(root, status.commit, own)
    head = read_head(root, history, _branch(root, status), own)
    settings = read_settings(root)
    refs = read_refs(root, integration_branch)
    integration = find_integration(refs, integration_branch)
    upstream = read_upstream(root, head, status, settings.remotes)
    chosen = choose_base(layout, head, integration, ahead=upstream.ahead, explicit=base, hints=hints, history=history)
    dirt = read_dirt(layout, status)
    changes = read_changes(layout, head, chosen, dirt, own)
    moved = head.commit and chosen.commit != head.effective
    commits, total = commits_since(root, chosen.commit, head.effective, own=own, history=history) if moved else ((), 0)
    return structs.replace(
        _place(layout, head, history),
        base=chosen.tree_ish,
        base_rule=chosen.rule,
        integration_branch=integration.name if integration else "",
        upstream=upstream.name,
        ahead=upstream.ahead,
        behind=upstream.behind,
        unpushed=upstream.unpushed,
        commits=commits,
        commits_total=total,
        changes=changes.kept,
        changes_total=changes.total,
        ignored_count=status.ignored,
        ignored=tuple(map(decode_path, status.ignored_paths)),
        stashes=read_stashes(root) if "refs/stash" in refs.ids else (),
        worktrees=read_worktrees(layout, own),
        submodules=() if layout.bare else read_submodules(root, status.entries),
        tree_fingerprint=tree_fingerprint(head.effective, ((item.path, item.mode, item.content) for item in dirt)),
        remotes=settings.remotes,
        intent_to_add=tuple(decode_path(entry.path) for entry in status.entries if entry.code == ".A"),
        findings=(
            *chosen.findings, *upstream.findings, *changes.findings, *nested_findings(status.nested),
            *_findings(layout, settings, dirt, integration_branch, integration),
        ),
    )  # fmt: skip


def _place(layout: Layout, head: Head, history: History) -> RepositoryFacts:
    """The part of the facts that is about the repository and HEAD, before anything is compared."""
    return RepositoryFacts(
        root=str(layout.root),
        git_dir=str(layout.git_dir),
        common_dir=str(layout.common_dir),
        identity="" if layout.shallow or not head.commit else identity_of(layout.root, history),
        branch=head.branch,
        detached=head.detached,
        unborn=not head.commit,
        bare=layout.bare,
        shallow=layout.shallow,
        head=head.commit,
        effective_head=head.effective,
        effective_head_tree=head.tree,
        head_at=head.at,
        operation=operation_in(layout.git_dir),
        has_lfs=has_lfs(layout.root, layout.common_dir),
    )


def _bare_status(root: Path) -> Status:
    return Status(commit=resolve_commit(root, "HEAD"), branch=current_branch(root))


def _branch(root: Path, status: Status) -> str:
    if status.branch == "(detached)":  # a legal name for a branch, too
        return current_branch(root)
    return decode_path(status.branch.encode("utf-8", "surrogateescape"))


def _findings(
    layout: Layout, settings: Settings, dirt: Sequence[Dirt], wanted: str, integration: Integration | None
) -> Iterator[Finding]:
    if wanted and (integration is None or integration.name != wanted.removeprefix("origin/")):
        detail = f"the configured integration branch {wanted[:100]!r} is not here"
        yield Finding(code="base.integration_missing", severity="warn", detail=detail)
    if layout.shallow:
        detail = "the clone is shallow: the repository's identity and older history are unknown"
        yield Finding(code="git.shallow", severity="info", detail=detail, fix="git fetch --unshallow")
    filters = [name for name in settings.filters if name != "lfs"]
    if filters:
        detail = f"git runs the configured content filters {', '.join(filters[:5])} when it compares files"
        yield Finding(code="git.filters", severity="info", detail=detail)
    unhashed = sum(item.unhashed for item in dirt)
    if unhashed:
        detail = f"{unhashed} uncommitted files could not be hashed (unreadable, or too large); their size stands in"
        yield Finding(code="git.not_hashed", severity="info", detail=detail)
