"""Leftovers: temporary files, debugging, commented-out code and secrets that the work added."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from passdown.clean.content import Sources
from passdown.clean.languages import language_of
from passdown.clean.mend import NAMED, listed, quote_file, quote_path
from passdown.clean.paths import is_exempt, is_fixture, is_remade, is_temporary
from passdown.errors import FormatError
from passdown.model.evidence import Change, Evidence
from passdown.model.finding import Finding
from passdown.model.path import encode_path
from passdown.repository.base_files import base_files

LARGE = 5_000_000
"""A new binary of more bytes is a warning."""

LISTED = 10
"""Most temporary files that git ignores and that are told by name."""

_SPACE_NAMES = frozenset({"__init__.py", "mod.rs", "index.d.ts"})


def leftover_findings(
    evidence: Evidence, sources: Sources, allow_files: tuple[str, ...], names: tuple[str, ...], began: int | None = None
) -> Iterator[Finding]:
    """Find what the work left lying about. Content rules see added lines only.

    `began` (milliseconds) is when the session did: temporary files that git ignores count from then on, and when nobody
    knows, they do not.
    """
    root, repository = Path(evidence.repository.root), evidence.repository
    literal = frozenset(evidence.workbench.contract.allowed_files) if evidence.workbench.contract else frozenset()
    for change in repository.changes:
        if change.status == "A" or change.untracked:
            yield from _file(root, change, exempt=is_exempt(change.path, allow_files, literal))
    if began is not None:
        yield from _ignored(root, [p for p in repository.ignored if not is_exempt(p, allow_files, literal)], began)
    if sources.all:
        yield from _contents(root, repository.base, sources, allow_files, names)
    if sources.skipped:
        detail = f"{len(sources.skipped)} changed files are too large to look into: {listed(sources.skipped)}"
        yield Finding(
            code="leftovers.not_scanned", severity="warn", detail=detail, where=sources.skipped[0],
            fix="look into them yourself; what a program wrote is marked linguist-generated in .gitattributes",
            mend_kind="choice",
        )  # fmt: skip


def _contents(
    root: Path, base: str, sources: Sources, allow_files: tuple[str, ...], names: tuple[str, ...]
) -> Iterator[Finding]:
    from passdown.clean.commented import commented_findings
    from passdown.clean.debug import debug_findings
    from passdown.clean.secrets import secret_findings

    def texts(paths: list[str]) -> Mapping[str, str]:
        found = base_files(root, base, paths)
        return {path: data.decode("utf-8", "replace") for path, data in found.items()}

    own = [s for s in sources.all if not is_fixture(s.path) and not is_exempt(s.path, allow_files, frozenset())]
    yield from debug_findings(own, root, texts, names, sources.edits)
    yield from commented_findings(own, sources.edits)
    yield from secret_findings(sources.all)


def _file(root: Path, change: Change, *, exempt: bool) -> Iterator[Finding]:
    path = change.path
    if is_temporary(path) and not exempt:
        what = "is new and named like something temporary"
        yield Finding(code="temp.file", severity="block", detail=f"{path} {what}", where=path, fix=_remove(change))
        return
    size = _size(root, path)
    if size == 0 and language_of(path) and path.rpartition("/")[2] not in _SPACE_NAMES and change.mode != "120000":
        yield Finding(
            code="temp.empty_file", severity="warn", detail=f"{path} is a new source file without content", where=path,
            fix=f"write it, or remove it: {_remove(change)}", mend_kind="choice",
        )  # fmt: skip
    if size > LARGE and change.binary:
        detail = f"{path} is a new binary of {size // 1_000_000} MB"
        fix = f"remove it: {_remove(change)}; or keep it with Git LFS, or where git ignores it"
        yield Finding(code="temp.large_blob", severity="warn", detail=detail, where=path, fix=fix, mend_kind="choice")


def _ignored(root: Path, paths: list[str], began: int) -> Iterator[Finding]:
    """Find temporary files that git ignores and that changed since the session began; caches are left alone."""
    named = (path for path in paths if is_temporary(path) and not is_remade(path) and not is_fixture(path))
    made = [path for path in named if _is_since(root, path, began)]
    if made:
        what = "1 temporary file" if len(made) == 1 else f"{len(made)} temporary files"
        yield Finding(
            code="temp.ignored", severity="warn", where=made[0],
            detail=f"{what} that git ignores, left by this session: {listed(made, shown=LISTED)}",
            fix=f"rm -r -- {' '.join(map(quote_file, made[:NAMED]))}",
        )  # fmt: skip


def _is_since(root: Path, path: str, began: int) -> bool:
    try:
        changed = (root / os.fsdecode(encode_path(path))).lstat().st_mtime_ns // 1_000_000
    except (OSError, ValueError, FormatError):
        return False
    return changed >= began // 1000 * 1000


def _remove(change: Change) -> str:
    if change.untracked:
        return f"rm -- {quote_file(change.path)}"
    name = quote_path(change.path)
    commit = "" if change.uncommitted else f" && git commit -q -m 'Remove a file that was left' -- {name}"
    return f"git rm -q -f -- {name}{commit}"


def _size(root: Path, path: str) -> int:
    try:
        return (root / os.fsdecode(encode_path(path))).lstat().st_size
    except (OSError, ValueError, FormatError):
        return -1
