"""The virtual file system: recorded edits applied to what is known of the files, held against what was read later."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from passdown.data.actions.edits import file_operations
from passdown.data.actions.operations import Copy, Delete, Opaque, Operation, Restore, Undo
from passdown.data.records import Action, FileState, Snapshot, Step, Trajectory
from passdown.data.replay.apply import applied
from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.contents import GONE, UNKNOWN, Content, Gone, Whole, seen
from passdown.data.replay.showing import shown
from passdown.data.replay.volatile import volatile_at
from passdown.model.session import ToolCall, ToolResult

MOST_FILES = 2000


class Version(NamedTuple):
    """A content from `k` complete steps on. `changed` is False where only more of it was seen."""

    k: int
    content: Content
    changed: bool


class Seen(NamedTuple):
    """One look at a file, and whether what was shown agrees with the replay; None when nothing could be held to it."""

    k: int
    path: str
    agrees: bool | None


class Replay:
    """The files of a trajectory at every cut. Make one with `replay`."""

    def __init__(self, trajectory: Trajectory, base: Mapping[str, bytes] | None) -> None:
        self.trajectory = trajectory
        self.base = base
        self.versions: dict[str, list[Version]] = {}
        self.looks: list[Seen] = []
        self.untold: list[int] = []
        for step in trajectory.steps:
            self._take(step)

    # --- reading the run ---------------------------------------------------------------------------------------------

    def _take(self, step: Step) -> None:
        calls = {event.call_id: event for event in step.events if isinstance(event, ToolCall)}
        results = {event.call_id: event for event in step.events if isinstance(event, ToolResult)}
        counts: dict[str, int] = {}
        for action in step.actions:
            counts[action.call_id] = counts.get(action.call_id, 0) + 1
        for action in step.actions:
            call = calls.get(action.call_id)
            if call is None or action.ok is False:
                continue
            if action.writes or action.kind in ("EDIT", "CREATE", "DELETE"):
                for operation in file_operations(call, action):
                    self._apply(operation, step.idx + 1)
            elif action.kind == "READ" and (result := results.get(action.call_id)) is not None:
                self._look(call, result, action, step.idx + 1, alone=counts[action.call_id] == 1)

    def _look(self, call: ToolCall, result: ToolResult, action: Action, k: int, *, alone: bool) -> None:
        found = shown(call, result, action, alone)
        if found is None or self._full(found.path):
            return
        content, agrees = seen(self._now(found.path), found.lines, whole=found.whole)
        self.looks.append(Seen(k, found.path, agrees))
        self._set(found.path, k, content, changed=False)

    def _apply(self, operation: Operation, k: int) -> None:
        path = operation.path
        if isinstance(operation, Opaque | Restore | Delete) and path in (".", "*", ""):
            self._whole_tree(operation, k)
        elif self._full(path):
            self.untold.append(k)
        elif isinstance(operation, Delete):
            folder = f"{path.rstrip('/')}/"
            for name in [name for name in self.versions if name.startswith(folder)]:
                self._set(name, k, GONE)
            self._set(path, k, GONE)
        elif isinstance(operation, Restore):
            self._set(path, k, self._based(path))
        elif isinstance(operation, Undo):
            changes = [version for version in self.versions.get(path, ()) if version.changed]
            self._set(path, k, changes[-2].content if len(changes) > 1 else self._based(path))
        elif isinstance(operation, Copy):
            self._set(path, k, self._now(operation.source))
            if operation.move:
                self._set(operation.source, k, GONE)
        else:
            self._set(path, k, applied(operation, self._now(path)))  # type: ignore[arg-type]

    def _whole_tree(self, operation: Operation, k: int) -> None:
        if isinstance(operation, Restore) and not operation.revision:
            for name in list(self.versions):
                self._set(name, k, self._based(name))
        else:
            self.untold.append(k)

    def _full(self, path: str) -> bool:
        return path not in self.versions and len(self.versions) >= MOST_FILES

    def _based(self, path: str) -> Content:
        if self.base is None:
            return UNKNOWN
        found = self.base.get(path)
        return GONE if found is None else Whole(found.decode("utf-8", "surrogateescape"))

    def _now(self, path: str) -> Content:
        versions = self.versions.get(path)
        return versions[-1].content if versions else self._based(path)

    def _set(self, path: str, k: int, content: Content, *, changed: bool = True) -> None:
        self.versions.setdefault(path, []).append(Version(k, content, changed))

    # --- answers -----------------------------------------------------------------------------------------------------

    def _at(self, k: int, path: str) -> Version | None:
        found = None
        for version in self.versions.get(path, ()):
            if version.k > k:
                break
            found = version
        return found

    def content(self, k: int, path: str) -> bytes | None:
        """Return a file's bytes after `k` steps, None when there is no such file or its content is not known."""
        version = self._at(k, path)
        content = version.content if version else self._based(path)
        return content.text.encode("utf-8", "surrogateescape") if isinstance(content, Whole) else None

    def changed(self, k: int) -> dict[str, str]:
        """Return the files changed in the first `k` steps: path → sha256 of the content, '' gone, '?' not known."""
        found: dict[str, str] = {}
        for path in sorted(self.versions):
            if any(version.changed and version.k <= k for version in self.versions[path]):
                version = self._at(k, path)
                content = version.content if version else UNKNOWN
                if self.base is None or content != self._based(path):
                    found[path] = _digest(content)
        return found

    def last_change(self, path: str) -> int | None:
        """Return the index of the last step that changed a file, None when none did."""
        changes = [version.k for version in self.versions.get(path, ()) if version.changed]
        return changes[-1] - 1 if changes else None

    def exact(self, k: int) -> bool:
        """Say whether every file changed by then is known whole and no later look at it tells otherwise."""
        if any(at <= k for at in self.untold):
            return False
        return all(digest != "?" and self._agrees(k, path) for path, digest in self.changed(k).items())

    def _agrees(self, k: int, path: str) -> bool:
        """Hold a file's state at `k` against the looks at it until it changes again."""
        later = [version.k for version in self.versions[path] if version.changed and version.k > k]
        until = later[0] if later else len(self.trajectory.steps) + 1
        began = max((version.k for version in self.versions[path] if version.changed and version.k <= k), default=0)
        return all(look.agrees is not False for look in self.looks if look.path == path and began <= look.k < until)

    def snapshot(self, k: int, blobs: BlobStore | None = None) -> Snapshot:
        """Return the state after `k` steps; known contents are kept in `blobs` when it is given."""
        delta: list[FileState] = []
        dirty: list[str] = []
        for path, digest in self.changed(k).items():
            if digest == "?":
                dirty.append(path)
                continue
            if blobs is not None and digest and (content := self.content(k, path)) is not None:
                blobs.put(content)
            delta.append(FileState(path=path, blob=digest))
        return Snapshot(
            snapshot_id=snapshot_id(delta, dirty), base_commit=self.trajectory.base_commit, delta=tuple(delta),
            volatile=volatile_at(self.trajectory, k), dirty=tuple(dirty), exact=self.exact(k),
        )  # fmt: skip


def replay(trajectory: Trajectory, base: Mapping[str, bytes] | None = None) -> Replay:
    """Follow the files through a trajectory. `base` holds every file at its beginning, None when nobody knows them."""
    return Replay(trajectory, base)


def snapshot_id(delta: list[FileState], dirty: list[str]) -> str:
    """Return the sha256 of the sorted (path, mode, blob); files whose content is not known count with a `?`."""
    rows = [f"{file.path}\x1f{file.mode}\x1f{file.blob}" for file in delta] + [f"{path}\x1f\x1f?" for path in dirty]
    return hashlib.sha256("\x1e".join(sorted(rows)).encode("utf-8", "surrogateescape")).hexdigest()


def _digest(content: Content) -> str:
    if isinstance(content, Whole):
        return hashlib.sha256(content.text.encode("utf-8", "surrogateescape")).hexdigest()
    return "" if isinstance(content, Gone) else "?"
