"""Dirt: every uncommitted path with the content it has now."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, structs

from passdown.repository.blobs import Present, read_present
from passdown.repository.locate import Layout
from passdown.repository.status import Entry, Status
from passdown.repository.submodules import checked_out

ABSENT = "000000"
SUBMODULE = "160000"
_SUBMODULES = 50


class Dirt(Struct, frozen=True):
    """One uncommitted path. `mode` and `blob` are the present ones, empty when nothing is there.

    `blob` is also empty for a file that was too large to hash (then `size` says how large). `in_head` says whether
    HEAD holds the path, `head_mode` how. A path may be tracked and untracked at once (`git rm --cached`).
    """

    path: bytes
    mode: str = ""
    blob: str = ""
    size: int = 0
    head_mode: str = ABSENT
    tracked: bool = False
    untracked: bool = False
    unmerged: bool = False

    @property
    def unhashed(self) -> bool:
        """Whether there is a file whose content was not hashed."""
        return bool(self.mode) and not self.blob and self.mode != SUBMODULE

    @property
    def content(self) -> str:
        """What stands for the content in the fingerprint: the blob id, or the size where there is none."""
        return f"size:{self.size}" if self.unhashed else self.blob


def read_dirt(layout: Layout, status: Status) -> tuple[Dirt, ...]:
    """Return the uncommitted paths of a status, sorted bytewise, each once."""
    untracked = set(status.untracked)
    open_files = [entry.path for entry in status.entries if _must_read(entry) and entry.path not in untracked]
    present = read_present(layout, [*status.untracked, *open_files])
    found = {path: _of_file(Dirt(path, untracked=True), present.get(path)) for path in status.untracked}
    asked = 0
    for entry in status.entries:
        dirt = structs.replace(
            found.get(entry.path, Dirt(entry.path)), head_mode=entry.head_mode, tracked=True, unmerged=entry.unmerged
        )
        if entry.path not in untracked:
            asked += entry.mode == SUBMODULE
            dirt = _of_entry(layout.root, dirt, entry, present.get(entry.path), ask=asked <= _SUBMODULES)
        found[entry.path] = dirt
    return tuple(found[path] for path in sorted(found))


def _must_read(entry: Entry) -> bool:
    return (entry.code[1] != "." or entry.unmerged) and entry.mode not in (ABSENT, SUBMODULE)


def _of_file(dirt: Dirt, present: Present | None) -> Dirt:
    return dirt if present is None else structs.replace(dirt, mode=present.mode, blob=present.blob, size=present.size)


def _of_entry(root: Path, dirt: Dirt, entry: Entry, present: Present | None, *, ask: bool) -> Dirt:
    if entry.mode == ABSENT:
        return dirt
    if entry.mode == SUBMODULE:
        moved = entry.code[1] != "." and "C" in entry.submodule
        blob = checked_out(root, entry.path) if moved and ask else entry.index_blob
        return structs.replace(dirt, mode=SUBMODULE, blob=blob)
    if _must_read(entry):
        # git's own word on the mode: it knows core.fileMode and core.symlinks.
        return structs.replace(_of_file(dirt, present), mode=entry.mode) if present else dirt
    return structs.replace(dirt, mode=entry.mode, blob=entry.index_blob)
