"""The store of the worktree we are in."""

from __future__ import annotations

import os
from pathlib import Path

from passdown.config import Config
from passdown.repository.locate import read_layout
from passdown.store.shelves import Shelves, Store, read_store, shelves


def shelves_of(root: Path, config: Config) -> Shelves:
    """Return where the packets of the worktree at `root` lie. Raises `UnsafeError` when that leads elsewhere."""
    return shelves(root, common_dir_of(root), config)


def store_of(root: Path, config: Config) -> Store:
    """Read both shelves of the worktree at `root`."""
    return read_store(shelves_of(root, config))


def common_dir_of(root: Path) -> Path:
    """Return the git folder that all worktrees share. Asks git only where the folder itself does not say."""
    folder = root / ".git"
    if folder.is_dir() and not (folder / "commondir").exists():
        return Path(os.path.realpath(folder))
    return read_layout(root).common_dir
