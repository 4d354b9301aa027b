"""Train, validation and test by repository: all trajectories of one, and all that is made of them, on one side."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Literal

from msgspec import structs

from passdown.data.filters.result import Filtered
from passdown.data.records import Trajectory

Split = Literal["train", "validation", "test"]
_ANYWHERE = frozenset({
    "", "app", "code", "home", "mnt", "opt", "project", "repo", "root", "src", "testbed", "tmp", "work", "workdir",
    "workspace",
})  # fmt: skip
"""Folders that say nothing of what lies in them."""
_UNKNOWN = "?"


def group_of(trajectory: Trajectory) -> str:
    """Return what a trajectory must not be parted from: its repository, else the folder it worked in.

    Where neither is known it is one group for all such trajectories of a source, named with a `?`.
    """
    return group_named(trajectory.repo, trajectory.root, trajectory.provenance.source)


def group_named(repo: str, root: str, source: str) -> str:
    """Return the group of a trajectory that has this repository, folder and source."""
    if repo:
        return repo.strip("/").removesuffix(".git").lower()
    name = root.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    if name not in _ANYWHERE:
        return name
    return f"{_UNKNOWN}{source}"


def is_drawn(group: str) -> bool:
    """Say whether a group's name is drawn; where no repository is known it never is."""
    return not group.startswith(_UNKNOWN)


def check_shares(validation: float, test: float) -> None:
    """Raise `ValueError` for shares that are negative or leave nothing to train on."""
    if not (validation >= 0 and test >= 0 and validation + test < 1):
        raise ValueError(f"shares of {validation} for validation and {test} for test leave nothing to train on")


def side_of(group: str, *, seed: int = 0, validation: float = 0.05, test: float = 0.05) -> Split:
    """Return the side of a group. A group whose repository is not known is always trained on, never held out.

    Raises `ValueError` for shares that are negative or leave nothing to train on.
    """
    check_shares(validation, test)
    if not is_drawn(group):
        return "train"
    digest = hashlib.sha256(f"{seed}\x1f{group.rpartition('/')[2]}".encode("utf-8", "replace")).digest()
    place = int.from_bytes(digest[:8]) / 2**64
    return "test" if place < test else "validation" if place < test + validation else "train"


def split(
    trajectories: Iterable[Trajectory], *, seed: int = 0, validation: float = 0.05, test: float = 0.05
) -> Filtered:
    """Yield every trajectory with its side. A repository's name alone decides, so that forks of it stay together."""
    for trajectory in trajectories:
        side = side_of(group_of(trajectory), seed=seed, validation=validation, test=test)
        yield structs.replace(trajectory, split=side)
