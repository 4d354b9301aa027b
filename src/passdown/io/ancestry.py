"""The programs this one runs in, by names that no later process can have; known on Linux, elsewhere nobody can tell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_DEPTH = 12
_FAR = 64
_WORDS, _WORDS_LIMIT = 8, 16 << 10


def own_name() -> str:
    """Return the name of this process, which stays the same when it becomes another program; empty when unknown."""
    fields, space = _fields(os.getpid()), _space()
    return f"{space}:{os.getpid()}:{fields[19]}" if fields and space else ""


def ancestors() -> tuple[str, ...]:
    """Return the names of the parent process, its parent, and so on; empty where the system does not tell."""
    found: list[str] = []
    space = _space()
    pid = os.getppid()
    while space and pid > 1 and len(found) < _DEPTH:
        fields = _fields(pid)
        if not fields:
            break
        found.append(f"{space}:{pid}:{fields[19]}")
        pid = int(fields[1])
    return tuple(found)


class Program(NamedTuple):
    """A running program: its process, the file that is executed, and the first words of its command line."""

    pid: int
    file: str
    words: tuple[str, ...]
    folder: str = ""


def ancestor_programs() -> tuple[Program, ...]:
    """Return the programs of `ancestors`; empty where the system does not tell, without those of other users."""
    found: list[Program] = []
    pid, left = os.getppid(), _FAR
    while pid > 1 and left:
        fields, left = _fields(pid), left - 1
        if not fields:
            break
        if program := _program(pid):
            found.append(program)
        pid = int(fields[1])
    return tuple(found)


def _program(pid: int) -> Program | None:
    place = _PROC / str(pid)
    try:
        file, folder = str((place / "exe").readlink()), str((place / "cwd").readlink())
        with (place / "cmdline").open("rb") as stream:
            words = stream.read(_WORDS_LIMIT).split(b"\0")[:_WORDS]
    except OSError:
        return None
    return Program(pid, file.removesuffix(" (deleted)"), tuple(os.fsdecode(word) for word in words), folder)


def is_over(names: Sequence[str], here: Sequence[str]) -> bool:
    """Say whether the programs named have all ended, those aside that run `here`, too.

    Where two takers were started from one shell, that shell says nothing. False when nobody can tell: no names, or
    names from another container.
    """
    own = [name for name in names if name not in here]
    space = _space()
    if not own or not space or any(not name.startswith(f"{space}:") for name in own):
        return False
    return not any(_is_running(name) for name in own)


def _is_running(name: str) -> bool:
    _, _, rest = name.partition(":")
    pid, _, began = rest.partition(":")
    fields = _fields(int(pid)) if pid.isascii() and pid.isdigit() and len(pid) <= 9 else []
    return bool(fields) and fields[19] == began


def _space() -> str:
    """Return the name of this boot and this container; empty where the system does not tell."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()[:8]
        return f"{boot}.{str((_PROC / 'self/ns/pid').readlink()).strip('pid:[]')}"
    except OSError:
        return ""


def _fields(pid: int) -> list[str]:
    """Return the fields of `stat` behind the command: state, parent, … and as the twentieth when it began."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return []
    fields = text.rpartition(")")[2].split()
    return fields if len(fields) > 19 and fields[0] not in ("Z", "X") else []
