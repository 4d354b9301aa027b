"""Which commits belong together: those of a branch, those of one topic (by the files they share), or a stretch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from passdown.data.sources.commit_log import Commit, commits_between, read_log, resolve
from passdown.data.sources.people import branch_words, title_of
from passdown.io.git import run_git, try_git
from passdown.model.pattern import lazy_pattern

Kind = Literal["branch", "topic", "window"]
SHORTEST, LONGEST = 3, 30
_WALKED = 5000
_BRANCHES = 500
_IDLE = 40
"""Commits of other topics after which a topic is over."""
_COMMON = 0.15
_HUB = lazy_pattern(
    r"(?i)(?:^|/)(?:change(?:s|log)|news|history|release[-_]?notes|readme|todo|version)(?:\.\w+)?$|"
    r"(?:^|/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|cargo\.lock|go\.sum|gemfile\.lock|"
    r"composer\.lock|_?version\.py)$"
)
"""Files that work on anything touches, so that they tell nothing of what it is on."""


class Series(Struct, frozen=True, kw_only=True):
    """Commits in the order they were made, oldest first. `title` is what the work is called, where something says it.

    `left_out` counts the commits within that are no step of a person's work, by reason.
    """

    kind: Kind
    commits: tuple[Commit, ...]
    title: str = ""
    left_out: dict[str, int] = {}


def series_of(folder: Path, kinds: Iterable[Kind] = ("branch", "topic", "window")) -> Iterator[Series]:
    """Yield the series of a repository, those of its branches first. Raises `GitError` where there is none."""
    wanted = tuple(kinds)
    main = list(read_log(folder, commits_between(folder, "", resolve(folder, "HEAD"), _WALKED)))
    taken: set[str] = set()
    if "branch" in wanted:
        for series in _branches(folder, main):
            taken.update(commit.id for commit in series.commits)
            yield series
    if "topic" in wanted:
        yield from topics(commit for commit in main if commit.id not in taken)
    if "window" in wanted:
        yield from windows(main)


def _branches(folder: Path, main: list[Commit]) -> Iterator[Series]:
    seen: set[str] = {commit.id for commit in main}
    for merge in main:
        if len(merge.parents) == 2:
            yield from _branch(folder, merge.parents[0], merge.parents[1], title_of(merge.message), seen)
    head = main[-1].id if main else ""
    output = run_git(folder, "for-each-ref", f"--count={_BRANCHES}", "--format=%(objectname) %(objecttype) %(refname)",
                     "refs/heads", "refs/remotes").decode("utf-8", "replace")  # fmt: skip
    for line in sorted(output.splitlines()):
        tip, kind, name = (*line.split(" ", 2), "", "")[:3]
        if kind != "commit" or tip in seen or name.endswith("/HEAD"):
            continue
        code, found, _ = try_git(folder, "merge-base", head, tip)
        base = found.decode("ascii", "replace").strip() if code == 0 else ""
        if base:
            yield from _branch(folder, base, tip, branch_words(name), seen)


def _branch(folder: Path, base: str, tip: str, title: str, seen: set[str]) -> Iterator[Series]:
    ids = [identifier for identifier in commits_between(folder, base, tip, 10 * LONGEST) if identifier not in seen]
    seen.update(ids)
    made = one_series(read_log(folder, ids[:LONGEST]), "branch", title)
    if len(made.commits) >= SHORTEST:
        yield made


def one_series(commits: Iterable[Commit], kind: Kind, title: str = "") -> Series:
    """Return a series of these commits, without those that are no step of a person's work."""
    read = list(commits)
    return Series(
        kind=kind, title=title, commits=tuple(commit for commit in read if not commit.left_out),
        left_out=dict(Counter(commit.left_out for commit in read if commit.left_out)),
    )  # fmt: skip


class _Topic:
    def __init__(self, number: int) -> None:
        self.files: set[str] = set()
        self.commits: list[Commit] = []
        self.last = number

    def take(self, commit: Commit, files: set[str], number: int) -> None:
        self.files |= files
        self.commits.append(commit)
        self.last = number


def topics(commits: Iterable[Commit]) -> Iterator[Series]:
    """Yield the topics among commits: a commit joins the one it shares most files with, a third of its own at least."""
    steps = [commit for commit in commits if not commit.left_out]
    touched = Counter(change.path for commit in steps for change in commit.changes)
    many = max(8, _COMMON * len(steps))
    live: list[_Topic] = []
    for number, commit in enumerate(steps):
        ended = [topic for topic in live if number - topic.last > _IDLE or len(topic.commits) >= LONGEST]
        yield from _long_enough(ended)
        live = [topic for topic in live if topic not in ended]
        files = {change.path for change in commit.changes}
        files = {path for path in files if touched[path] < many and not _HUB.search(path)} or files
        shared = [(len(files & topic.files), topic.last, topic) for topic in live]
        best = max(shared, key=lambda item: item[:2], default=None)
        if best is None or 3 * best[0] < len(files) or not best[0]:
            live.append(_Topic(number))
            best = (0, number, live[-1])
        best[2].take(commit, files, number)
    yield from _long_enough(live)


def _long_enough(found: list[_Topic]) -> Iterator[Series]:
    for topic in found:
        if len(topic.commits) >= SHORTEST:
            yield Series(kind="topic", commits=tuple(topic.commits))


def windows(commits: Iterable[Commit], size: int = 8) -> Iterator[Series]:
    """Yield stretches of `size` commits one after the other; a merge ends one."""
    group: list[Commit] = []
    for commit in commits:
        if len(commit.parents) > 1 or len(group) == size:
            yield from _stretch(group)
            group = []
        if len(commit.parents) < 2:
            group.append(commit)
    yield from _stretch(group)


def _stretch(group: list[Commit]) -> Iterator[Series]:
    made = one_series(group, "window")
    if len(made.commits) >= SHORTEST:
        yield made
