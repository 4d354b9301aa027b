"""The base of "what changed": the first rule that resolves, by name, so that a reader can judge it.

In order: `explicit`, each hint under its own name, `merge_base` with the integration branch, `upstream` (on the
integration branch itself, with commits that its remote lacks), `head` (nothing says where the work began: only the
uncommitted changes count), `empty_tree` (no commit yet, or a history that shares nothing with the integration branch).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct

from passdown.errors import UsageError
from passdown.io.git import try_git
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.repository.head import Head, resolve_commit
from passdown.repository.history import History
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
    ahead: int | None,
    explicit: str | None = None,
    hints: Sequence[tuple[str, str]] = (),
    history: History | None = None,
) -> Base:
    """Choose the base of the work that ends at `head`. `ahead` is how far its upstream is behind, None without one.

    What `history` holds is known without asking git.
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
        commit = given or _known(history, name) or (resolve_commit(layout.root, name) if _ID.fullmatch(name) else "")
        if not commit:
            findings.append(_missing(rule, name))
            continue
        found = _from_commit(layout, head, commit, findings, history)
        if found:
            return Base(found, found, rule, tuple(findings))
    return _from_branches(layout, head, integration, ahead, findings, history)


def merge_base(root: Path, *commits: str) -> str:
    """Return the best common ancestor of the first commit with all the others, or an empty string."""
    code, output, _ = try_git(root, "merge-base", *commits)
    return output.decode().split("\n", 1)[0] if code == 0 else ""


def _known(history: History | None, commit: str) -> str:
    return commit if history and commit in history.steps else ""


def _common(head: Head, tips: Collection[str], history: History | None) -> str:
    """Return the merge-base of the effective commit and one tip that it has in its history; empty when that is open."""
    tip = next(iter(tips)) if len(tips) == 1 else ""
    return head.effective if tip in (head.commit, head.effective, *head.looked_through) else _known(history, tip)


def _from_commit(layout: Layout, head: Head, commit: str, findings: list[Finding], history: History | None) -> str:
    if commit in (head.commit, head.effective, *head.looked_through):
        return head.effective
    if _known(history, commit):  # what HEAD's history holds below its tip is an ancestor of the effective commit
        return commit
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
    layout: Layout,
    head: Head,
    integration: Integration | None,
    ahead: int | None,
    findings: list[Finding],
    history: History | None,
) -> Base:
    at_home = integration is None or integration.name == head.branch
    rule, refs = "merge_base", dict(integration.at) if integration else {}
    if at_home:
        rule, refs = "upstream", {ref: at for ref, at in refs.items() if integration and ref == integration.remote}
        if ahead is not None:
            refs = {"@{upstream}": "" if ahead else head.effective}
    if refs:
        common = _common(head, set(refs.values()), history) or merge_base(layout.root, head.effective, *refs)
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
