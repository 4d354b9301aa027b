"""The session's diff, line by line: base → working tree, without context, and the whole of files the base lacks.

The index is never touched, renames are told as delete and add, and no line of a file that is too large is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import open_regular
from passdown.io.git import try_git
from passdown.model.evidence import Change
from passdown.model.path import decode_path, encode_path
from passdown.model.pattern import lazy_pattern

MAX_FILE = 1 << 20
"""A larger file is not read, in bytes."""

MAX_TOTAL = 32 << 20
"""Most bytes of files that are read in all."""

MAX_LINES = 200_000
"""Most changed lines that git is asked for in all."""

_FEW = 50
_HUNK = lazy_pattern(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPE = lazy_pattern(rb'\\([0-7]{3}|[abtnvfr"\\])')


class FileLines(Struct, frozen=True):
    """One changed file: its present text (empty when it is gone), the numbers of its added lines, the removed lines.

    `new` says that the base does not have the file.
    """

    path: str
    text: str = ""
    added: frozenset[int] = frozenset()
    removed: tuple[str, ...] = ()
    new: bool = False


class AddedLines(Struct, frozen=True):
    """The files that were read, in path order, and the paths that were too large or could not be read."""

    files: tuple[FileLines, ...]
    skipped: tuple[str, ...]


def read_added_lines(root: Path, base: str, changes: Iterable[Change]) -> AddedLines:
    """Read the added and removed lines of these changes. Binary files are left out without a word."""
    wanted, skipped = _affordable(root, [change for change in changes if not change.binary and change.status != "T"])
    diffed = [change for change in wanted if not change.untracked and change.status != "A"]
    hunks = _diff(root, base, [encode_path(change.path) for change in diffed])
    if hunks is None:
        skipped += [change.path for change in diffed]
        wanted = [change for change in wanted if change not in diffed]
    files: list[FileLines] = []
    for change in wanted:
        text = "" if change.status == "D" else read_text(root, change.path)
        if text is None:
            skipped.append(change.path)
        elif change in diffed:
            added, removed = (hunks or {}).get(change.path, (frozenset(), ()))
            files.append(FileLines(change.path, text, added, removed))
        elif text:
            files.append(FileLines(change.path, text, frozenset(range(1, text.count("\n") + 2)), (), new=True))
    return AddedLines(tuple(files), tuple(skipped))


def read_text(root: Path, path: str) -> str | None:
    """Return a file's text with line feeds as line ends; None when it cannot be read, is binary or over `MAX_FILE`."""
    try:
        with open_regular(root / os.fsdecode(encode_path(path))) as stream:
            data = stream.read(MAX_FILE + 1)
    except (OSError, ValueError, UnsafeError, FormatError):
        return None
    if len(data) > MAX_FILE or b"\0" in data[:8000]:
        return None
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _affordable(root: Path, changes: Sequence[Change]) -> tuple[list[Change], list[str]]:
    wanted: list[Change] = []
    skipped: list[str] = []
    size_left, lines_left = MAX_TOTAL, MAX_LINES
    for change in changes:
        if not change.mode.startswith("100") and change.status != "D":
            continue
        size = 0 if change.status == "D" else _size(root, change.path)
        lines = max(0, change.added) + max(0, change.deleted)
        if size > min(MAX_FILE, size_left) or lines > lines_left or change.added < 0:
            skipped += [change.path] if change.status != "D" else []
            continue
        size_left, lines_left = size_left - size, lines_left - lines
        wanted.append(change)
    return wanted, skipped


def _size(root: Path, path: str) -> int:
    try:
        return (root / os.fsdecode(encode_path(path))).lstat().st_size
    except (OSError, ValueError, FormatError):
        return MAX_TOTAL


def _diff(root: Path, base: str, paths: Sequence[bytes]) -> dict[str, tuple[frozenset[int], tuple[str, ...]]] | None:
    """Return added line numbers and removed lines by path; None when git lacks the content."""
    if not paths:
        return {}
    # git tries each path against each entry of the index: past a few, all of them at once is cheaper.
    pathspec = [os.fsdecode(path) for path in paths] if len(paths) <= _FEW else []
    code, output, _ = try_git(
        root, "diff-index", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--text",
        "--ignore-submodules=all", "--src-prefix=a/", "--dst-prefix=b/", base, "--", *pathspec,
        env={"GIT_LITERAL_PATHSPECS": "1"},
    )  # fmt: skip
    if code != 0:
        return None
    return dict(_hunks(output))


def _hunks(output: bytes) -> Iterator[tuple[str, tuple[frozenset[int], tuple[str, ...]]]]:
    path, old = "", ""
    added: set[int] = set()
    removed: list[str] = []
    number, left_old, left_new = 0, 0, 0
    for line in output.split(b"\n"):
        if left_old and line.startswith(b"-"):
            removed.append(line[1:].decode("utf-8", "replace").rstrip("\r"))
            left_old -= 1
        elif left_new and line.startswith(b"+"):
            added.add(number)
            number, left_new = number + 1, left_new - 1
        elif line.startswith(b"diff --git "):
            if path:
                yield path, (frozenset(added), tuple(removed))
            path, added, removed = "", set(), []
        elif line.startswith(b"--- "):
            old = _name(line[4:])
        elif line.startswith(b"+++ "):
            path = _name(line[4:]) or old
        elif found := _HUNK.match(line):
            number = int(found[1])
            left_old, left_new = _counts(line)
    if path:
        yield path, (frozenset(added), tuple(removed))


def _counts(line: bytes) -> tuple[int, int]:
    old, new = line.split(b" ")[1:3]
    return tuple(int(part.partition(b",")[2] or b"1") for part in (old, new))  # type: ignore[return-value]


def _name(field: bytes) -> str:
    """Return the path of a `---` or `+++` line, empty for `/dev/null`."""
    field = field.removesuffix(b"\t")
    if field.startswith(b'"'):
        field = _ESCAPE.sub(_byte, field.strip(b'"'))
    return "" if field == b"/dev/null" else decode_path(field[2:])


def _byte(found: re.Match[bytes]) -> bytes:
    code = found[1].decode()
    return bytes((int(code, 8) if len(code) == 3 else _ESCAPES[code],))
