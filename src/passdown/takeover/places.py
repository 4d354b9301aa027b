"""What lies at the paths a packet names: content, kind, and where a file that is gone may have moved to."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import is_inside, open_regular
from passdown.io.git import try_git
from passdown.model.path import decode_path, encode_path
from passdown.packet.paths import is_relative
from passdown.repository.blobs import read_present
from passdown.repository.submodules import checked_out
from passdown.takeover.ground import Ground

HASHED = 64 << 20
"""Largest file whose SHA-256 is compared, in bytes."""

_LONGEST = 1024
_BLOCK = 1 << 20


class Hashes(NamedTuple):
    """A file's SHA-256 as it lies there, and with all line endings as LF and as CRLF."""

    exact: str
    lf: str
    crlf: str


class Places:
    """The paths of one repository; nothing outside it, and nothing in git's own folder, is ever looked at."""

    def __init__(self, ground: Ground, paths: Iterable[str] = ()) -> None:
        self._ground = ground
        self._raws: dict[str, bytes | None] = {}
        self._folders: dict[Path, bool] = {}
        self._asked = [path for path in dict.fromkeys(paths) if self.raw(path) is not None]

    def raw(self, path: str) -> bytes | None:
        """Return a packet's path as bytes; None when it is no path of this repository, or was cut or masked."""
        if path not in self._raws:
            self._raws[path] = self._encode(path)
        return self._raws[path]

    def _encode(self, path: str) -> bytes | None:
        if not is_relative(path) or len(path) > _LONGEST or path.endswith("…") or "[redacted:" in path or "\n" in path:
            return None
        parts = path.split("/")
        if any(part.lower() == ".git" or part in ("", ".") for part in parts):
            return None
        try:
            name = encode_path(path)
        except FormatError:
            return None
        folder = self._place(name).parent
        if folder not in self._folders:
            self._folders[folder] = is_inside(self._ground.root, folder)
        return name if self._folders[folder] else None

    def _place(self, name: bytes) -> Path:
        return self._ground.root / os.fsdecode(name)

    def status(self, path: str) -> os.stat_result | None:
        """Return what `lstat` says; None when nothing is there. Names are compared byte by byte."""
        name = self.raw(path)
        if name is None:
            return None
        try:
            found = self._place(name).lstat()
        except (OSError, ValueError):
            return None
        return found if self._exact(name) else None

    def readable(self, path: str) -> bool:
        """Say whether the folder of the path can be looked into."""
        name = self.raw(path)
        if name is None:
            return False
        folder = self._place(name).parent
        while not folder.exists() and folder != self._ground.root:
            folder = folder.parent
        return os.access(folder, os.X_OK)

    def _exact(self, name: bytes) -> bool:
        if self._ground.environment.fs_case != "insensitive":
            return True
        folder = os.fsencode(self._ground.root)
        for part in name.split(b"/"):
            if part not in os.listdir(folder):  # noqa: PTH208 - bytes in, bytes out
                return False
            folder += b"/" + part
        return True

    @cached_property
    def _present(self) -> dict[str, str]:
        raws = {name: path for path in self._asked if (name := self.raw(path)) is not None}
        found = read_present(self._ground.layout, raws)
        return {raws[name]: present.blob for name, present in found.items()}

    def blob(self, path: str) -> str:
        """Return the id that the present content has for git, a submodule's commit; empty when it has none."""
        status, name = self.status(path), self.raw(path)
        if status is None or name is None:
            return ""
        if stat.S_ISDIR(status.st_mode):
            return checked_out(self._ground.root, name)
        return self._present.get(path, "")

    def is_plain_folder(self, path: str) -> bool:
        """Say whether a folder that is no repository of its own lies there."""
        status, name = self.status(path), self.raw(path)
        if status is None or name is None or not stat.S_ISDIR(status.st_mode):
            return False
        return not os.path.lexists(self._place(name) / ".git")

    def is_link(self, path: str) -> bool:
        """Say whether a symlink lies there where git's index has none, or the other way round."""
        status = self.status(path)
        if status is None:
            return False
        mode = self._index_modes.get(path, "")
        return bool(mode) and (mode == "120000") != stat.S_ISLNK(status.st_mode)

    @cached_property
    def _index_modes(self) -> dict[str, str]:
        """The kinds that HEAD has for the paths asked about."""
        return {path: mode for path, (mode, _) in self._tree("HEAD").items()}

    def _tree(self, commit: str) -> dict[str, tuple[str, str]]:
        names = [os.fsdecode(name) for path in self._asked if (name := self.raw(path)) is not None]
        if not names:
            return {}
        code, output, _ = try_git(self._ground.root, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit,
                                  "--", *names)  # fmt: skip
        found = {}
        for record in output.split(b"\0") if code == 0 else ():
            info, tab, name = record.partition(b"\t")
            if tab:
                mode, _, blob = info.decode().split()
                found[decode_path(name)] = (mode, blob)
        return found

    def blobs_at(self, commit: str) -> dict[str, str]:
        """Return the blobs that a commit has at the paths asked about; empty when the commit is not here."""
        return {path: blob for path, (_, blob) in self._tree(commit).items()}

    @cached_property
    def _by_blob(self) -> dict[str, str]:
        code, output, _ = try_git(self._ground.root, "ls-files", "-s", "-z")
        found: dict[str, str] = {}
        for record in output.split(b"\0") if code == 0 else ():
            info, tab, name = record.partition(b"\t")
            if tab:
                found.setdefault(info.split()[1].decode(), decode_path(name))
        for change in self._ground.facts.changes:
            if change.blob:
                found.setdefault(change.blob, change.path)
        return found

    @cached_property
    def _left_out(self) -> frozenset[str]:
        names = [os.fsdecode(name) for path in self._asked if (name := self.raw(path)) is not None]
        code, output, _ = try_git(self._ground.root, "--literal-pathspecs", "ls-files", "-t", "-z", "--", *names)
        records = output.split(b"\0") if code == 0 else []
        return frozenset(decode_path(record[2:]) for record in records if record.startswith(b"S "))

    def is_left_out(self, path: str) -> bool:
        """Say whether git tracks the path and was told not to check it out here (a sparse checkout)."""
        return path in self._left_out

    def moved_to(self, path: str, blob: str) -> str:
        """Return another path that now has the content, empty when there is none."""
        other = self._by_blob.get(blob, "")
        return other if other != path and self.status(other) is not None else ""

    def hashes(self, path: str) -> Hashes | None:
        """Return the SHA-256 of the file, following only links that stay inside; None when it cannot be had."""
        name = self.raw(path)
        if name is None:
            return None
        place = self._place(name)
        try:
            if not is_inside(self._ground.root, place):
                return None
            with open_regular(place.resolve()) as stream:
                if os.fstat(stream.fileno()).st_size > HASHED:
                    return None
                data = stream.read(HASHED + 1)
        except (OSError, UnsafeError, ValueError, RuntimeError):
            return None
        lf = data.replace(b"\r\n", b"\n")
        return Hashes(*(hashlib.sha256(form).hexdigest() for form in (data, lf, lf.replace(b"\n", b"\r\n"))))
