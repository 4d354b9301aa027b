"""Where the packets of the worktree we are in lie, and the one writer of both shelves at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from passdown.config import Config, load_config
from passdown.errors import NoEvidenceError
from passdown.handoff.place import branch_on_shelf, find_root
from passdown.io.files import lock
from passdown.repository.locate import read_layout
from passdown.store.shelves import Shelves, Store, read_store, remove_leftovers, shelves

LOCK_WAIT = 10.0
"""Seconds a command waits for another one that is writing."""


class Place(Struct, frozen=True, kw_only=True):
    """A worktree: its root, its configuration, the git folder that all worktrees share, and its shelves.

    `branch` is the one that is checked out, as packets name it; None for a detached HEAD.
    """

    root: Path
    config: Config
    common_dir: Path
    shelves: Shelves
    branch: str | None

    def name(self, path: Path) -> str:
        """Return a file's path as a person here would name it."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)


def place_of(folder: Path) -> Place:
    """Return the place that `folder` lies in. Raises `NoEvidenceError` outside a repository."""
    root = find_root(folder)
    return place_at(root, load_config(root), common_dir_of(root))


def place_at(root: Path, config: Config, common_dir: Path) -> Place:
    """Return the place of a worktree whose folders are known. Raises `UnsafeError` when a shelf leads elsewhere."""
    return Place(
        root=root,
        config=config,
        common_dir=common_dir,
        shelves=shelves(root, common_dir, config),
        branch=branch_on_shelf(root),
    )


def store_of(root: Path, config: Config) -> Store:
    """Read both shelves of the worktree at `root`. Raises `UnsafeError` when one leads elsewhere."""
    return read_store(shelves(root, common_dir_of(root), config))


@contextmanager
def writing(place: Place, wait: float = LOCK_WAIT) -> Iterator[Store]:
    """Be the one writer of both shelves, with what lies there; what a killed writer left is removed.

    Raises `ConflictError` when another passdown goes on writing for `wait` seconds.
    """
    with lock(place.shelves.lock, wait=wait):
        store = read_store(place.shelves)
        remove_leftovers(store)
        yield store


def require_packets(store: Store, place: Place) -> None:
    """Raise `NoEvidenceError` when there is no packet at all."""
    if not store.packets:
        raise NoEvidenceError(
            "there is no packet here", where=place.config.output, next_step="Run `passdown wrap` to write one."
        )


def common_dir_of(root: Path) -> Path:
    """Return the git folder that all worktrees share. Asks git only where the folder itself does not say."""
    folder = root / ".git"
    if folder.is_dir() and not (folder / "commondir").exists():
        return Path(os.path.realpath(folder))
    return read_layout(root).common_dir
