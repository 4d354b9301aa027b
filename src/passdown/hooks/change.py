"""A change of a settings file: what would be written, the deed itself, and what is remembered to undo it.

What a file held is never kept: our hooks are taken out of the text as it is then. Remembered is only whether there was
a file and which folders were made for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from passdown.errors import ConflictError, PassdownError, UnsafeError
from passdown.io.files import home_folder, lock, read_bounded, write_files

Scope = Literal["user", "project"]
Was = Literal["missing", "blank", "text"]

SETTINGS_LIMIT = 1 << 20


class Change(Struct, frozen=True, kw_only=True):
    """One file of one agent: its bytes before and after (None: no file), and where it really lies.

    `path` is where the agent looks, `target` the file itself when that is a link. `was` is what was there before we
    came, empty when we had been there already; `ours` says that it holds something of ours afterwards.
    """

    agent: str
    title: str
    scope: Scope
    path: Path
    target: Path
    before: bytes | None
    after: bytes | None
    was: Was | Literal[""] = ""
    ours: bool = True

    @property
    def changes(self) -> bool:
        """Whether anything changes at all."""
        return self.before != self.after


class Plan(Struct, frozen=True, kw_only=True):
    """What would be done, and what was refused with the reason."""

    changes: tuple[Change, ...] = ()
    refused: tuple[tuple[str, PassdownError], ...] = ()


def apply_plan(plan: Plan) -> list[Path]:
    """Make the changes and return the files written or removed.

    Raises `ConflictError` when a file has changed since the plan was made; those before it are done by then.
    """
    done: list[Path] = []
    if not any(change.changes for change in plan.changes):
        return done
    with lock(state_folder() / "hooks" / "files.lock", wait=5.0):
        known = Receipt.read()
        for change in plan.changes:
            if change.changes:
                _apply(change, known)
                known.write()
                done.append(change.target)
    return done


def find_target(path: Path, scope: Scope, root: Path) -> Path:
    """Return the file behind a path: itself, or where links lead when that stays in the user's home (or the project).

    Raises `UnsafeError` for a link that leads elsewhere or nowhere, and for what is no regular file.
    """
    anchor = home_folder() if scope == "user" else root
    try:
        real = path.resolve()
        plain = anchor.resolve() / path.relative_to(anchor) if path.is_relative_to(anchor) else path.absolute()
    except (OSError, RuntimeError) as error:
        raise UnsafeError("a link that leads nowhere", where=str(path), next_step="Mend the link.") from error
    if real != plain and path.is_relative_to(anchor) and not real.is_relative_to(anchor.resolve()):
        inside = "your home folder" if scope == "user" else "the project"
        raise UnsafeError(f"a link leads out of {inside}, to {real}", where=str(path),
                          next_step="Edit that file yourself, or remove the link.")  # fmt: skip
    if path.is_symlink() and not real.is_file():
        raise UnsafeError("a link that leads to no file", where=str(path), next_step="Mend the link.")
    if real.exists() and not real.is_file():
        raise UnsafeError("is not a regular file", where=str(path), next_step="Move it away.")
    return real


def read_settings(target: Path) -> bytes | None:
    """Return a settings file's bytes, None when there is none."""
    try:
        return read_bounded(target, SETTINGS_LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _apply(change: Change, known: Receipt) -> None:
    target = change.target
    if read_settings(target) != change.before:
        raise ConflictError("was changed by somebody else meanwhile", where=str(target), next_step="Try again.")
    if change.after is None:
        target.unlink()
        known.drop(target, gone=True)
        return
    mode = stat.S_IMODE(target.stat().st_mode) if change.before is not None else 0o644
    folders = _missing_folders(target.parent)
    write_files([(target, change.after)], mode=mode)
    if change.was:
        known.keep(target, change.was, folders)
    elif not change.ours:
        known.drop(target, gone=False)


def _missing_folders(folder: Path) -> list[str]:
    missing = []
    while not folder.exists():
        missing.append(str(folder))
        folder = folder.parent
    return missing


def state_folder() -> Path:
    """Return the folder of passdown's own state for this user."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else home_folder() / ".local" / "state") / "passdown"


class Receipt:
    """What is remembered: for each file what was there before us, and the folders made for it, the innermost first."""

    def __init__(self, files: dict[str, dict[str, Any]]) -> None:
        self.files = files

    @classmethod
    def read(cls) -> Receipt:
        """Return what is remembered; nothing when that cannot be read."""
        try:
            whole = json.loads(read_bounded(state_folder() / "hooks" / "files.json", SETTINGS_LIMIT))
        except (OSError, ValueError, PassdownError):
            whole = None
        files = whole.get("files") if isinstance(whole, dict) else None
        sound = files.items() if isinstance(files, dict) else ()
        return cls({str(path): entry for path, entry in sound if isinstance(entry, dict)})

    def write(self) -> None:
        """Remember it."""
        data = json.dumps({"v": 1, "files": self.files}, indent=1, sort_keys=True) + "\n"
        write_files([(state_folder() / "hooks" / "files.json", data.encode())], mode=0o600)

    def was(self, target: Path) -> str:
        """Return what was there before us; an empty text when that is not remembered."""
        return str(self.files.get(str(target), {}).get("was", ""))

    def keep(self, target: Path, was: str, folders: list[str]) -> None:
        """Take in a file of which we are a part from now on."""
        self.files[str(target)] = {"was": was, "folders": folders}

    def drop(self, target: Path, *, gone: bool) -> None:
        """Forget a file, and remove the folders made for it when it is gone and they are empty."""
        entry = self.files.pop(str(target), {})
        folders = entry.get("folders")
        for folder in folders if gone and isinstance(folders, list) else ():
            if isinstance(folder, str) and target.is_relative_to(folder):
                with contextlib.suppress(OSError):  # somebody put something into it
                    Path(folder).rmdir()
