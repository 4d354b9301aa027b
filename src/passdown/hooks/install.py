"""Install and uninstall: what would change in which file, the change itself, and what is remembered to undo it.

What a file held is never kept: our hooks are taken out of the text as it is then. Remembered is only whether there was
a file and which folders were made for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from passdown.agents.hook_command import HookCommand
from passdown.agents.table import TABLE, Agent, home_of, hooks_of
from passdown.errors import ConflictError, FormatError, PassdownError, UnsafeError, UsageError
from passdown.io.files import home_folder, lock, read_bounded, write_files

Scope = Literal["user", "project"]
Was = Literal["missing", "blank", "text"]

SETTINGS_LIMIT = 4 << 20
_TRACE = b"entry.py"


class Change(Struct, frozen=True, kw_only=True):
    """One file of one agent: its bytes before and after (None: no file), and where it really lies.

    `path` is where the agent looks, `target` the file itself when that is a link. `was` is what was there before we
    came; empty when we had been there already.
    """

    agent: str
    title: str
    scope: Scope
    path: Path
    target: Path
    before: bytes | None
    after: bytes | None
    was: Was | Literal[""] = ""

    @property
    def changes(self) -> bool:
        """Whether anything changes at all."""
        return self.before != self.after


class Plan(Struct, frozen=True, kw_only=True):
    """What would be done, and what was refused with the reason."""

    changes: tuple[Change, ...] = ()
    refused: tuple[tuple[str, PassdownError], ...] = ()


def hook_command() -> HookCommand:
    """Return what hooks run: this interpreter, and the entry of this installation."""
    if not sys.executable:
        raise UsageError("Python does not know its own path", next_step="Run passdown with a Python by its full path.")
    return HookCommand(sys.executable, str(Path(__file__).resolve().parent / "entry.py"))


def hooked_agents(names: Iterable[str] = ()) -> list[Agent]:
    """Return the agents of these names, all that hooks can be installed into when there are none.

    Raises `UsageError` for another name.
    """
    rows = [row for row in TABLE if row.hooks]
    wanted = [name.lower().replace("-", "_") for name in names]
    short = {row.id: row for row in rows} | {row.program: row for row in rows}
    if unknown := [name for name in wanted if name not in short]:
        known = ", ".join(row.id for row in rows)
        raise UsageError(f"no hooks for an agent called {unknown[0]!r}", next_step=f"Known: {known}.")
    return [row for row in rows if not wanted or row in [short[name] for name in wanted]]


def plan_install(agents: Iterable[Agent], scope: Scope, root: Path, command: HookCommand) -> Plan:
    """Return what installing would change. What cannot be read or is somebody else's is refused, and left alone."""
    return _plan(agents, scope, root, lambda row, path: _installing(row, scope, path, root, command))


def plan_uninstall(agents: Iterable[Agent], scope: Scope, root: Path) -> Plan:
    """Return what uninstalling would change."""
    known = _Receipt.read()
    return _plan(agents, scope, root, lambda row, path: _uninstalling(row, scope, path, root, known))


def apply_plan(plan: Plan) -> list[Path]:
    """Make the changes and return the files written or removed.

    Raises `ConflictError` when a file has changed since the plan was made; those before it are done by then.
    """
    done = []
    with lock(state_folder() / "hooks" / "files.lock", wait=5.0):
        known = _Receipt.read()
        for change in plan.changes:
            if change.changes:
                _apply(change, known)
                known.write()
                done.append(change.target)
    return done


def _plan(agents: Iterable[Agent], scope: Scope, root: Path, make: Any) -> Plan:
    changes: list[Change] = []
    refused: list[tuple[str, PassdownError]] = []
    for row in agents:
        try:
            changes.append(make(row, hooks_of(row).file(scope, root, home_of(row))))
        except PassdownError as error:
            refused.append((row.id, error))
    return Plan(changes=tuple(changes), refused=tuple(refused))


def _installing(row: Agent, scope: Scope, path: Path, root: Path, command: HookCommand) -> Change:
    hooks, target = hooks_of(row), find_target(path, scope, root)
    before = read_settings(target)
    text = _decoded(before, target)
    after = hooks.install(text, command, str(target))
    was: Was | Literal[""] = "missing" if text is None else ""
    if text is not None and not hooks.installed(text, str(target)):
        was = "text" if hooks.uninstall(after, str(target), whole=False) == text else "blank"
    return Change(agent=row.id, title=row.title, scope=scope, path=path, target=target, before=before,
                  after=after.encode("utf-8", "surrogatepass"), was=was)  # fmt: skip


def _uninstalling(row: Agent, scope: Scope, path: Path, root: Path, known: _Receipt) -> Change:
    hooks, target = hooks_of(row), find_target(path, scope, root)
    before = after = read_settings(target)
    if before is not None and _TRACE in before:  # else there is nothing of ours, whether it can be read or not
        text = _decoded(before, target) or ""
        was = known.was(target)
        left = hooks.uninstall(text, str(target), whole=was != "text")
        gone = left != text and not left.strip("\ufeff \t\r\n") and was in ("", "missing")
        after = None if gone else left.encode()
    return Change(agent=row.id, title=row.title, scope=scope, path=path, target=target, before=before, after=after)


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


def _decoded(data: bytes | None, target: Path) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as error:
        where = f"{target}: byte {error.start}"
        raise FormatError("is not UTF-8", where=where, next_step="It was left as it is.") from error


def _apply(change: Change, known: _Receipt) -> None:
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
    elif change.before is not None and not _is_own(change):
        known.drop(target, gone=False)


def _is_own(change: Change) -> bool:
    row = next(row for row in TABLE if row.id == change.agent)
    return bool(hooks_of(row).installed((change.after or b"").decode(), str(change.target)))


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


class _Receipt:
    """What is remembered: for each file what was there before us, and the folders made for it, the innermost first."""

    def __init__(self, files: dict[str, dict[str, Any]]) -> None:
        self.files = files

    @classmethod
    def read(cls) -> _Receipt:
        try:
            whole = json.loads(read_bounded(state_folder() / "hooks" / "files.json", SETTINGS_LIMIT))
        except (OSError, ValueError, PassdownError):
            whole = None
        files = whole.get("files") if isinstance(whole, dict) else None
        sound = files.items() if isinstance(files, dict) else ()
        return cls({str(path): entry for path, entry in sound if isinstance(entry, dict)})

    def write(self) -> None:
        data = json.dumps({"v": 1, "files": self.files}, indent=1, sort_keys=True) + "\n"
        write_files([(state_folder() / "hooks" / "files.json", data.encode())], mode=0o600)

    def was(self, target: Path) -> str:
        return str(self.files.get(str(target), {}).get("was", ""))

    def keep(self, target: Path, was: str, folders: list[str]) -> None:
        self.files[str(target)] = {"was": was, "folders": folders}

    def drop(self, target: Path, *, gone: bool) -> None:
        entry = self.files.pop(str(target), {})
        folders = entry.get("folders")
        for folder in folders if gone and isinstance(folders, list) else ():
            if isinstance(folder, str) and target.is_relative_to(folder):
                with contextlib.suppress(OSError):  # somebody put something into it
                    Path(folder).rmdir()
