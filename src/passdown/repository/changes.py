"""Changes: base → working tree, renames told as delete and add, untracked files included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from passdown.io.git import require_git
from passdown.model.evidence import Change
from passdown.model.finding import Finding
from passdown.model.path import decode_path
from passdown.repository.base import Base
from passdown.repository.dirt import ABSENT, Dirt
from passdown.repository.head import Head
from passdown.repository.lines import UNCOUNTED, Lines, diff_lines, file_lines
from passdown.repository.locate import Layout
from passdown.repository.own import OwnPaths

KEPT = 2000
"""Most changes that are listed, uncommitted ones first; the rest is counted."""

_FEW = 50
Letter = Literal["A", "M", "D", "T", "R", "U"]
_LETTERS: dict[str, Letter] = {"A": "A", "D": "D", "T": "T"}


class Changes(Struct, frozen=True):
    """The listed changes in path order, how many there are in all, and findings."""

    kept: tuple[Change, ...]
    total: int
    findings: tuple[Finding, ...]


class _Raw(Struct, frozen=True):
    letter: str
    old_mode: str
    mode: str
    blob: str


class _Dirty(Struct, frozen=True):
    dirt: Dirt
    base_mode: str


def read_changes(layout: Layout, head: Head, base: Base, dirt: Sequence[Dirt], own: OwnPaths) -> Changes:
    """Read what differs between the base and the working tree, leaving out passdown's own paths.

    A path whose uncommitted edit brings it back to the base is listed too, as uncommitted: it is dirt all the same.
    """
    listed = dirt[:KEPT]
    dirty = frozenset(item.path for item in dirt)
    committed: dict[bytes, _Raw] = {}
    total, free = len(dirt), KEPT - len(listed)
    for path, raw in _committed(layout, head, base):
        if path in dirty:
            committed[path] = raw
        elif not own.holds(path):
            total += 1
            if free > 0:
                free -= 1
                committed[path] = raw
    plain = [path for path in committed if path not in dirty]
    shown = [
        _Dirty(item, committed[item.path].old_mode if item.path in committed else item.head_mode) for item in listed
    ]
    lines, findings = _lines(layout, head, base, plain, shown, everything=total <= KEPT)
    kept = {path: _committed_change(path, committed[path], lines.get(path, Lines())) for path in plain}
    kept |= {item.dirt.path: _dirty_change(item, lines.get(item.dirt.path, Lines())) for item in shown}
    return Changes(tuple(kept[path] for path in sorted(kept)), total, findings)


def _committed(layout: Layout, head: Head, base: Base) -> Iterator[tuple[bytes, _Raw]]:
    if not head.commit or base.tree_ish == head.commit:
        return
    output = require_git(layout.root, "diff-tree", "-r", "--raw", "-z", "--no-renames", base.tree_ish, head.commit)
    fields = iter(output.split(b"\0"))
    for info in fields:
        if not info:
            break
        old_mode, mode, _, blob, letter = info.decode().removeprefix(":").split()
        yield next(fields), _Raw(letter[0], old_mode, mode, blob)


def _lines(
    layout: Layout, head: Head, base: Base, plain: list[bytes], listed: Sequence[_Dirty], *, everything: bool
) -> tuple[dict[bytes, Lines], tuple[Finding, ...]]:
    edited = [item.dirt.path for item in listed if item.dirt.tracked and item.base_mode != ABSENT]
    wanted: list[tuple[list[str], list[bytes], list[bytes]]] = []
    if plain:
        wanted.append((["diff-tree", "-r", base.tree_ish, head.commit], plain, [] if everything else plain))
    if edited:
        # git tries each path against each entry of the index: past a few, all of them at once is cheaper. Against HEAD
        # itself git 2.39 takes seconds for one path among 50,000, and all at once are no more than these.
        whole = everything and (len(edited) > _FEW or not plain)
        wanted.append((["diff-index", base.tree_ish], edited, [] if whole else edited))
    found: dict[bytes, Lines] = {}
    lacking = False
    for command, paths, pathspec in wanted:
        counted = diff_lines(layout.root, command, pathspec)
        lacking = lacking or counted is None
        if counted is None:
            counted = dict.fromkeys(paths, UNCOUNTED)
        found |= {path: counted[path] for path in paths if path in counted}
    new = [(item.dirt.path, item.dirt.mode) for item in listed if item.dirt.untracked or item.base_mode == ABSENT]
    for path, lines in file_lines(layout.root, new).items():
        found[path] = (
            structs.replace(lines, deleted=found[path].deleted) if path in found and lines.added >= 0 else lines
        )
    if not lacking:
        return found, ()
    detail = "git lacks the content of changed files (a partial clone); their lines are not counted"
    return found, (Finding(code="git.objects_missing", severity="info", detail=detail),)


def _committed_change(path: bytes, raw: _Raw, lines: Lines) -> Change:
    gone = raw.letter == "D"
    return Change(
        path=decode_path(path),
        status=_LETTERS.get(raw.letter, "M"),
        added=lines.added,
        deleted=lines.deleted,
        binary=lines.binary,
        blob="" if gone else raw.blob,
        mode="" if gone else raw.mode,
    )


def _dirty_change(item: _Dirty, lines: Lines) -> Change:
    dirt = item.dirt
    return Change(
        path=decode_path(dirt.path),
        status=_letter(dirt, item.base_mode),
        added=lines.added,
        deleted=lines.deleted,
        binary=lines.binary,
        blob=dirt.blob,
        mode=dirt.mode,
        uncommitted=True,
        untracked=dirt.untracked,
    )


def _letter(dirt: Dirt, base_mode: str) -> Letter:
    if dirt.unmerged:
        return "U"
    if not dirt.mode:
        return "D"
    if base_mode == ABSENT:
        return "A"
    return "T" if base_mode[:3] != dirt.mode[:3] else "M"


def nested_findings(nested: Sequence[bytes]) -> tuple[Finding, ...]:
    """Return a finding for repositories inside this one that are no submodules: git does not look into them."""
    if not nested:
        return ()
    names = ", ".join(decode_path(name) for name in nested[:5])
    detail = f"{len(nested)} nested repositories are no submodules; what is in them is not seen: {names}"
    return (Finding(code="tree.nested_repo", severity="warn", detail=detail, where=decode_path(nested[0])),)
