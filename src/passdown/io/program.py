"""Programs on the search path: found by absolute folders only, and asked for nothing but their version.

Only the programs of a fixed table are ever started. A project's configuration may name others; those are looked up, not
run, because a name out of a repository must not decide what is executed.
"""

from __future__ import annotations

import os
from pathlib import Path

from passdown.model.pattern import lazy_pattern

TIMEOUT = 5.0
"""Seconds a tool has to say its version."""

VERSION_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "python": ("-V",), "python3": ("-V",), "node": ("--version",), "npm": ("--version",), "pnpm": ("--version",),
    "yarn": ("--version",), "bun": ("--version",), "deno": ("--version",), "uv": ("--version",), "pip": ("--version",),
    "poetry": ("--version",), "ruff": ("--version",), "mypy": ("--version",), "cargo": ("--version",),
    "rustc": ("--version",), "go": ("version",), "java": ("-version",), "javac": ("-version",), "ruby": ("--version",),
    "php": ("--version",), "perl": ("-v",), "gcc": ("--version",), "g++": ("--version",), "clang": ("--version",),
    "make": ("--version",), "cmake": ("--version",), "ninja": ("--version",), "docker": ("--version",),
    "swift": ("--version",), "dotnet": ("--version",), "gh": ("--version",), "git-lfs": ("--version",),
    "jq": ("--version",), "rg": ("--version",), "sqlite3": ("--version",), "terraform": ("--version",),
}  # fmt: skip

_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_VERSION = lazy_pattern(r"\d+(?:\.\d+)+(?:[-+._]?[A-Za-z0-9]+)*|\d+")


def find_program(name: str, *, outside: Path | None = None) -> Path | None:
    """Return the program's absolute path, or None. Relative folders on the search path do not count.

    With `outside`, nothing under that folder counts either, whether it lies or only points there.
    """
    if not _NAME.fullmatch(name):
        return None
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        place = f"{folder}/{name}"
        if not folder.startswith("/") or not os.path.isfile(place) or not os.access(place, os.X_OK):  # noqa: PTH113
            continue
        if outside is None:
            return Path(place)
        if not _lies_in(Path(folder), outside):
            return None if _lies_in(Path(place), outside) else Path(place)
    return None


def program_version(name: str, *, outside: Path) -> str:
    """Return a tool's version; `present` when it is there but unknown or silent, an empty string when it is not there.

    Runs nothing that lies under `outside`, in its folder, or that is not in `VERSION_ARGUMENTS`.
    """
    program = find_program(name, outside=outside)
    if program is None:
        return ""
    if name not in VERSION_ARGUMENTS:
        return "present"
    import subprocess  # noqa: TID251 - the one other start of a process; costly to load, and many projects name no tool

    try:
        done = subprocess.run(
            [str(program), *VERSION_ARGUMENTS[name]],
            cwd="/",
            input=b"",
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "present"
    text = (done.stdout[:4096] + b"\n" + done.stderr[:4096]).decode("utf-8", "replace")
    version = _VERSION.search(text)
    return version[0][:64] if version and done.returncode == 0 else "present"


def _lies_in(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
