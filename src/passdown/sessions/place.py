"""Whose folder a session worked in: this worktree, another worktree of the repository, or something else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from passdown.errors import PassdownError
from passdown.io.files import read_bounded
from passdown.model.pattern import lazy_pattern

if TYPE_CHECKING:
    from passdown.model.evidence import RepositoryFacts
    from passdown.sessions.here import Here

Where = Literal["here", "worktree", "elsewhere", "gone", "unknown"]
"""`gone`: the folder does not exist any more, and no repository that does holds it. `unknown`: the log does not say."""

_OTHER_SYSTEM = lazy_pattern(r"[A-Za-z]:[\\/]|\\\\")


class Places:
    """Answers for one repository; each folder is looked at once."""

    def __init__(self, repository: RepositoryFacts | Here) -> None:
        self.root = os.path.realpath(repository.root)
        common = Path(repository.common_dir or self.root)
        listed = [worktree.path for worktree in repository.worktrees]
        if common.name == ".git":
            listed.append(str(common.parent))
        others = {os.path.realpath(path) for path in listed if "\0" not in path} - {self.root}
        self._others = sorted(path for path in others if not os.path.lexists(path) or _belongs(Path(path), common))
        self._known: dict[str, Where] = {}

    def of(self, folder: str) -> Where:
        """Say where a session's folder lies, symlinks resolved."""
        known = self._known.get(folder)
        if known is None:
            known = self._known[folder] = self._look(folder)
        return known

    def _look(self, folder: str) -> Where:
        if _OTHER_SYSTEM.match(folder) and os.sep == "/":
            return "gone"
        if not Path(folder).is_absolute():
            return "unknown"
        try:
            path = os.path.realpath(folder)
            exists = os.path.lexists(path)
        except (OSError, ValueError):
            return "unknown"
        holding = [root for root in (self.root, *self._others) if _is_under(path, root)]
        if holding:
            root = max(holding, key=len)
            if _other_repository(path, root):
                return "elsewhere"
            return "here" if root == self.root else "worktree"
        if exists:
            return "elsewhere"
        owner = _owner(path)
        return "gone" if owner is None or _is_under(self.root, owner) else "elsewhere"


def _is_under(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _other_repository(path: str, root: str) -> bool:
    """Say whether a repository of its own (a clone, a submodule) lies between the root and the folder."""
    between = (folder for folder in (Path(path), *Path(path).parents) if len(str(folder)) > len(root))
    return any(os.path.lexists(folder / ".git") for folder in between)


def _owner(path: str) -> str | None:
    """The root of the repository that the nearest existing folder above `path` belongs to."""
    return next((str(folder) for folder in Path(path).parents if os.path.lexists(folder / ".git")), None)


def _belongs(path: Path, common: Path) -> bool:
    # The list of worktrees is only a file in the git folder: it may name any folder on this machine.
    link = path / ".git"
    try:
        if link.is_dir():
            return os.path.realpath(link) == os.path.realpath(common)
        target = read_bounded(link, 1 << 16).decode("utf-8", "surrogateescape").strip().removeprefix("gitdir: ")
    except (OSError, PassdownError):
        return False
    return Path(os.path.realpath(path / target)).parent == Path(os.path.realpath(common)) / "worktrees"
