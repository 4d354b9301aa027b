"""The base of "what changed": the first rule that resolves, by name, so that a reader can judge it.

In order: `explicit`, each hint under its own name, `merge_base` with the integration branch, `upstream` (on the
integration branch itself, with commits that its remote lacks), `head` (nothing says where the work began: only the
uncommitted changes count), `empty_tree` (no commit yet, or a history that shares nothing with the integration branch).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from passdown.errors import UsageError
from passdown.io.git import try_git
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.repository.head import Head, resolve_commit
from passdown.repository.locate import Layout
from passdown.repository.refs import Integration

_ID = lazy_pattern(r"[0-9a-f]{7,64}")


class Base(Struct, frozen=True):
    """The chosen base: a commit (or the empty tree, then `commit` is empty), the rule that chose it, and findings."""

    tree_ish: str
    commit: str
    rule: str
    findings: tuple[Finding, ...] = ()


def choose_base(
    layout: Layout,
    head: Head,
    integration: Integration | None,
    *,
    upstream: bool,
    explicit: str | None = None,
    hints: Sequence[tuple[str, str]] = (),
) -> Base:
    """Choose the base of the work that ends at `head`. `upstream` says whether HEAD's branch has a living upstream.

    A base that is no ancestor (amended, rebased) is replaced by the merge-base, with the finding `base.rewritten`.
    Raises `UsageError` when the explicit base is no commit here.
    """
    given = resolve_commit(layout.root, explicit) if explicit and head.commit else ""
    if explicit and not given:
        raise UsageError("the base is no commit here", where=explicit, next_step="Name a commit, branch or tag.")
    if not head.commit:
        return Base(layout.empty_tree, "", "empty_tree")
    findings: list[Finding] = []
    named = [("explicit", given)] if given else [hint for hint in hints if hint[1]]
    for rule, name in named:
        commit = given or (resolve_commit(layout.root, name) if _ID.fullmatch(name) else "")
        if not commit:
            findings.append(_missing(rule, name))
            continue
        found = _from_commit(layout, head, commit, findings)
        if found:
            return Base(found, found, rule, tuple(findings))
    return _from_branches(layout, head, integration, upstream, findings)


def merge_base(root: Path, *commits: str) -> str:
    """Return the best common ancestor of the first commit with all the others, or an empty string."""
    code, output, _ = try_git(root, "merge-base", *commits)
    return output.decode().split("\n", 1)[0] if code == 0 else ""


def _from_commit(layout: Layout, head: Head, commit: str, findings: list[Finding]) -> str:
    if commit in (head.commit, head.effective, *head.looked_through):
        return head.effective
    common = merge_base(layout.root, head.effective, commit)
    if common == commit:
        return commit
    if common:
        findings.append(
            Finding(
                code="base.rewritten",
                severity="warn",
                detail=f"the base {commit[:12]} is no ancestor of HEAD; using the merge-base {common[:12]}",
            )
        )
        return common
    findings.append(_unrelated(layout, f"the base {commit[:12]}"))
    return ""


def _from_branches(
    layout: Layout, head: Head, integration: Integration | None, upstream: bool, findings: list[Finding]
) -> Base:
    at_home = integration is None or integration.name == head.branch
    rule, refs = "merge_base", [integration.local, integration.remote] if integration else []
    if at_home:
        remote = "@{upstream}" if upstream else integration.remote if integration else ""
        rule, refs = "upstream", [remote]
    refs = [ref for ref in refs if ref]
    if refs:
        common = merge_base(layout.root, head.effective, *refs)
        if common and not (at_home and common == head.effective):
            return Base(common, common, rule, tuple(findings))
        if not common:
            findings.append(_unrelated(layout, "the integration branch"))
            if not layout.shallow:
                return Base(layout.empty_tree, "", "empty_tree", tuple(findings))
    return Base(head.effective, head.effective, "head", tuple(findings))


def _missing(rule: str, name: str) -> Finding:
    return Finding(
        code="base.missing", severity="warn", detail=f"the base named by {rule} is no commit here: {ascii(name)[:80]}"
    )


def _unrelated(layout: Layout, what: str) -> Finding:
    if layout.shallow:
        return Finding(
            code="base.shallow",
            severity="warn",
            detail=f"the clone is shallow: HEAD shares no commit with {what} here",
            fix="git fetch --unshallow",
        )
    return Finding(code="base.unrelated", severity="warn", detail=f"HEAD shares no history with {what}")
