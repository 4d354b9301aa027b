"""The feedback log on the local shelf: `passdown/feedback_record.jsonl` in git's common directory.

There go the records of `passdown run` where the project has no log of its own that git ignores: no tree gets dirty, and
all worktrees of the repository have one place. Read together with the project's log, as one more source; a record
counts in the worktree it was made in, on its branch or where its commit is part of the history.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from passdown.io.append import append_line
from passdown.io.git import try_git
from passdown.model.evidence import RepositoryFacts
from passdown.model.finding import Finding
from passdown.model.workbench import FeedbackRow, Workbench
from passdown.repository.content import worktree_name
from passdown.workbench.document import Notes
from passdown.workbench.feedback import ROTATED, log_paths, read_feedback

LOCAL_LOG = "passdown/feedback_record.jsonl"
ROTATE_AT = 1 << 20
"""Size in bytes past which the log is rotated before a line is appended."""

_ASKED = 20
"""Most commits of other branches that git is asked about, the newest ones."""


def append_local(common_dir: Path, line: bytes) -> Path:
    """Append a line to the local log, readable by its owner alone; rotate it first when it is full. Needs the lock."""
    path = common_dir / LOCAL_LOG
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.is_symlink() and path.is_file() and path.stat().st_size >= ROTATE_AT:
        for number in range(ROTATED - 1, 0, -1):
            older = path.with_name(f"{path.name}.{number}")
            if older.exists():
                older.replace(path.with_name(f"{path.name}.{number + 1}"))
        path.replace(path.with_name(f"{path.name}.1"))
    append_line(path, line, mode=0o600)
    return path


def read_local(facts: RepositoryFacts) -> tuple[tuple[FeedbackRow, ...], tuple[Finding, ...]]:
    """Return the local log's rows that speak of this worktree and its history, oldest first, and what was off."""
    common_dir = Path(facts.common_dir)
    notes = Notes(LOCAL_LOG)
    paths = log_paths(common_dir, LOCAL_LOG) if facts.common_dir else []
    if not paths:
        return (), ()
    worktree = worktree_name(Path(facts.git_dir), common_dir)
    rows = [row for row in read_feedback(common_dir, paths, notes).rows if row.worktree == worktree]
    foreign = {row.head: None for row in rows if row.head and row.branch != facts.branch}
    asked = list(foreign)[-_ASKED:]
    known = {head for head in asked if head == facts.head or _is_ancestor(facts, head)}
    kept = tuple(row for row in rows if row.branch == facts.branch or not row.head or row.head in known)
    return kept, tuple(notes.findings)


def with_local_log(workbench: Workbench, facts: RepositoryFacts) -> Workbench:
    """Return the workbench with the local log's rows among those of the project's own log, by time."""
    rows, findings = read_local(facts)
    if not rows:
        return structs.replace(workbench, findings=(*workbench.findings, *findings)) if findings else workbench
    return structs.replace(
        workbench, feedback=merge_rows(workbench.feedback or (), rows), findings=(*workbench.findings, *findings)
    )


def merge_rows(project: tuple[FeedbackRow, ...], local: tuple[FeedbackRow, ...]) -> tuple[FeedbackRow, ...]:
    """Return both logs as one, each in its own order, a row of the local log behind what was over when it began."""
    merged: list[FeedbackRow] = []
    rest = list(local)
    for row in project:
        while rest and row.started_at is not None and (rest[0].started_at or 0) < row.started_at:
            merged.append(rest.pop(0))
        merged.append(row)
    return (*merged, *rest)


def _is_ancestor(facts: RepositoryFacts, commit: str) -> bool:
    if not facts.head:
        return False
    return try_git(Path(facts.root), "merge-base", "--is-ancestor", commit, facts.head)[0] == 0
