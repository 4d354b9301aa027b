"""Changed files: what git says, and what the session claims."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from passdown.evidence.kinds import words_of
from passdown.evidence.places import OUTSIDE
from passdown.evidence.shell import split_shell
from passdown.model.evidence import Change, Check
from passdown.model.packet import ChangedFile
from passdown.packet.caps import LISTS, MAPS, PATH
from passdown.packet.context import Context
from passdown.packet.paths import is_relative

_REMOVES = frozenset({"rm", "unlink", "rmdir", "trash", "del", "Remove-Item"})
_REMOVING = (*_REMOVES, "mv")
"""A quick look for any of the words before a command is taken apart."""
_WRITES = ("edit", "write", "delete")


def path_order(path: str) -> bytes:
    """Return the key that sorts paths bytewise, as git does."""
    return path.encode("utf-8", "surrogatepass")


def claimed_paths(context: Context) -> list[str]:
    """Return the paths the session or the state says it changed, in path order. Failed attempts are no claims."""
    state = context.evidence.workbench.state
    touched = [touch.path for touch in context.evidence.touches if touch.action in _WRITES and not touch.failed]
    named = [path.removeprefix("./") for path in (*touched, *(state.touched_files if state else ()))]
    return sorted({path for path in named if is_relative(path)}, key=path_order)


def claimed_but_unchanged(context: Context) -> list[str]:
    """Return the claimed paths that git calls unchanged, except files git is known to ignore."""
    return context.once(_unchanged)


def _unchanged(context: Context) -> list[str]:
    if context.evidence.repository.changes_total > len(context.evidence.repository.changes):
        return []
    changed = {change.path for change in context.evidence.repository.changes}
    left = [path for path in claimed_paths(context) if path not in changed and not _ignored(context, path)]
    removed = removed_paths(context) if left else frozenset()
    return [path for path in left if not (_lies_in(path, removed) and not _exists(context, path))]


def _lies_in(path: str, folders: Collection[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _exists(context: Context, path: str) -> bool:
    fact = context.look(path)
    return fact is not None and fact.exists


def removed_paths(context: Context) -> frozenset[str]:
    """Return what the sessions' own commands took away again: no wonder that git shows none of it."""
    return context.once(_removed)


def _removed(context: Context) -> frozenset[str]:
    chains = [chain for chain in context.evidence.chains if chain.final == "ok" and not chain.cwd.startswith(OUTSIDE)]
    roots = [f"{root}/" for root in context.evidence.roots]
    paths = {
        posixpath.normpath(_under(word, roots) or posixpath.join(chain.cwd, word))
        for chain in chains
        if any(word in chain.command for word in _REMOVING)
        for part in split_shell(chain.command)[:16]
        for word in _taken_away(words_of(part.text))
    }
    return frozenset(path for path in paths if is_relative(path) and path != ".")


def runs_what_is_gone(context: Context, command: str, removed: Collection[str]) -> bool:
    """Say whether a command runs a file that the session itself took away, and that is not there again."""
    named = [word for part in split_shell(command)[:16] for word in words_of(part.text)[:4]] if removed else []
    paths = [posixpath.normpath(word) for word in named if not word.startswith("-")]
    return any(path in removed and not _exists(context, path) for path in paths)


def _under(path: str, roots: list[str]) -> str:
    """Return an absolute path relative to the root that it lies under, an empty text for any other."""
    root = next((root for root in roots if path.startswith(root)), "")
    return path.removeprefix(root) if root else ""


def _taken_away(words: tuple[str, ...]) -> list[str]:
    words = words[1:] if words[:1] == ("git",) else words
    named = [word for word in words[1:] if not word.startswith("-")]
    return named[:-1] if words[:1] == ("mv",) else named if words and words[0] in _REMOVES else []


def _ignored(context: Context, path: str) -> bool:
    fact = context.look(path)
    return fact is not None and fact.exists and not fact.tracked


def list_changed(context: Context) -> tuple[list[ChangedFile], int, dict[str, int]]:
    """Return the changed files in path order, how many are left out, and where those lie, by folder.

    Uncommitted files have room first, then claimed ones. Git's word stands; a claim git denies has status `=`.
    """
    repository = context.evidence.repository
    claimed = set(claimed_paths(context))
    changes = [change for change in repository.changes if len(change.path) <= PATH.cap]
    ranked = sorted(changes, key=lambda c: (not c.uncommitted, c.path not in claimed, path_order(c.path)))
    kept = ranked[: LISTS["changed_files"]]
    files = [_from_git(change, change.path in claimed) for change in kept]
    room = LISTS["changed_files"] - len(files)
    unchanged = [path for path in claimed_but_unchanged(context) if len(path) <= PATH.cap]
    files += [ChangedFile(path=path, status="=", claimed=True, basis="declared") for path in unchanged[:room]]
    left = max(repository.changes_total, len(repository.changes)) - len(kept)
    listed = {change.path for change in kept}
    folders = by_folder([change.path for change in repository.changes if change.path not in listed])
    return sorted(files, key=lambda f: path_order(f.path)), left + len(unchanged[room:]), folders


def by_folder(paths: list[str], into: dict[str, int] | None = None) -> dict[str, int]:
    """Count paths by their first folder, the fullest first up to the cap; files at the root count under `.`."""
    counts = dict(into or {})
    for path in paths:
        folder = path.split("/", 1)[0] if "/" in path else "."
        counts[folder] = counts.get(folder, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], path_order(item[0])))
    return dict(ranked[: MAPS["changed_elsewhere"]])


def _from_git(change: Change, claimed: bool) -> ChangedFile:
    check = None
    if change.status == "D":
        check = Check(kind="path_absent")
    elif change.blob:
        check = Check(kind="blob_at_path", expect=change.blob)
    return ChangedFile(
        path=change.path,
        status=change.status,
        added=change.added,
        deleted=change.deleted,
        binary=change.binary,
        uncommitted=change.uncommitted or change.untracked,
        claimed=claimed,
        check=check,
    )
