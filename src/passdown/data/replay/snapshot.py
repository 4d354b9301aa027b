"""A snapshot of a replayed run: what differs from the base, under one name for equal trees."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Protocol

from passdown.data.records import FileState, Snapshot, Trajectory
from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.volatile import volatile_at

_APART = ("/tmp/", "/private/tmp/", "/var/tmp/", "/var/folders/", "/private/var/folders/", "/dev/")  # noqa: S108
PLAIN, EXECUTABLE = "100644", "100755"


def is_apart(path: str) -> bool:
    """Say whether a path is of no tree: temporary, in somebody's home, or named by a variable that nobody knows."""
    return path[:1] in ("~", "$", "") or path.startswith(_APART)


def state_id(snapshot: Snapshot) -> str:
    """Return one name for equal states: the snapshot's own, and another where git holds something of its own."""
    in_git = sorted(f"{one.key}\x1f{one.value}" for one in snapshot.volatile if one.kind == "git")
    if not in_git:
        return snapshot.snapshot_id
    return hashlib.sha256("\x1e".join([snapshot.snapshot_id, *in_git]).encode("utf-8", "surrogateescape")).hexdigest()


def is_outside(path: str) -> bool:
    """Say whether a path is of another place than the workspace, whose own paths are relative."""
    return path.startswith(("/", "~", "../")) or path[1:3] == ":/"


class State(Protocol):
    """What is needed of a replay."""

    @property
    def trajectory(self) -> Trajectory:
        """Return the run."""

    def changed(self, k: int) -> dict[str, str]:
        """Return path → content digest, '' for gone, '?' for not known, of the files changed by then."""

    def modes(self, k: int) -> Mapping[str, bool]:
        """Return the files whose executable bit is known to be set or taken."""

    def content(self, k: int, path: str) -> bytes | None:
        """Return a file's bytes."""

    def exact(self, k: int) -> bool:
        """Say whether everything is known and no look tells otherwise."""


def snapshot_of(state: State, k: int, blobs: BlobStore | None = None) -> Snapshot:
    """Return the state after `k` steps; known contents are kept in `blobs` when it is given."""
    delta: list[FileState] = []
    changed = {path: digest for path, digest in state.changed(k).items() if not is_apart(path)}
    modes = {path: executable for path, executable in state.modes(k).items() if not is_apart(path)}
    for path in modes:
        if path not in changed and (content := state.content(k, path)) is not None:
            changed[path] = hashlib.sha256(content).hexdigest()
    dirty = tuple(sorted(path for path, digest in changed.items() if digest == "?"))
    for path, digest in sorted(changed.items()):
        if digest == "?":
            continue
        if blobs is not None and digest and (content := state.content(k, path)) is not None:
            blobs.put(content)
        mode = EXECUTABLE if digest and modes.get(path) else PLAIN
        delta.append(FileState(path=path, mode=mode, blob=digest))
    trajectory = state.trajectory
    return Snapshot(
        snapshot_id=snapshot_id(delta, dirty), base_commit=trajectory.base_commit, delta=tuple(delta),
        volatile=volatile_at(trajectory, k), dirty=dirty, exact=state.exact(k),
    )  # fmt: skip


def snapshot_id(delta: Iterable[FileState], dirty: Iterable[str]) -> str:
    """Return the sha256 of the sorted (path, mode, blob); files whose content is not known count with a `?`."""
    rows = [f"{file.path}\x1f{file.mode}\x1f{file.blob}" for file in delta] + [f"{path}\x1f\x1f?" for path in dirty]
    return hashlib.sha256("\x1e".join(sorted(rows)).encode("utf-8", "surrogateescape")).hexdigest()
