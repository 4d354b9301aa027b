"""The object id that a file's present content has: what git would store, computed without storing it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, structs

from passdown.io.git import ask_git
from passdown.repository.locate import Layout

MAX_FILES = 10_000
"""Most files that are hashed in one snapshot."""

MAX_BYTES = 256 << 20
"""Most bytes that are hashed in one snapshot; a file that would go over stays without an id."""

_TRIES = 8
_PLAIN = frozenset(range(0x20, 0x7F)) - set(b'"\\') | set(range(0x80, 0x100))


class Present(Struct, frozen=True):
    """What lies at a path now: git's mode, the blob id (empty when it was not computed), and the size in bytes."""

    mode: str
    blob: str
    size: int


def read_present(layout: Layout, paths: Iterable[bytes]) -> dict[bytes, Present]:
    """Return what lies at each path that holds a file or a symlink; follows no link, opens no device or pipe.

    Filters and line endings apply as `git add` would apply them.
    """
    present: dict[bytes, Present] = {}
    queue: list[bytes] = []
    root, budget = os.fsencode(layout.root), MAX_BYTES
    for path in paths:
        full = root + b"/" + path
        try:
            status = os.lstat(full)
            if stat.S_ISLNK(status.st_mode):
                target = os.readlink(full)  # noqa: PTH115 - bytes in, bytes out
                present[path] = Present("120000", _blob_id(layout, target), len(target))
                continue
        except OSError:
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
        present[path] = Present(mode, "", status.st_size)
        if len(queue) < MAX_FILES and status.st_size <= budget and os.access(full, os.R_OK):
            budget -= status.st_size
            queue.append(path)
    for path, blob in zip(queue, _hash_files(layout.root, queue), strict=False):
        present[path] = structs.replace(present[path], blob=blob)
    return present


def _hash_files(root: Path, paths: list[bytes]) -> list[str]:
    blobs: list[str] = []
    for _ in range(_TRIES):
        lines = b"".join(_quoted(path) + b"\n" for path in paths[len(blobs) :])
        if not lines:
            break
        code, output, _reason = ask_git(root, "hash-object", "--stdin-paths", stdin=lines)
        blobs += output.decode().split()
        if code != 0:
            blobs.append("")  # a file went away under our hands: go on behind it
    return blobs


def _quoted(path: bytes) -> bytes:
    if all(byte in _PLAIN for byte in path):
        return path
    return b'"' + b"".join(bytes((byte,)) if byte in _PLAIN else b"\\%03o" % byte for byte in path) + b'"'


def _blob_id(layout: Layout, content: bytes) -> str:
    import hashlib  # loads OpenSSL, which a clean tree has no use for

    digest = hashlib.sha1(usedforsecurity=False) if len(layout.empty_tree) == 40 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest()
