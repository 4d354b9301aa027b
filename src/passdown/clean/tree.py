"""The working tree: is everything that was done in a commit, and is nothing half done?"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence

from msgspec import structs

from passdown.clean.elsewhere import stash_findings, worktree_findings
from passdown.clean.languages import is_code
from passdown.clean.mend import commit_command, listed, quote_path
from passdown.clean.options import Situation
from passdown.clean.paths import is_exempt, is_temporary
from passdown.clean.submodules import submodule_findings
from passdown.model.evidence import Change
from passdown.model.finding import Finding, Severity
from passdown.model.pattern import lazy_pattern
from passdown.packet.paths import is_relative
from passdown.repository.attributes import ignored_paths
from passdown.repository.hidden import hidden_changes
from passdown.repository.trivial import trivial_changes

LOCK_AGE = 60_000
"""A lock on the index that is older than so many milliseconds was left behind."""

MENDING = {
    "merge": "git merge --abort",
    "rebase": "git rebase --abort",
    "am": "git am --abort",
    "cherry-pick": "git cherry-pick --abort",
    "revert": "git revert --abort",
    "sequence": "git cherry-pick --quit",
    "bisect": "git bisect reset",
}
_GLOB = lazy_pattern(r"[\\*?\[]")
_SOURCE_ROOT = lazy_pattern(r"(?:src|lib|app|apps|pkg|cmd|internal|packages|crates|include|tests?|spec)/")
_ARTIFACTS = frozenset({
    "state", "board", "features", "feedback", "decisions", "questions", "clues", "verification", "review", "contract",
    "scope_report", "rule_report", "init_report", "coverage", "diff_summary", "last_known_good", "overrides", "audit",
})  # fmt: skip


def tree_findings(situation: Situation) -> Iterator[Finding]:
    """Find what is not committed, half done, hidden, or kept where nobody looks."""
    repository = situation.repository
    if repository.operation:
        yield _operation(repository.operation, [c.path for c in repository.changes if c.status == "U"])
    yield from _conflict_marks(situation)
    yield from _dirt(situation)
    yield from _hidden(situation)
    yield from submodule_findings(situation)
    yield from stash_findings(situation)
    yield from worktree_findings(situation)
    yield from _lock(situation)
    yield from _ignored(situation)
    yield from (_nested(f) for f in repository.findings if f.code.startswith(("tree.", "git.")))


def _nested(finding: Finding) -> Finding:
    if finding.code != "tree.nested_repo" or finding.fix or not finding.where:
        return finding
    line = shlex.quote("/" + _GLOB.sub(r"\\\g<0>", finding.where))
    fix = f"printf '%s\\n' {line} >> \"$(git rev-parse --git-path info/exclude)\""
    return structs.replace(finding, fix=fix)


def _operation(name: str, unmerged: Sequence[str]) -> Finding:
    go_on = "" if name in ("bisect", "sequence") else f"; abort it, or finish it: git {name} --continue"
    open_paths = f" (unmerged: {listed(unmerged)})" if unmerged else ""
    return Finding(
        code="tree.operation_in_progress", severity="warn" if name == "bisect" else "block",
        detail=f"a {name} is in progress{open_paths}{go_on}", where=unmerged[0] if unmerged else "",
        fix=MENDING.get(name, "git status"), mend_kind="command" if name == "bisect" else "choice",
    )  # fmt: skip


def _conflict_marks(situation: Situation) -> Iterator[Finding]:
    unmerged = {change.path for change in situation.repository.changes if change.status == "U"}
    for source in situation.sources.all:
        if source.path in unmerged or "<<<<<<< " not in source.written or ">>>>>>> " not in source.written:
            continue
        at = {mark: [n for n in source.added if source.lines[n - 1 : n] and source.lines[n - 1].startswith(mark)]
              for mark in ("<<<<<<< ", "=======", ">>>>>>> ")}  # fmt: skip
        if all(at.values()) and min(at["<<<<<<< "]) < max(at[">>>>>>> "]):
            yield Finding(
                code="tree.operation_in_progress", severity="block", detail="conflict marks were left in",
                where=source.path, line=min(at["<<<<<<< "]), fix="choose a side and take the marks out",
                mend_kind="choice",
            )  # fmt: skip


# --- what is not committed ---------------------------------------------------------------------------------------


def _dirt(situation: Situation) -> Iterator[Finding]:
    if situation.repository.unborn:
        yield from _no_commit(situation)
        return
    artifacts = {a.path for a in situation.workbench.artifacts if a.role in _ARTIFACTS}
    promised = set(situation.repository.intent_to_add)
    trivial = trivial_changes(situation.root, situation.dirt)
    groups: dict[str, list[Change]] = {}
    for change in situation.dirt:
        groups.setdefault(_group(situation, change, artifacts, promised, trivial), []).append(change)
    if unmerged := groups.pop("tree.operation_in_progress", []):
        yield from _unmerged(situation, [change.path for change in unmerged])
    for code, severity, detail, what in _KINDS:
        if code in groups:
            yield _loose(situation, groups[code], code.removesuffix("+"), severity, detail, what)


_KINDS: tuple[tuple[str, Severity, str, str], ...] = (
    ("tree.intent_to_add", "block", "only promised to git (an empty file would be committed)", "Add what was promised"),
    ("tree.uncommitted", "block", "changed and not committed", "Keep the work"),
    ("tree.untracked", "block", "new and not committed", "Add the new files"),
    ("tree.untracked+", "warn", "new and not committed", "Add the new files"),
    ("tree.workbench_dirty", "warn", "changed: notes about the work, not committed", "Keep the notes"),
    ("tree.trivial_change", "warn", "changed in mode or line ends only", "Change modes and line ends"),
)


def _group(
    situation: Situation, change: Change, artifacts: set[str], promised: set[str], trivial: frozenset[str]
) -> str:
    path = change.path
    if change.status == "U":
        return "tree.operation_in_progress"
    if path in promised:
        return "tree.intent_to_add"
    if path in artifacts:
        return "tree.workbench_dirty"
    if path in trivial:
        return "tree.trivial_change"
    if not change.untracked:
        return "tree.uncommitted"
    allowed = situation.workbench.contract.allowed_files if situation.workbench.contract else ()
    if is_temporary(path) and not is_exempt(path, situation.config.allow_files, frozenset(allowed)):
        return ""
    return "tree.untracked" if is_code(path) or _SOURCE_ROOT.match(path) else "tree.untracked+"


def _loose(
    situation: Situation, changes: Sequence[Change], code: str, severity: Severity, detail: str, what: str
) -> Finding:
    paths = [change.path for change in changes]
    total = len(paths)
    noun = "file is" if total == 1 else "files are"
    return Finding(
        code=code, severity=severity, detail=f"{total} {noun} {detail}: {listed(paths)}", where=paths[0],
        fix=commit_command(paths, situation.message(what), tracked=not any(c.untracked for c in changes)),
    )  # fmt: skip


def _unmerged(situation: Situation, paths: Sequence[str]) -> Iterator[Finding]:
    if not situation.repository.operation:
        yield Finding(
            code="tree.operation_in_progress", severity="block", where=paths[0],
            detail=f"{len(paths)} files are unmerged: {listed(paths)}",
            fix=f"settle the conflicts, then: git add -- {quote_path(paths[0])}", mend_kind="choice",
        )  # fmt: skip


def _no_commit(situation: Situation) -> Iterator[Finding]:
    paths = [change.path for change in situation.dirt if is_code(change.path)]
    if paths:
        count = "is 1 source file" if len(paths) == 1 else f"are {len(paths)} source files"
        detail = f"there is no commit yet, and there {count}: {listed(paths)}"
        yield Finding(
            code="tree.no_commit", severity="block", detail=detail, where=paths[0],
            fix="git add -A && git commit -q -m 'Begin'",
        )  # fmt: skip


# --- what status does not show -----------------------------------------------------------------------------------


def _hidden(situation: Situation) -> Iterator[Finding]:
    if situation.repository.bare:
        return
    for hidden in hidden_changes(situation.layout, situation.own):
        yield Finding(
            code="tree.hidden_change", severity="block", where=hidden.path,
            detail=f"{hidden.path} was changed, and is marked {hidden.mark}: git does not show it",
            fix=f"git update-index --no-{hidden.mark} -- {quote_path(hidden.path)}",
        )  # fmt: skip


def _lock(situation: Situation) -> Iterator[Finding]:
    try:
        touched = (situation.layout.git_dir / "index.lock").lstat().st_mtime
    except OSError:
        return
    now = situation.options.now if situation.options.now is not None else time.time_ns() // 1_000_000
    if now - touched * 1000 > LOCK_AGE:
        yield Finding(
            code="tree.stale_lock", severity="warn", detail="git's index is locked, by a git that seems to be gone",
            fix='rm -f -- "$(git rev-parse --git-path index.lock)"',
        )  # fmt: skip


def _ignored(situation: Situation) -> Iterator[Finding]:
    """Find files that the next step leans on and that git ignores: another device will not have them."""
    draft = situation.draft
    named = [*draft.next_action.paths, *(a.path for a in draft.next_session_prereqs.artifacts if not a.tracked)]
    named += draft.local_only.ignored_artifacts
    paths = ignored_paths(situation.root, (path for path in dict.fromkeys(named) if is_relative(path)))
    for path in sorted(paths):
        yield Finding(
            code="prereq.ignored", severity="block" if situation.severe else "warn", where=path,
            detail=f"{path} is needed next, and git ignores it",
            fix=f"git add -f -- {quote_path(path)} && git commit -q -m 'Keep what is needed next'",
        )  # fmt: skip
