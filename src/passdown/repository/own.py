"""passdown's own outputs: never evidence, never dirt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec import Struct


class OwnPaths(Struct, frozen=True):
    """The paths that never count, as bytes: files by `names`, everything below a folder by `prefixes`."""

    names: frozenset[bytes]
    prefixes: tuple[bytes, ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> OwnPaths:
        """Make the set from repository-relative paths; a folder may be written with or without its slash."""
        names = frozenset(_names(paths))
        return cls(names, tuple(name + b"/" for name in sorted(names)))

    def holds(self, path: bytes) -> bool:
        """Say whether `path` is one of them or lies below one."""
        return path in self.names or path.startswith(self.prefixes)

    def below(self, folder: bytes) -> bool:
        """Say whether one of them lies below `folder` (which ends in a slash)."""
        return any(prefix.startswith(folder) for prefix in self.prefixes)

    def pathspec(self) -> list[str]:
        """Return git arguments that name everything except these paths."""
        if not self.names:
            return []
        return ["--", ":(top)", *(f":(top,exclude,literal){os.fsdecode(name)}" for name in sorted(self.names))]


def _names(paths: Iterable[str]) -> Iterable[bytes]:
    for path in paths:
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if parts and ".." not in parts:
            yield os.fsencode("/".join(parts))
