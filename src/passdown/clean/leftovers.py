"""Leftovers: temporary files, debugging, commented-out code and secrets that the work added."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from passdown.clean.commented import commented_findings
from passdown.clean.content import Sources
from passdown.clean.debug import debug_findings
from passdown.clean.languages import language_of
from passdown.clean.mend import listed, quote_file, quote_path
from passdown.clean.paths import is_exempt, is_fixture, is_temporary
from passdown.clean.secrets import secret_findings
from passdown.errors import FormatError
from passdown.model.evidence import Change, Evidence
from passdown.model.finding import Finding
from passdown.model.path import encode_path
from passdown.repository.base_files import base_files

LARGE = 5_000_000
"""A new binary of more bytes is a warning."""

_SPACE_NAMES = frozenset({"__init__.py", "mod.rs", "index.d.ts"})


def leftover_findings(
    evidence: Evidence, sources: Sources, allow_files: tuple[str, ...], names: tuple[str, ...]
) -> Iterator[Finding]:
    """Find what the work left lying about. Content rules see added lines only."""
    root, repository = Path(evidence.repository.root), evidence.repository
    literal = frozenset(evidence.workbench.contract.allowed_files) if evidence.workbench.contract else frozenset()
    for change in repository.changes:
        if change.status == "A" or change.untracked:
            yield from _file(root, change, exempt=is_exempt(change.path, allow_files, literal))

    def texts(paths: list[str]) -> Mapping[str, str]:
        found = base_files(root, repository.base, paths)
        return {path: data.decode("utf-8", "replace") for path, data in found.items()}

    own = [s for s in sources.all if not is_fixture(s.path) and not is_exempt(s.path, allow_files, frozenset())]
    yield from debug_findings(own, root, texts, names)
    yield from commented_findings(own)
    yield from secret_findings(sources.all)
    if sources.skipped:
        detail = f"{len(sources.skipped)} changed files are too large to look into: {listed(sources.skipped)}"
        yield Finding(code="leftovers.not_scanned", severity="warn", detail=detail, where=sources.skipped[0])


def _file(root: Path, change: Change, *, exempt: bool) -> Iterator[Finding]:
    path = change.path
    if is_temporary(path) and not exempt:
        remove = f"rm -- {quote_file(path)}" if change.untracked else f"git rm -q -f -- {quote_path(path)}"
        if not change.untracked and not change.uncommitted:
            remove += f" && git commit -q -m 'Remove a temporary file' -- {quote_path(path)}"
        what = "is new and named like something temporary"
        yield Finding(code="temp.file", severity="block", detail=f"{path} {what}", where=path, fix=remove)
        return
    size = _size(root, path)
    if size == 0 and language_of(path) and path.rpartition("/")[2] not in _SPACE_NAMES and change.mode != "120000":
        yield Finding(
            code="temp.empty_file", severity="warn", detail=f"{path} is a new source file without content", where=path,
            fix="write it, or remove it",
        )  # fmt: skip
    if size > LARGE and change.binary:
        detail = f"{path} is a new binary of {size // 1_000_000} MB"
        fix = "keep it out of git, or use Git LFS"
        yield Finding(code="temp.large_blob", severity="warn", detail=detail, where=path, fix=fix)


def _size(root: Path, path: str) -> int:
    try:
        return (root / os.fsdecode(encode_path(path))).lstat().st_size
    except (OSError, ValueError, FormatError):
        return -1
