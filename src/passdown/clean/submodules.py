"""Submodules: moved, dirty inside (judged once by the rules of the tree), or at a commit that nobody can fetch."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from passdown.clean.languages import is_code
from passdown.clean.mend import commit_command, listed, quote_file, quote_path
from passdown.clean.options import Situation
from passdown.clean.paths import is_temporary
from passdown.errors import GitError
from passdown.io.git import try_git
from passdown.model.evidence import Submodule
from passdown.model.finding import Finding, Severity
from passdown.model.path import encode_path
from passdown.repository.submodules import Inside, look_inside

_ASKED = 50


def submodule_findings(situation: Situation) -> Iterator[Finding]:
    """Find submodules that moved, that hold uncommitted work, or whose commit nobody else can fetch."""
    for number, submodule in enumerate(situation.repository.submodules):
        path = submodule.path
        if submodule.moved:
            fix = commit_command([path], situation.message("Move the submodule"), tracked=True)
            yield Finding(
                code="tree.submodule_moved", severity="block", where=path, fix=fix,
                detail=f"the submodule {path} is at another commit than recorded",
            )  # fmt: skip
        folder = _folder(situation.root, submodule) if number < _ASKED else None
        if folder is None:
            if submodule.dirty or submodule.untracked:
                yield _dirty(situation, path, "block" if submodule.dirty else "warn", "uncommitted work", ".")
            continue
        if submodule.dirty or submodule.untracked:
            yield from _inside(situation, path, folder)
        yield from _unpushed(situation, submodule, folder)


def _folder(root: Path, submodule: Submodule) -> Path | None:
    folder = root / os.fsdecode(encode_path(submodule.path))
    return None if folder.is_symlink() or not os.path.lexists(folder / ".git") else folder


def _inside(situation: Situation, path: str, folder: Path) -> Iterator[Finding]:
    try:
        found = look_inside(folder)
    except GitError as error:
        yield Finding(
            code="tree.submodule_dirty", severity="block", where=path, fix=f"git -C {quote_file(path)} status",
            detail=f"the submodule {path} has uncommitted work, and git cannot read it: {error}"[:300],
        )  # fmt: skip
        return
    if found.operation:
        yield Finding(
            code="tree.submodule_dirty", severity="block", where=path,
            detail=f"a {found.operation} is in progress in the submodule {path}",
            fix=f"git -C {quote_file(path)} {found.operation} {'reset' if found.operation == 'bisect' else '--abort'}",
        )  # fmt: skip
        return
    for severity, paths in _by_severity(found):
        names = "." if len(paths) > 20 else " ".join(map(quote_path, paths))
        noun = "file is" if len(paths) == 1 else "files are"
        what = f"{len(paths)} {noun} not committed: {listed(paths)}"
        yield _dirty(situation, path, severity, what, names)


def _by_severity(found: Inside) -> Iterator[tuple[Severity, list[str]]]:
    severe = [p for p in found.untracked if is_code(p) or is_temporary(p)]
    mild = [p for p in found.untracked if p not in severe]
    if found.changed or severe:
        yield "block", [*found.changed, *severe]
    if mild:
        yield "warn", mild


def _dirty(situation: Situation, path: str, severity: Severity, what: str, names: str) -> Finding:
    folder, message = quote_file(path), shlex.quote(situation.message("Keep the work"))
    return Finding(
        code="tree.submodule_dirty", severity=severity, where=path, detail=f"in the submodule {path} {what}",
        fix=f"git -C {folder} add -- {names} && git -C {folder} commit -q -m {message} -- {names}",
    )  # fmt: skip


def _unpushed(situation: Situation, submodule: Submodule, folder: Path) -> Iterator[Finding]:
    path = submodule.path
    commit = "HEAD" if submodule.moved else submodule.commit
    if not commit:
        return
    code, output, _ = try_git(folder, "rev-list", "-n", "1", commit, "--not", "--remotes")
    if code != 0 or not output.strip():
        return
    on_branch = try_git(folder, "symbolic-ref", "-q", "HEAD")[0] == 0
    # A name that nobody else takes: the commit's own.
    target = "HEAD" if on_branch else f"HEAD:refs/heads/work-{output.decode()[:12]}"
    yield Finding(
        code="tree.submodule_unpushed", severity="block" if situation.severe else "warn", where=path,
        detail=f"the commit of the submodule {path} is on none of its remotes",
        fix=f"git -C {quote_file(path)} push -q origin {shlex.quote(target)}",
    )  # fmt: skip
