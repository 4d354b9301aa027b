"""The tree that a run began with: from a git repository that the user names, or of a small world of our own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from passdown.data.records import Trajectory
from passdown.errors import UsageError
from passdown.io.git import run_git, try_git
from passdown.model.pattern import lazy_pattern

MOST_BYTES = 256 << 20
"""Bytes of a tree that is taken as a whole; a larger one is not run again."""

_COMMIT = lazy_pattern(r"[0-9a-f]{7,64}")
_NAME = lazy_pattern(r"[\w.-]{1,100}(?:/[\w.-]{1,100}){0,3}")
_LINK = "120000"


class GitTree(Mapping[str, bytes]):
    """The files of a commit by path, each read when it is asked for. What a symlink leads to stands for it."""

    def __init__(self, folder: Path, commit: str) -> None:
        self.folder = folder
        self.modes: dict[str, str] = {}
        self._objects: dict[str, tuple[str, int]] = {}
        self._read: dict[str, bytes] = {}
        for row in run_git(folder, "ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0"):
            facts, _, name = row.partition(b"\t")
            words = facts.decode("ascii", "replace").split()
            if len(words) == 4 and words[1] == "blob":
                path = name.decode("utf-8", "surrogateescape")
                self.modes[path] = words[0]
                self._objects[path] = (words[2], int(words[3]))
        self.size = sum(size for _, size in self._objects.values())

    def __getitem__(self, path: str) -> bytes:
        found = self._raw(path)
        if self.modes[path] != _LINK:
            return found
        parts = [*path.split("/")[:-1], *found.decode("utf-8", "surrogateescape").split("/")]
        clean: list[str] = []
        for part in parts:
            if part == "..":
                if not clean:
                    raise KeyError(path)
                clean.pop()
            elif part not in ("", "."):
                clean.append(part)
        target = "/".join(clean)
        if self.modes.get(target, _LINK) == _LINK:
            raise KeyError(path)
        return self._raw(target)

    def _raw(self, path: str) -> bytes:
        name, size = self._objects[path]
        if path not in self._read:
            if size > MOST_BYTES:
                raise KeyError(path)
            self._read[path] = run_git(self.folder, "cat-file", "blob", name)
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

    def whole(self) -> dict[str, bytes]:
        """Return every file; of a symlink, where it leads. Empty when that is too much."""
        if self.size > MOST_BYTES:
            return {}
        names = {path: name for path, (name, _) in self._objects.items()}
        wanted = list(dict.fromkeys(names.values()))
        output = run_git(self.folder, "cat-file", "--batch", stdin="".join(f"{name}\n" for name in wanted).encode())
        contents: dict[str, bytes] = {}
        at = 0
        for name in wanted:
            end = output.index(b"\n", at)
            size = int(output[at:end].split()[2])
            contents[name] = output[end + 1 : end + 1 + size]
            at = end + size + 2
        return {path: contents[name] for path, name in names.items()}


class Base(NamedTuple):
    """What a run began with: files by path, git's modes where they are not plain, the past as `git fast-import` reads
    it (empty: one commit stands for it)."""

    files: Mapping[str, bytes]
    modes: Mapping[str, str] = {}
    history: bytes = b""

    def whole(self) -> dict[str, bytes]:
        """Return every file at once."""
        return self.files.whole() if isinstance(self.files, GitTree) else dict(self.files)


class _Told(msgspec.Struct):
    continues: str = ""


def find_base(trajectory: Trajectory, folder: Path | None = None) -> Base | None:
    """Return the tree that a trajectory began with, None when nobody has it.

    A world's run has its world. For any other one `folder` holds git repositories: a folder called as the trajectory's
    repository is (`owner/name`, `owner__name` or `name`, also with `.git` behind it) that has its base commit.
    """
    if trajectory.provenance.source == "worlds":
        return _world(trajectory)
    if folder is None or not _NAME.fullmatch(trajectory.repo) or not _COMMIT.fullmatch(trajectory.base_commit):
        return None
    for place in _places(folder, trajectory.repo):
        if place.is_dir() and (commit := _commit(place, trajectory.base_commit)):
            tree = GitTree(place, commit)
            return Base(tree, tree.modes)
    return None


def mark_of(folder: Path | None) -> str:
    """Return what changes when repositories in a folder do: the digest of their names and of what they name.

    Raises `UsageError` when there is no such folder.
    """
    if folder is None:
        return ""
    if not folder.is_dir():
        raise UsageError("there is no such folder of base repositories", where=str(folder))
    digest = hashlib.sha256()
    for place in sorted((*folder.glob("*"), *folder.glob("*/*"))):
        if (place / ".git").exists() or (place / "objects").is_dir():
            code, refs, _ = try_git(place, "for-each-ref", "--format=%(objectname) %(refname)")
            digest.update(f"{place.relative_to(folder)}\0{code}\0".encode("utf-8", "surrogateescape") + refs)
    return digest.hexdigest()


def _places(folder: Path, repo: str) -> Iterator[Path]:
    if ".." in repo.split("/"):
        return
    for name in dict.fromkeys((repo, repo.replace("/", "__"), repo.rpartition("/")[2])):
        yield folder / name
        yield folder / f"{name}.git"


def _commit(place: Path, name: str) -> str:
    """Return the whole id of a commit, empty when this is no repository of its own or has none of that name."""
    if not (place / ".git").exists() and not (place / "objects").is_dir():
        return ""  # git would look further up
    code, output, _ = try_git(place, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return output.decode().strip() if code == 0 else ""


def _world(trajectory: Trajectory) -> Base | None:
    """Return a world's beginning; a successor's run began with what another left behind."""
    from passdown.data.worlds.desk import as_bytes
    from passdown.data.worlds.past import imported
    from passdown.data.worlds.table import world_of

    try:
        told = msgspec.json.decode(trajectory.extras or "{}", type=_Told)
    except msgspec.DecodeError:
        return None
    world = world_of(trajectory)
    return Base(as_bytes(world.files), {}, imported(world.history)) if world and not told.continues else None
