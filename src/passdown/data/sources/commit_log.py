"""The commits of a repository with the files they change, read by git in few calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from passdown.data.sources.people import Author, author_of, lists_people, words_of
from passdown.errors import GitError
from passdown.io.git import run_git

EMPTY = "0" * 40
LARGEST = 256 << 10
"""Bytes of a file whose content is read."""
_AT_ONCE = 200
_FIELDS = "%H%x00%P%x00%an%x00%ae%x00%at%x00%B%x00%x1e"
_WIDEST = 40
"""Files of a commit that is still read as work; a wider one is an import, a reformat or vendored code."""


_PATCHES = (
    "-c", f"core.bigFileThreshold={LARGEST}", "diff-tree", "--stdin", "-r", "--root", "-p", "-U0", "--no-renames",
    "--no-color", "--no-ext-diff", "--no-textconv", "--diff-algorithm=histogram",
)  # fmt: skip


class Change(Struct, frozen=True):
    """One file of a commit: how it changed (`A`, `M`, `D`, `T`), its modes and git's ids of its contents."""

    path: str
    status: str
    old_mode: str
    new_mode: str
    old: str
    new: str

    @property
    def is_file(self) -> bool:
        """Whether both sides are plain files: no symlink, no submodule."""
        return {self.old_mode, self.new_mode} <= {"000000", "100644", "100755"} and self.status in "AMD"


class Commit(Struct, frozen=True, kw_only=True):
    """A commit without its author: ids, time in milliseconds, cleaned message, and what it changed."""

    id: str
    parents: tuple[str, ...]
    at: int
    message: str
    author: Author
    changes: tuple[Change, ...] = ()

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    @property
    def left_out(self) -> str:
        """Why the commit is no step of a person's work, empty when it is one."""
        if len(self.parents) > 1:
            return "merge"
        if self.author != "person":
            return self.author
        if len(self.changes) > _WIDEST:
            return "wide"
        return "" if any(change.is_file and not lists_people(change.path) for change in self.changes) else "no_file"


def is_id(text: str) -> bool:
    """Say whether a text is a whole object id of git."""
    return len(text) in (40, 64) and all(character in "0123456789abcdef" for character in text)


def resolve(folder: Path, revision: str) -> str:
    """Return the commit that a revision names. Raises `GitError` when there is none."""
    if revision.startswith("-") or "\0" in revision or len(revision) > 500:
        raise GitError(f"{revision[:60]!r} names no commit", where=folder.name)
    found = run_git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.decode("ascii", "replace").strip()


def commits_between(folder: Path, base: str, head: str, limit: int) -> list[str]:
    """Return the first-parent commits of `base..head`, oldest first, the newest `limit` of them."""
    revisions = [head] if not base else [f"{base}..{head}"]
    found = run_git(folder, "rev-list", "--first-parent", f"--max-count={limit}", *revisions, "--")
    return found.decode("ascii", "replace").split()[::-1]


def read_log(folder: Path, ids: Iterable[str]) -> Iterator[Commit]:
    """Yield these commits in this order, each with its changes against its first parent."""
    wanted = [identifier for identifier in ids if is_id(identifier)]
    for begin in range(0, len(wanted), _AT_ONCE):
        chunk = wanted[begin : begin + _AT_ONCE]
        told = _told(folder, chunk)
        pairs = "".join(f"{commit.id} {commit.parents[0]}\n" if commit.parents else f"{commit.id}\n" for commit in told)
        changes = _changes(folder, pairs)
        for commit in told:
            yield Commit(
                id=commit.id, parents=commit.parents, at=commit.at, message=commit.message, author=commit.author,
                changes=tuple(changes.get(commit.id, ())),
            )  # fmt: skip


def _told(folder: Path, ids: list[str]) -> list[Commit]:
    output = run_git(
        folder, "log", "--stdin", "--no-walk=unsorted", "--no-mailmap", f"--format={_FIELDS}",
        stdin="\n".join(ids).encode() + b"\n",
    )  # fmt: skip
    found = []
    for record in output.decode("utf-8", "replace").split("\0\x1e"):
        fields = record.lstrip("\n").split("\0")
        if len(fields) != 6 or not is_id(fields[0]):
            continue
        identifier, parents, name, mail, seconds, message = fields
        found.append(
            Commit(
                id=identifier, parents=tuple(parents.split()),
                at=1000 * int(seconds) if seconds.isdigit() and len(seconds) < 12 else 0,
                message=words_of(message, name), author=author_of(name, mail, message),
            )
        )  # fmt: skip
    return found


def _changes(folder: Path, pairs: str) -> dict[str, list[Change]]:
    output = run_git(
        folder, "diff-tree", "--stdin", "-r", "--root", "--raw", "-z", "--no-abbrev", "--no-renames",
        stdin=pairs.encode(), timeout=120,
    )  # fmt: skip
    found: dict[str, list[Change]] = {}
    fields = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    here: list[Change] = []
    for entry in fields:
        if not entry.startswith(":"):
            here = found.setdefault(entry.strip(), [])
            continue
        parts = entry[1:].split()
        path = next(fields, "")
        if len(parts) == 5:
            here.append(Change(path, parts[4][:1], parts[0], parts[1], parts[2], parts[3]))
    return found


def read_blobs(folder: Path, ids: Iterable[str], largest: int = LARGEST) -> dict[str, bytes]:
    """Return the contents of these blobs that are no larger than `largest` bytes."""
    wanted = sorted({identifier for identifier in ids if is_id(identifier) and identifier.strip("0")})
    if not wanted:
        return {}
    sizes = run_git(folder, "cat-file", "--batch-check", stdin="\n".join(wanted).encode() + b"\n").decode().split("\n")
    small = [
        parts[0]
        for parts in (line.split() for line in sizes)
        if len(parts) == 3 and parts[1] == "blob" and int(parts[2]) <= largest
    ]
    output = run_git(folder, "cat-file", "--batch", stdin="\n".join(small).encode() + b"\n") if small else b""
    found: dict[str, bytes] = {}
    at = 0
    while (end := output.find(b"\n", at)) >= 0:
        parts = output[at:end].decode("ascii", "replace").split()
        if len(parts) != 3:
            break
        size = int(parts[2])
        found[parts[0]] = output[end + 1 : end + 1 + size]
        at = end + 2 + size
    return found


def line_hunks(folder: Path, commits: Iterable[Commit]) -> dict[tuple[str, str], list[tuple[int, int, int, int]]]:
    """Return which lines each commit replaced: (first old, old count, first new, new count) by commit and path.

    A commit with a file that changed its type is left out, since git tells that file twice.
    """
    plain = [commit for commit in commits if all(change.status in "AMD" for change in commit.changes)]
    pairs = "".join(f"{commit.id} {commit.parents[0]}\n" if commit.parents else f"{commit.id}\n" for commit in plain)
    output = run_git(folder, *_PATCHES, stdin=pairs.encode(), timeout=120)
    known = {commit.id: commit for commit in plain}
    found: dict[tuple[str, str], list[tuple[int, int, int, int]]] = {}
    commit, number = None, -1
    for line in output.split(b"\n"):
        if line.startswith(b"diff --git "):
            number += 1
        elif line.startswith(b"@@ -") and commit is not None and number < len(commit.changes):
            old, new = line.split(b" ", 3)[1:3]
            found.setdefault((commit.id, commit.changes[number].path), []).append((*_span(old), *_span(new)))
        elif (begun := known.get(line.decode("ascii", "replace"))) is not None:
            commit, number = begun, -1
    return found


def _span(text: bytes) -> tuple[int, int]:
    first, _, count = text[1:].partition(b",")
    return int(first), int(count) if count else 1
