"""A content-addressed store of file contents: two levels of folders, written whole, checked when read."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from passdown.errors import FormatError, UnsafeError
from passdown.model.pattern import lazy_pattern

_NAME = lazy_pattern(r"[0-9a-f]{64}")


class BlobStore:
    """Contents by the sha256 of their bytes. Several processes and threads may put the same content at once.

    Nothing is forced to the disk: a content that a crash cut short is found out when it is read, and is written again
    when it is put again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: bytes) -> str:
        """Keep a content and return its name; a content that is there already is not written again."""
        name = hashlib.sha256(content).hexdigest()
        path = self._path(name)
        if not _is_there(path, len(content)):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, staged = tempfile.mkstemp(prefix=f".{name[:8]}.", suffix=".tmp", dir=path.parent)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(content)
                Path(staged).replace(path)
            except BaseException:
                Path(staged).unlink(missing_ok=True)
                raise
        return name

    def get(self, name: str) -> bytes:
        """Return a content. Raises `FormatError` when it is not there or is not what its name says."""
        path = self._path(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError as missing:
            raise FormatError(
                "a file's content is missing in the store",
                where=name[:12],
                next_step="Run `passdown data points` again.",
            ) from missing
        if hashlib.sha256(content).hexdigest() != name:
            raise FormatError(
                "a file's content was changed in the store",
                where=name[:12],
                next_step="Remove it and run `passdown data points` again.",
            )
        return content

    def _path(self, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise UnsafeError("this is no name of a content", where=name[:20], next_step="Build the folder again.")
        return self.folder / name[:2] / name[2:4] / name


def _is_there(path: Path, size: int) -> bool:
    try:
        return path.lstat().st_size == size
    except FileNotFoundError:
        return False
