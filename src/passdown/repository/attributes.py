"""Attributes that a repository gives its files: what is generated, what comes from elsewhere; and what is ignored."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from passdown.errors import FormatError
from passdown.io.git import try_git
from passdown.model.path import decode_path, encode_path

_ASKED = ("linguist-generated", "linguist-vendored")


def generated_paths(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Return the paths that `.gitattributes` calls generated or vendored."""
    names = b"".join(encode_path(path) + b"\0" for path in paths)
    if not names:
        return frozenset()
    code, output, _ = try_git(root, "check-attr", "-z", "--stdin", *_ASKED, stdin=names)
    fields = output.split(b"\0") if code == 0 else []
    rows = zip(fields[::3], fields[2::3], strict=False)
    return frozenset(decode_path(path) for path, value in rows if value in (b"set", b"true"))


def ignored_paths(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Return the paths that git ignores (tracked ones are never ignored)."""
    names = b"".join(_encoded(paths))
    if not names:
        return frozenset()
    code, output, _ = try_git(root, "check-ignore", "-z", "--stdin", stdin=names)
    return frozenset(decode_path(path) for path in output.split(b"\0") if path) if code == 0 else frozenset()


def _encoded(paths: Iterable[str]) -> Iterator[bytes]:
    for path in paths:
        if path and not path.startswith("/") and ".." not in path.split("/"):
            with contextlib.suppress(FormatError):
                yield encode_path(path) + b"\0"
