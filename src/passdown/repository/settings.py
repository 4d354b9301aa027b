"""The few settings of a repository that facts are read from."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from passdown.errors import FormatError, UnsafeError
from passdown.io.files import read_bounded
from passdown.io.git import ask_in_passing
from passdown.model.path import decode_path
from passdown.model.pattern import lazy_pattern

_ATTRIBUTES_LIMIT = 1 << 20
_LFS = lazy_pattern(rb"\bfilter=lfs\b")
_WANTED = r"^(remote\..*\.url|filter\..*\.(clean|process)|core\.(autocrlf|eol|ignorecase))$"


class Settings(Struct, frozen=True):
    """Names of remotes and of content filters (git runs those, whoever configured them), and how lines end."""

    remotes: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    autocrlf: str = ""
    eol: str = ""
    ignore_case: str = ""


def read_settings(root: Path) -> Settings:
    """Read the settings in one call."""
    code, output, _ = ask_in_passing(root, "config", "-z", "--get-regexp", _WANTED)
    remotes: set[str] = set()
    filters: set[str] = set()
    plain: dict[str, str] = {}
    for record in output.split(b"\0") if code == 0 else ():
        key, _, value = record.partition(b"\n")
        section, _, rest = key.partition(b".")
        if section == b"remote":
            remotes.add(decode_path(rest.removesuffix(b".url")))
        elif section == b"filter":
            filters.add(decode_path(rest.rpartition(b".")[0]))
        else:
            plain[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace").lower()
    return Settings(
        tuple(sorted(remotes)),
        tuple(sorted(filters)),
        plain.get("core.autocrlf", ""),
        plain.get("core.eol", ""),
        plain.get("core.ignorecase", ""),
    )


def read_attributes(root: Path) -> bytes:
    """Return the root's `.gitattributes`, empty when there is none that can be read."""
    try:
        return read_bounded(root / ".gitattributes", _ATTRIBUTES_LIMIT)
    except (OSError, UnsafeError, FormatError):
        return b""


def has_lfs(root: Path, common_dir: Path) -> bool:
    """Say whether the repository uses Git LFS: an attribute names it, or it has stored objects here."""
    return bool(_LFS.search(read_attributes(root))) or os.path.lexists(common_dir / "lfs")
