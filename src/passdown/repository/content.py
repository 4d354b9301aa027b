"""What the working tree holds, in one hash that a commit of the same content does not change.

The tree fingerprint of `fingerprint.py` changes with HEAD; this tells whether a result that was measured before a
commit, an amend or a rebase still speaks of what lies here now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from passdown.io.git import run_git
from passdown.model.path import decode_path
from passdown.repository.dirt import ABSENT, Dirt, read_dirt
from passdown.repository.fingerprint import tree_fingerprint
from passdown.repository.head import Head, current_branch, read_head
from passdown.repository.history import read_history
from passdown.repository.locate import Layout, read_layout
from passdown.repository.own import OwnPaths
from passdown.repository.status import read_status

Counts = Callable[[str], bool]
"""Whether a repository-relative path counts."""


class TreeState(Struct, frozen=True):
    """A working tree at one moment. `fingerprint` is that of the snapshot; `dirt` what is not committed.

    `worktree` names a linked worktree as git does and is empty in the main one.
    """

    layout: Layout
    head: Head
    dirt: tuple[Dirt, ...]
    fingerprint: str
    worktree: str

    def contents(self, *kinds: Counts) -> tuple[str, ...]:
        """Return for each kind of path one hash over path, mode and blob of every such file that lies here."""
        return content_hashes(self.layout.root, self.head.commit, self.dirt, kinds)

    def committed(self, counts: Counts) -> bool:
        """Say whether HEAD holds every path of this kind as it lies here."""
        return not any(counts(decode_path(dirt.path)) for dirt in self.dirt)


def read_tree(root: Path, own_paths: Sequence[str]) -> TreeState:
    """Read the working tree at `root`. Raises `GitError` when git refuses."""
    layout = read_layout(root)
    own = OwnPaths.of(own_paths)
    status = read_status(layout.root, own)
    branch = current_branch(layout.root)
    head = read_head(layout.root, read_history(layout.root, status.commit, own), branch, own)
    dirt = read_dirt(layout, status)
    print_ = tree_fingerprint(head.effective, ((item.path, item.mode, item.content) for item in dirt))
    return TreeState(layout, head, dirt, print_, worktree_name(layout.git_dir, layout.common_dir))


def worktree_name(git_dir: Path, common_dir: Path) -> str:
    """Return the name of a linked worktree, empty for the main one."""
    return "" if git_dir.resolve() == common_dir.resolve() else git_dir.name


def content_hashes(root: Path, commit: str, dirt: Sequence[Dirt], kinds: Sequence[Counts]) -> tuple[str, ...]:
    """Return one hash for each kind of path; HEAD's files where nothing else lies, what lies there otherwise."""
    import hashlib  # loads OpenSSL, which pays where every file is listed

    changed = {item.path: (item.mode, item.content) for item in dirt}
    listing: dict[bytes, tuple[str, str]] = {}
    output = run_git(root, "ls-tree", "-r", "-z", "--full-tree", commit) if commit else b""
    for record in output.split(b"\0"):
        facts, _, path = record.partition(b"\t")
        if path:
            mode, _, blob = facts.decode().split(" ")
            listing[path] = mode, blob
    listing.update(changed)
    present = [(path, mode, blob) for path, (mode, blob) in sorted(listing.items()) if mode not in ("", ABSENT)]
    digests = [hashlib.sha256() for _ in kinds]
    for path, mode, blob in present:
        name, line = decode_path(path), f"{mode} {blob}\t".encode() + path + b"\0"
        for counts, digest in zip(kinds, digests, strict=True):
            if counts(name):
                digest.update(line)
    return tuple(digest.hexdigest() for digest in digests)
