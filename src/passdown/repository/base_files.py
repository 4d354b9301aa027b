"""Files as they were at the base."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from passdown.io.git import try_git
from passdown.model.path import encode_path

MAX_FILE = 4 << 20
"""A larger file counts as absent, in bytes."""

_KEPT = 500


def base_files(root: Path, base: str, paths: Iterable[str]) -> dict[str, bytes]:
    """Return what each path held in the tree `base`; what was not there, or is no plain file, is left out.

    At most 500 paths are asked for; a path with a line feed in it is passed over.
    """
    asked = [path for path in dict.fromkeys(paths) if "\n" not in path][:_KEPT]
    names = [os.fsencode(base) + b":" + encode_path(path) for path in asked]
    if not base or not names:
        return {}
    sizes = _batch(root, "--batch-check=%(objecttype) %(objectsize) %(objectname)", names).split(b"\n")
    small: dict[str, bytes] = {}
    for path, line in zip(asked, sizes, strict=False):
        kind, _, rest = line.partition(b" ")
        size, _, this = rest.partition(b" ")
        if kind == b"blob" and size.isdigit() and int(size) <= MAX_FILE:
            small[path] = this
    output = _batch(root, "--batch", small.values()) if small else b""
    found: dict[str, bytes] = {}
    position = 0
    for path in small:
        end = output.find(b"\n", position)
        fields = output[position:end].split(b" ")
        if end < 0 or len(fields) != 3 or not fields[2].isdigit():
            break
        size_of = int(fields[2])
        found[path] = output[end + 1 : end + 1 + size_of]
        position = end + size_of + 2
    return found


def _batch(root: Path, mode: str, names: Iterable[bytes]) -> bytes:
    code, output, _ = try_git(root, "cat-file", mode, stdin=b"".join(name + b"\n" for name in names))
    return output if code == 0 else b""
