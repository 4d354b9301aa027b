"""The newest commits of a history, read in one walk: most questions about commits are about these.

What lies further back is not known here and is left to git; a history that is shorter is known whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from passdown.io.git import ask_git
from passdown.repository.own import OwnPaths

KEPT = 20
"""Most commits that are read: the work of a session, at the price of one more git process."""

_MARK = "\x01"


class Step(Struct, frozen=True):
    """One commit: its tree, its committer date in seconds, its parents, and whether it touches passdown's own paths.

    `own` is False for a merge, which is compared with none of its parents.
    """

    tree: str
    at: int
    parents: tuple[str, ...]
    own: bool = False


class History(Struct, frozen=True):
    """The newest commits below `tip`, itself included, by their ids; `whole` says that there are no others."""

    tip: str = ""
    steps: Mapping[str, Step] = {}
    whole: bool = False

    def root(self) -> str:
        """Return the oldest commit without parents; empty when older ones are not known."""
        found = [(step.at, this) for this, step in self.steps.items() if not step.parents]
        return min(found)[1] if self.whole and found else ""

    def before(self, at: int, head: str) -> str | None:
        """Return the first commit of `head`'s first-parent line that is no newer than `at` (seconds).

        Empty when there is none, None when that is not known.
        """
        this = head
        while step := self.steps.get(this):
            if step.at <= at:
                return this
            if not step.parents:
                return ""
            this = step.parents[0]
        return None

    def touching_own(self, commits: Iterable[str]) -> frozenset[str] | None:
        """Return those of the commits that touch passdown's own paths; None when one of them is not known."""
        known = [(this, self.steps.get(this)) for this in commits]
        if not all(step for _, step in known):
            return None
        return frozenset(this for this, step in known if step and step.own)


def read_history(root: Path, tip: str, own: OwnPaths) -> History:
    """Read the newest commits of `tip` (a full id; empty: there are none). Where git refuses, none is known."""
    if not tip:
        return History()
    code, output, _ = ask_git(
        root, "log", f"-{KEPT}", "--format=%x01%H %T %ct %P", *_looking_at(own), tip, *_names(own)
    )
    return _history(tip, output.decode("utf-8", "replace")) if code == 0 else History(tip)


def _looking_at(own: OwnPaths) -> tuple[str, ...]:
    # Every commit is listed, whether it touches these paths or not; only what is listed below it is confined to them.
    return ("--full-history", "--sparse", "--root", "--no-follow", "--name-only") if own.names else ()


def _names(own: OwnPaths) -> tuple[str, ...]:
    return ("--", *(f":(top,literal){os.fsdecode(name)}" for name in sorted(own.names)))


def _history(tip: str, output: str) -> History:
    steps: dict[str, Step] = {}
    for record in output.split(_MARK)[1:]:
        line, _, touched = record.partition("\n")
        this, tree, at, *parents = line.split(" ")
        parents = [parent for parent in parents if parent]
        steps[this] = Step(tree, int(at), tuple(parents), own=len(parents) < 2 and bool(touched.strip()))
    return History(tip, steps, whole=len(steps) < KEPT)
