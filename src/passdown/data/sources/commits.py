"""Human predecessors: the commit series of a repository as trajectories, each commit a step of a person's work.

A step is the commit's message, the edits it made as calls that hold the text before and after, and the commit itself.
Before the first edit of a file whose content the series has not shown, the file is read: who changes a file has it
before them, and a replay is exact that way. Names, mail addresses and trailers are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from passdown.clean.paths import is_test
from passdown.data.records import Outcome, Reject, Trajectory
from passdown.data.sources.commit_log import (
    Change,
    Commit,
    commits_between,
    line_hunks,
    read_blobs,
    read_log,
    resolve,
)  # fmt: skip
from passdown.data.sources.commit_steps import Steps, is_plain
from passdown.data.sources.licence_text import FILES, licence_in
from passdown.data.sources.origin import Origin, extras_of
from passdown.data.sources.people import lists_people, without_mails
from passdown.data.sources.series import LONGEST, SHORTEST, Kind, Series, one_series, series_of
from passdown.data.trajectory import assemble
from passdown.io.git import run_git, try_git
from passdown.model.pattern import lazy_pattern
from passdown.model.session import AnyEvent, SessionEnd, SessionStart, UserMessage
from passdown.sessions.discover import plain_remote

MOST = 1000
"""Series that are read of one repository."""
_TEXT = 2 << 20
"""Characters of one series; a longer one ends at the commit before."""
_PATCH = 1 << 20
_NAME = lazy_pattern(r"[^A-Za-z0-9._-]+")


def read_file(path: Path, origin: Origin) -> Iterator[Trajectory | Reject]:
    """Yield the commit series of a repository: its branches, and the topics and the stretches of its main line."""
    yield from read_series(path, origin)


def read_series(
    folder: Path, origin: Origin, kinds: Iterable[Kind] = ("branch", "topic", "window"), *, most: int = MOST
) -> Iterator[Trajectory | Reject]:
    """Yield at most `most` series of a repository. Raises `GitError` where there is no repository."""
    repository = _Repository(folder, origin)
    number = 0
    for number, series in enumerate(islice(series_of(folder, kinds), most), 1):
        yield repository.trajectory(series, number)
    if not number:
        yield origin.reject("no_series", detail=f"fewer than {SHORTEST} commits of a person belong together")


def read_commits(
    folder: Path, base: str, head: str, *, origin: Origin | None = None, title: str = "", grain: str = "commit"
) -> Trajectory | Reject:
    """Return the work of `base..head` along first parents as one trajectory; with an empty `base`, from the root.

    With `grain="file"` a step is one file's edits, so that a cut lies in the middle of a commit. Raises `GitError`
    where a revision names no commit.
    """
    ids = commits_between(folder, resolve(folder, base) if base else "", resolve(folder, head), 10 * LONGEST)
    series = one_series(read_log(folder, ids[:LONGEST]), "branch", title)
    return _Repository(folder, origin or Origin(source="commits", file=folder.name), grain).trajectory(series, 1)


class _Repository:
    """A repository with what is the same for all of its series."""

    def __init__(self, folder: Path, origin: Origin, grain: str = "commit") -> None:
        self.folder, self.grain = folder, grain
        self.origin = Origin(source=origin.source, licence=origin.licence or self._licence(), file=origin.file)
        code, url, _ = try_git(folder, "config", "--get", "remote.origin.url")
        remote = plain_remote(url.decode("utf-8", "replace")) if code == 0 else ""
        name = _NAME.sub("-", folder.resolve().name.removesuffix(".git"))[:80].strip("-.") or "repository"
        local = not remote.partition("/")[0]
        self.repo = name if local else remote.partition("/")[2]
        self.root = f"/workspace/{self.repo.rpartition('/')[2]}"

    def _licence(self) -> str:
        for name in FILES:
            code, text, _ = try_git(self.folder, "cat-file", "blob", f"HEAD:{name}")
            if code == 0:
                return licence_in(text[:100_000].decode("utf-8", "replace"))
        return ""

    def trajectory(self, series: Series, number: int) -> Trajectory | Reject:
        """Return a series as a trajectory, or why it is none."""
        if (len(series.commits) < SHORTEST and series.kind != "branch") or not series.commits:
            return self.origin.reject("too_short", number, f"{len(series.commits)} commits of a person")
        texts = self._texts(series.commits)
        steps = Steps(self.root, texts, line_hunks(self.folder, series.commits), by_file=self.grain == "file")
        kept: list[Commit] = []
        events: list[AnyEvent] = []
        for commit in series.commits:
            if steps.size > _TEXT:
                break
            events += steps.of(commit)
            kept.append(commit)
        if not steps.edits:
            return self.origin.reject("no_text", number, "no commit changes a file that can be told as text")
        first, last = kept[0], kept[-1]
        base = first.parents[0] if first.parents else ""
        task = _task(series, kept)
        begun: list[AnyEvent] = [
            SessionStart(
                session_id=f"{first.id[:12]}-{last.id[:12]}", agent="git", cwd=self.root, commit=base, at=first.at
            ),
            UserMessage(text=task, at=first.at),
        ]
        return assemble(
            [*begun, *events, SessionEnd(records=len(kept))], self.origin.at(number), instance_id="", repo=self.repo,
            base_commit=base, task_text=task, predecessor="human", extras=_extras(series, kept),
            outcome=Outcome(exit="committed", patch=self._patch(base, last, kept)),
        )  # fmt: skip

    def _texts(self, commits: tuple[Commit, ...]) -> dict[str, str]:
        """Return the contents that are text, by git's id, without the mail addresses in them."""
        ids = {
            identifier
            for commit in commits
            for change in commit.changes
            if change.is_file and not lists_people(change.path)
            for identifier in (change.old, change.new)
        }
        found = {}
        for identifier, data in read_blobs(self.folder, ids).items():
            if b"\0" in data:
                continue
            try:
                found[identifier] = without_mails(data).decode("utf-8")
            except UnicodeDecodeError:
                continue
        return found

    def _patch(self, base: str, last: Commit, kept: list[Commit]) -> str:
        paths = sorted({c.path for commit in kept for c in commit.changes if c.is_file and not lists_people(c.path)})
        start = base or run_git(self.folder, "hash-object", "-t", "tree", "--stdin", stdin=b"").decode().strip()
        spelled = [f":(literal){path}" for path in paths]
        code, patch, _ = try_git(
            self.folder, "diff", "--no-color", "--no-ext-diff", "--no-textconv", start, last.id, "--", *spelled
        )
        text = without_mails(patch).decode("utf-8", "replace") if code == 0 else ""
        return text if len(text) <= _PATCH else ""


def _task(series: Series, kept: list[Commit]) -> str:
    """Say what the work is: its title, or all that its commits set out to do, as the first of them alone is not it."""
    subjects = list(dict.fromkeys(commit.subject for commit in kept))
    if series.title or len(subjects) == 1:
        return series.title or subjects[0]
    return "\n".join(["Do this, in this order, each as a commit of its own:", *(f"- {one}" for one in subjects)])


def _extras(series: Series, kept: list[Commit]) -> str:
    return extras_of(
        series=series.kind, left_out=series.left_out,
        commits=[
            {"id": commit.id, "files": len(commit.changes), "tests": _tests(commit.changes)} for commit in kept
        ],
    )  # fmt: skip


def _tests(changes: tuple[Change, ...]) -> list[str]:
    return sorted(change.path for change in changes if is_test(change.path) and is_plain(change.path))[:50]
