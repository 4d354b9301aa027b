"""Which repository a folder lies in, seen from its files alone: enough to tell whose sessions are whose."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from passdown.errors import PassdownError
from passdown.io.files import read_bounded

_LINK = 1 << 16
_MOST_WORKTREES = 1000


class Linked(NamedTuple):
    """Another worktree of the repository."""

    path: str


class Here(NamedTuple):
    """A repository's folders, as `Places` wants them."""

    root: str
    common_dir: str
    worktrees: tuple[Linked, ...]


def look_around(folder: Path) -> Here | None:
    """Return the repository that `folder` lies in; None where its `.git` is not of the plain kinds, so git must say."""
    if any(os.environ.get(name) for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES")):
        return None
    start = Path(os.path.realpath(folder))
    for root in (start, *start.parents):
        link = root / ".git"
        if link.is_dir() and (link / "HEAD").is_file() and (link / "objects").is_dir():
            return Here(str(root), str(link), _worktrees(link))
        if link.is_file():
            common = _common(root, link)
            return Here(str(root), str(common), _worktrees(common)) if common is not None else None
        if os.path.lexists(link):
            return None
    return None


def _common(root: Path, link: Path) -> Path | None:
    git_dir = Path(os.path.realpath(root / _line(link).removeprefix("gitdir: ")))
    if git_dir.parent.name != "worktrees":
        return git_dir if (git_dir / "objects").is_dir() else None  # a submodule has a folder of its own
    common = Path(os.path.realpath(git_dir / (_line(git_dir / "commondir") or "../..")))
    return common if (common / "objects").is_dir() else None


def _worktrees(common: Path) -> tuple[Linked, ...]:
    try:
        entries = sorted((common / "worktrees").iterdir())[:_MOST_WORKTREES]
    except OSError:
        return ()
    links = (_line(entry / "gitdir") for entry in entries)
    return tuple(Linked(str(Path(link).parent)) for link in links if link)


def _line(path: Path) -> str:
    try:
        return read_bounded(path, _LINK).decode("utf-8", "surrogateescape").strip()
    except (OSError, PassdownError):
        return ""
