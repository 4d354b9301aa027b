"""The virtual file system: recorded edits applied to what is known of the files, held against what was read later."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple, cast

from passdown.data.actions.edits import file_operations
from passdown.data.actions.operations import AnyOperation, Copy, Delete, Mode, Opaque, Operation, Restore, Undo
from passdown.data.records import Action, Snapshot, Step, Trajectory
from passdown.data.replay.apply import applied
from passdown.data.replay.blobs import BlobStore
from passdown.data.replay.contents import GONE, UNKNOWN, Content, Gone, Lines, Unknown, Whole, seen
from passdown.data.replay.rewriting import rewritten, script_of
from passdown.data.replay.showing import Shown, shown, shown_by_diff
from passdown.data.replay.snapshot import is_apart, snapshot_of
from passdown.data.replay.staging import Staging, git_words
from passdown.model.session import ToolCall, ToolResult

MOST_FILES = 2000
_WHOLE_TREE = frozenset({".", "*", ""})


class Version(NamedTuple):
    """A content from `k` complete steps on.

    `cause`: an operation `changed` it; a look showed `more` of it, or that it is not what it was (`other`). `order`
    counts versions and looks as they came.
    """

    k: int
    content: Content
    cause: Literal["changed", "more", "other"]
    order: int


class Seen(NamedTuple):
    """One look at a file, and whether what was shown agrees with the replay; None when nothing could be held to it."""

    k: int
    path: str
    agrees: bool | None
    order: int


class Replay:
    """The files of a trajectory at every cut. Make one with `replay`."""

    def __init__(self, trajectory: Trajectory, base: Mapping[str, bytes] | None) -> None:
        self.trajectory = trajectory
        self.base = base
        self.versions: dict[str, list[Version]] = {}
        self.looks: dict[str, list[Seen]] = {}
        self.untold: list[tuple[int, str]] = []
        self._order = 0
        self._storms: list[int] = []
        self._first: dict[str, Content] = {}
        self._bits: list[tuple[int, str, bool]] = []
        self._staging = Staging()
        self._digests: dict[str, str] = {}
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
            result = results.get(action.call_id)
            refused = result is not None and result.outcome == "failed" and call is not None and call.action != "run"
            if call is not None and not refused:  # a tool that fails does nothing of what it was to do
                self._act(call, action, step.idx + 1)
                if result is not None and action.ok is not False and counts[action.call_id] == 1:
                    self._look(call, result, action, step.idx + 1)

    def _act(self, call: ToolCall, action: Action, k: int) -> None:
        if (script := script_of(action)) and script in self.versions:
            content = self._now(script)
            if isinstance(content, Whole):
                for change in rewritten(content.text, self.trajectory.root, ended=action.ok is True):
                    self._apply(change, k)
        if action.ok is False:
            return
        if action.kind == "VCS" and self._by_git(action, k):
            return
        if action.writes or action.kind in ("EDIT", "CREATE", "DELETE"):
            for operation in file_operations(call, action):
                self._apply(operation, k)

    def _look(self, call: ToolCall, result: ToolResult, action: Action, k: int) -> None:
        if action.kind in ("VCS", "SUBMIT"):
            for found in shown_by_diff(call, result, action):
                self._see(found, k)
            return
        path = action.reads[0] if action.kind == "READ" and len(action.reads) == 1 else ""
        if action.kind in ("EDIT", "CREATE") and call.action != "run":
            path = action.target
        if path and (one := shown(call, result, action, path)) is not None:
            self._see(one, k)

    def _see(self, found: Shown, k: int) -> None:
        if self._full(found.path):
            return
        content, agrees = seen(self._now(found.path), found.lines, whole=found.whole)
        self._order += 1
        self.looks.setdefault(found.path, []).append(Seen(k, found.path, agrees, self._order))
        if found.path not in self.versions and self.base is None:
            self._first[found.path] = content
        self._set(found.path, k, content, "other" if agrees is False else "more")

    def _apply(self, operation: Operation, k: int) -> None:
        path = operation.path
        if isinstance(operation, Mode):
            if operation.executable is not None:
                self._bits.append((k, path, operation.executable))
        elif isinstance(operation, Opaque | Restore | Delete) and path in _WHOLE_TREE:
            self._whole_tree(operation, k)
        elif self._full(path):
            self.untold.append((k, path))
        elif isinstance(operation, Delete):
            for name in self._under(path):
                self._set(name, k, GONE)
        elif isinstance(operation, Restore):
            self._restore(path, operation.revision, k)
        elif isinstance(operation, Undo):
            changes = [version for version in self.versions.get(path, ()) if version.cause != "more"]
            self._set(path, k, changes[-2].content if len(changes) > 1 else self._based(path))
        elif isinstance(operation, Copy):
            self._copy(operation, k)
        else:
            self._change(cast("AnyOperation", operation), k)

    def _change(self, operation: AnyOperation, k: int) -> None:
        path = operation.path
        before = self._now(path)
        if path not in self.versions and self.base is None:
            self._first[path] = GONE if operation.__struct_config__.tag == "write" else UNKNOWN
        after = applied(operation, before)
        if isinstance(operation, Opaque) or (isinstance(after, Unknown) and isinstance(before, Whole | Gone)):
            self.untold.append((k, path))
        self._set(path, k, after)

    def _under(self, path: str) -> list[str]:
        """Return the known files that a path names: itself, what lies in the folder, what the wildcards are for."""
        names = {*self.versions, *(self.base or ())}
        if any(mark in path for mark in "*?["):
            return sorted(name for name in names if fnmatchcase(name, path) or fnmatchcase(name, f"{path}/*"))
        folder = f"{path.rstrip('/')}/"
        return sorted(name for name in names if name.startswith(folder)) or [path]

    def _copy(self, operation: Copy, k: int) -> None:
        source = operation.source.rstrip("/")
        inner = [name for name in self._under(source) if name != source]
        pairs = [(name, operation.path + name[len(source) :]) for name in inner] or [(source, operation.path)]
        for name, path in pairs:
            if path not in self.versions and self.base is None:
                self._first[path] = GONE
            self._set(path, k, self._now(name))
            if operation.move:
                self._set(name, k, GONE)

    # --- git ---------------------------------------------------------------------------------------------------------

    def _by_git(self, action: Action, k: int) -> bool:
        """Follow what git does with its own contents; False for what is a plain operation on files, or not known."""
        words = git_words(action)
        what = action.target.split(" ")[0]
        if what == "add":
            self._staging.add(words, self._touched(), self._now)
        elif what == "commit":
            self._staging.commit(words, self._touched(), self._now)
        elif what == "clean" and any(word[:1] == "-" and "f" in word for word in words) and "-n" not in words:
            for path in self._touched():
                if isinstance(self._based(path), Gone) and path not in self._staging.head | self._staging.index:
                    self._set(path, k, GONE)
        elif what == "stash":
            return self._stash(action.target.removeprefix("stash").strip(), k)
        else:
            return False
        return True

    def _stash(self, verb: str, k: int) -> bool:
        if verb in ("pop", "apply"):
            contents = self._staging.unstash(keep=verb == "apply")
            for path, content in (contents or {}).items():
                self._set(path, k, content)
            return contents is not None
        if verb in ("list", "show", "drop"):
            return True
        if verb not in ("", "push", "save"):
            return False
        known = {path: self._now(path) for path in self._touched() if not isinstance(self._held(path), Gone)}
        self._staging.stash({path: content for path, content in known.items() if content != self._held(path)})
        for path in known:
            self._set(path, k, self._held(path))
        return True

    def _touched(self) -> list[str]:
        return [path for path, versions in self.versions.items() if any(one.cause != "more" for one in versions)]

    def _held(self, path: str, revision: str = "HEAD") -> Content:
        found = self._staging.holds(path, revision)
        return self._based(path) if found is None else found

    def _restore(self, path: str, revision: str, k: int) -> None:
        for name in self._under(path):
            if revision in ("", "HEAD"):
                self._set(name, k, self._held(name, revision))
            else:
                self.untold.append((k, name))
                self._set(name, k, UNKNOWN)

    def _whole_tree(self, operation: Operation, k: int) -> None:
        if isinstance(operation, Restore) and operation.revision in ("", "HEAD"):
            for name in self._touched():
                held = self._held(name, operation.revision)
                if not isinstance(held, Gone):
                    self._set(name, k, held)
        else:
            self.untold.append((k, "."))
            self._order += 1
            self._storms.append(self._order)

    # --- contents ----------------------------------------------------------------------------------------------------

    def _full(self, path: str) -> bool:
        return path not in self.versions and len(self.versions) >= MOST_FILES

    def _based(self, path: str) -> Content:
        if self.base is None:
            return self._first.get(path, UNKNOWN)
        found = self.base.get(path)
        if found is None and path[:1] in ("/", "~", "$"):
            return self._first.get(path, UNKNOWN)  # the base tells of the workspace alone
        return GONE if found is None else Whole(found.decode("utf-8", "surrogateescape"))

    def _now(self, path: str) -> Content:
        versions = self.versions.get(path)
        return versions[-1].content if versions else self._based(path)

    def _set(self, path: str, k: int, content: Content, cause: Literal["changed", "more", "other"] = "changed") -> None:
        self._order += 1
        self.versions.setdefault(path, []).append(Version(k, content, cause, self._order))

    def _at(self, k: int, path: str) -> Content:
        found = None
        for version in self.versions.get(path, ()):
            if version.k > k:
                break
            found = version.content
        return self._based(path) if found is None else found

    # --- answers -----------------------------------------------------------------------------------------------------

    def content(self, k: int, path: str) -> bytes | None:
        """Return a file's bytes after `k` steps, None when there is no such file or its content is not known.

        Where the base is not known, what a run showed decides; of a last line nobody sees whether it was ended, so it
        is taken to be.
        """
        content = self._at(k, path)
        return content.text.encode("utf-8", "surrogateescape") if isinstance(content, Whole) else None

    def lines(self, k: int, path: str) -> dict[int, str]:
        """Return the known lines of a file after `k` steps by their number from 1; empty when none is known."""
        content = self._at(k, path)
        if isinstance(content, Whole):
            return dict(enumerate(content.text.removesuffix("\n").split("\n"), 1)) if content.text else {}
        return dict(content.known) if isinstance(content, Lines) else {}

    def changed(self, k: int) -> dict[str, str]:
        """Return the files changed in the first `k` steps: path → sha256 of the content, '' gone, '?' not known."""
        found: dict[str, str] = {}
        for path in sorted(self.versions):
            if any(version.cause != "more" and version.k <= k for version in self.versions[path]):
                content, before = self._at(k, path), self._based(path)
                if content != before or isinstance(content, Unknown | Lines):
                    found[path] = self._digest(content)
        return found

    def changes(self, path: str) -> tuple[int, ...]:
        """Return the cuts from which on a file had another content than before, as far as that was told or seen."""
        return tuple(dict.fromkeys(one.k for one in self.versions.get(path, ()) if one.cause != "more"))

    def last_change(self, path: str) -> int | None:
        """Return the index of the last step that changed a file, None when none did."""
        changes = [one.k for one in self.versions.get(path, ()) if one.cause == "changed"]
        return changes[-1] - 1 if changes else None

    def modes(self, k: int) -> dict[str, bool]:
        """Return the files whose executable bit was set (or taken) in the first `k` steps."""
        return {path: executable for at, path, executable in self._bits if at <= k}

    def exact(self, k: int) -> bool:
        """Say whether every file changed by then is known whole and no later look at it tells otherwise.

        That is about a tree: temporary files and those in somebody's home do not matter.
        """
        known = (digest != "?" or is_apart(path) for path, digest in self.changed(k).items())
        return self.consistent(k) and all(known)

    def consistent(self, k: int) -> bool:
        """Say whether every change until then could be followed, and no look tells otherwise.

        That is what makes a point exact once the base tree is at hand; `exact` says that it is without.
        """
        inside = ((at, path) for at, path in self.untold if at <= k and not is_apart(path))
        if any(path == "." or self._is_stale(at, path, k) for at, path in inside):
            return False
        return all(self._agrees(k, path) for path in self.versions if not is_apart(path))

    def _is_stale(self, at: int, path: str, k: int) -> bool:
        """Say whether what was not told of a file at a step is still not known at `k`."""
        return not any(
            at <= one.k <= k and isinstance(one.content, Whole | Gone) for one in self.versions.get(path, ())
        )

    def _agrees(self, k: int, path: str) -> bool:
        """Hold a file's state at `k` against the looks at it from when it became so until it may change again."""
        looks = self.looks.get(path)
        if not looks or all(look.agrees is not False for look in looks):
            return True
        began, until = 0, self._order + 1
        for version in self.versions[path]:
            if version.k <= k and version.cause != "more":
                began = version.order
            elif version.k > k and version.cause == "changed":
                until = version.order
                break
        until = min((storm for storm in self._storms if began < storm < until), default=until)
        return all(look.agrees is not False for look in looks if began < look.order < until)

    def snapshot(self, k: int, blobs: BlobStore | None = None) -> Snapshot:
        """Return the state after `k` steps; known contents are kept in `blobs` when it is given."""
        return snapshot_of(self, k, blobs)

    def _digest(self, content: Content) -> str:
        if not isinstance(content, Whole):
            return "" if isinstance(content, Gone) else "?"
        digest = self._digests.get(content.text)
        if digest is None:
            digest = hashlib.sha256(content.text.encode("utf-8", "surrogateescape")).hexdigest()
            self._digests[content.text] = digest
        return digest


def replay(trajectory: Trajectory, base: Mapping[str, bytes] | None = None) -> Replay:
    """Follow the files through a trajectory. `base` holds every file at its beginning, None when nobody knows them."""
    return Replay(trajectory, base)
