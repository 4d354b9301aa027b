"""What an operator works on: the files and the notes of one cut, as they stand after the operators before it."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct, structs

from passdown.data.records import Fact, FileState, Prefix, Snapshot, Truth, View, Volatile
from passdown.data.replay.snapshot import is_outside, snapshot_id
from passdown.data.views.changes import ledger_of
from passdown.packet.tokens import estimate_tokens

LARGEST = 400_000
"""Most bytes of a file whose lines an operator changes."""


class Blobs(Protocol):
    """Where the contents of files are: bytes by the sha256 that `put` returned."""

    def get(self, sha: str, /) -> bytes:
        """Return the bytes."""

    def put(self, data: bytes, /) -> str:
        """Keep bytes and return their sha256."""


class MemoryBlobs:
    """Contents that are kept in memory alone."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def get(self, sha: str) -> bytes:
        """Return the bytes. Raises `KeyError` for what was never put."""
        return self._kept[sha]

    def put(self, data: bytes) -> str:
        """Keep bytes and return their sha256."""
        sha = hashlib.sha256(data).hexdigest()
        self._kept[sha] = data
        return sha


class InapplicableError(Exception):
    """An operator has nothing to work on here. `reason` is a few words that stay the same from row to row."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


class Scene(Struct, frozen=True, kw_only=True):
    """The cut as an operator finds it. `base` are the files of the base commit, None where nobody has them."""

    view: View
    snapshot: Snapshot | None = None
    blobs: Blobs | None = None
    base: Mapping[str, bytes] | None = None
    prefix: Prefix | None = None
    rewritten: bool = False

    @property
    def files(self) -> dict[str, FileState]:
        """What differs from the base commit, by path. Raises `InapplicableError` without a snapshot."""
        if self.snapshot is None:
            raise InapplicableError("no snapshot")
        return {state.path: state for state in self.snapshot.delta}

    def changed(self) -> tuple[str, ...]:
        """Return the paths whose content is known and differs from the base commit, in order. At least one.

        Files outside of the workspace are none of its: no look at the tree would show what became of them.
        """
        if self.blobs is None:
            raise InapplicableError("no contents of files")
        paths = [path for path, state in sorted(self.files.items()) if state.blob and not is_outside(path)]
        if not paths:
            raise InapplicableError("no file was changed")
        return tuple(paths)

    def content(self, path: str) -> bytes | None:
        """Return a file's bytes at this cut, None when it is not there or nobody knows."""
        state = self.files.get(path)
        if state is not None:
            return self.blobs.get(state.blob) if state.blob and self.blobs is not None else None
        unknown = self.snapshot is not None and path in self.snapshot.dirty
        return self.base.get(path) if self.base is not None and not unknown else None

    def text(self, path: str) -> str | None:
        """Return a file's text, None when it has none that lines can be changed in."""
        return decoded(self.content(path))

    def base_text(self, path: str) -> str | None:
        """Return the text that the base commit has, empty for a file that it lacks, None when nobody knows."""
        if self.base is None:
            return None
        return decoded(self.base[path]) if path in self.base else ""

    def paths(self) -> tuple[str, ...]:
        """Return every path that is known to be there."""
        gone = {path for path, state in self.files.items() if not state.blob}
        return tuple(sorted({*(self.base or ()), *self.files} - gone))

    def with_files(self, contents: Mapping[str, bytes | None], volatile: Iterable[Volatile] = ()) -> Scene:
        """Return the scene with other contents (None: the file is gone), and more state beside the files."""
        if self.snapshot is None or self.blobs is None:
            raise InapplicableError("no contents of files")
        delta = dict(self.files)
        for path, content in contents.items():
            before = delta.pop(path, None)
            state = self._state(path, content, before.mode if before is not None else "100644")
            if state is not None:
                delta[path] = state
        ordered = [state for _, state in sorted(delta.items())]
        dirty = [path for path in self.snapshot.dirty if path not in contents]
        snapshot = structs.replace(
            self.snapshot, snapshot_id=snapshot_id(ordered, dirty), delta=tuple(ordered), dirty=tuple(dirty),
            volatile=(*self.snapshot.volatile, *volatile),
        )  # fmt: skip
        return structs.replace(self, snapshot=snapshot)

    def _state(self, path: str, content: bytes | None, mode: str) -> FileState | None:
        """Return how a file differs from the base commit, None when it does not."""
        known = self.base.get(path) if self.base is not None else None
        if content is None:
            return None if self._is_new(path) else FileState(path=path)
        if content == known and self.blobs is not None:
            return None
        assert self.blobs is not None
        return FileState(path=path, mode=mode, blob=self.blobs.put(content))

    def _is_new(self, path: str) -> bool:
        """Say whether the base commit lacks a file: without its tree, whether the run itself made it."""
        if self.base is not None:
            return path not in self.base
        made = ledger_of(self.prefix.steps).files.get(path) if self.prefix is not None else None
        return made is not None and made.new

    def with_view(self, text: str, facts: Iterable[Fact]) -> Scene:
        """Return the scene with another text and another index of what it states."""
        kept = tuple(dict.fromkeys(facts))
        view = structs.replace(self.view, text=text, facts=kept, tokens=estimate_tokens(text))
        return structs.replace(self, view=view, rewritten=True)


class Applied(Struct, frozen=True):
    """What an operator did: the scene after it, and the answer key."""

    scene: Scene
    truth: Truth


def decoded(content: bytes | None) -> str | None:
    """Return UTF-8 text of a bounded size, None for what is none."""
    if content is None or len(content) > LARGEST or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def lines_of(text: str) -> list[str]:
    """Return the lines with their ends, as Python's own reader tells them apart: form feeds end none."""
    return list(io.StringIO(text, newline=""))


def amount(of: int, strength: float) -> int:
    """Return how many of so many a strength means: at least one, at most all."""
    return max(1, min(of, round(of * strength)))
