"""Mend: carry out edits that the clean-state check offered, by their names, and nothing else.

What is edited is found anew in the files as they lie here; a name that nothing answers to any more does nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from passdown.clean.check import offered_edits
from passdown.clean.edits import NAME, Edit, FileEdit, LineEdit, StatusEdit, replace_lines
from passdown.clean.options import CleanOptions, Situation
from passdown.clean.python_source import parse
from passdown.errors import ConflictError, UsageError
from passdown.handoff.gather import Gathered
from passdown.handoff.sync_board import edited_board
from passdown.io.files import join_inside, lock, open_regular, write_files
from passdown.model.packet import Packet
from passdown.model.path import encode_path
from passdown.redact.neutralise import neutralise
from passdown.repository.added_lines import MAX_FILE

_AGAIN = "Run `passdown check` again: it says what there is to mend now."


class Mended(Struct, frozen=True, kw_only=True):
    """One file that was changed, or would be: the difference as lines, secrets masked."""

    path: str
    diff: tuple[str, ...]


class Mending(Struct, frozen=True, kw_only=True):
    """What was done (`dry`: would be), and the names that nothing here answers to, because it is mended already."""

    files: tuple[Mended, ...] = ()
    unknown: tuple[str, ...] = ()
    dry: bool = False


def check_names(names: Iterable[str]) -> None:
    """Raise `UsageError` for what is no name of an edit."""
    for name in names:
        if not NAME.fullmatch(name):
            raise UsageError(f"{name[:60]!r} is no name of a mend: eight digits, 0-9 and a-f", next_step=_AGAIN)


def mend(gathered: Gathered, draft: Packet, clean: CleanOptions, names: Sequence[str], *, dry: bool = False) -> Mending:
    """Carry out the edits of these names, each file whole or not at all.

    Raises `ConflictError` when a file changes meanwhile, `UnsafeError` for one that leads out of the repository.
    """
    situation = Situation(gathered.evidence, draft, gathered.config, clean)
    offered = offered_edits(situation)
    edits = {name: offered.named(name) for name in dict.fromkeys(names)}
    by_path: dict[str, list[Edit]] = {}
    for edit in (edit for found in edits.values() for edit in found):
        by_path.setdefault(edit.path, []).append(edit)
    done = []
    with lock(Path(gathered.repository.common_dir) / "passdown" / "lock"):
        changed = [(path, *_changed(gathered, path, found)) for path, found in by_path.items()]
        for path, target, old, new in changed:
            done.append(Mended(path=path, diff=_diff(situation, path, old, new)))
            if not dry:
                write_files([(target, new)], mode=stat.S_IMODE(target.stat().st_mode))
    return Mending(files=tuple(done), unknown=tuple(name for name, found in edits.items() if not found), dry=dry)


def _changed(gathered: Gathered, path: str, edits: Sequence[Edit]) -> tuple[Path, bytes, bytes]:
    """Return where a file lies, its bytes, and those that it gets."""
    statuses = {edit.item: edit.status for edit in edits if isinstance(edit, StatusEdit)}
    if statuses:
        target, new = edited_board(gathered, path, statuses)
        return target, _read(target), new
    target = join_inside(gathered.root, os.fsdecode(encode_path(path)))
    old = _read(target)
    lines: list[LineEdit] = [line for edit in edits if isinstance(edit, FileEdit) for line in edit.lines]
    mark, text = old[:3] if old.startswith(b"\xef\xbb\xbf") else b"", old.removeprefix(b"\xef\xbb\xbf")
    edited = _replaced(path, text.decode("utf-8", "surrogateescape"), lines)
    if edited is None or len(old) > MAX_FILE:
        raise ConflictError("changed while it was looked at", where=path, next_step=_AGAIN)
    return target, old, mark + edited.encode("utf-8", "surrogateescape")


def _replaced(path: str, text: str, edits: list[LineEdit]) -> str | None:
    """Return the text with the edits made; in Python, `pass` stands where they would leave a block empty together."""
    edited = replace_lines(text, edits)
    if edited is None or not path.endswith((".py", ".pyi", ".pyw")) or parse(edited) or not parse(text):
        return edited
    full = [structs.replace(e, new=e.new or (f"{_margin(e.old[0])}pass",)) for e in edits]
    return replace_lines(text, full)


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _read(target: Path) -> bytes:
    with open_regular(target) as stream:
        return stream.read(MAX_FILE + 1)


def _diff(situation: Situation, path: str, old: bytes, new: bytes) -> tuple[str, ...]:
    import difflib  # only where an edit is shown

    before, after = (situation.redactor.text(data.decode("utf-8", "replace")).splitlines() for data in (old, new))
    name = neutralise(situation.redactor.text(path))
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=2, lineterm="")
    return tuple(neutralise(line) for line in lines)
