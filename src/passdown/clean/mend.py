"""The commands that mend: exact, quoted for a shell, to be run at the repository's root."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from passdown.errors import FormatError
from passdown.model.path import encode_path

NAMED = 20
"""Most paths a command names; past so many it takes all of them by a general rule."""

LONGEST = 380
"""A longer command is not shown whole, and takes all paths, too."""

_GLOB = frozenset("*?[")


def quote_path(path: str) -> str:
    """Return a path quoted for a shell, as a pathspec that means this path alone."""
    try:
        text = encode_path(path).decode("utf-8", "surrogateescape")
    except FormatError:
        text = path
    if not text.isprintable() or "  " in text:  # shown in one line, where spaces do not pile up
        return "\"$(printf '" + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogateescape")) + "')\""
    if text.startswith(":") or _GLOB & set(text):
        text = f":(literal){text}"
    return shlex.quote(text)


def quote_file(path: str) -> str:
    """Return a path quoted for a shell, as any program but git takes it."""
    return quote_path(path).replace(":(literal)", "", 1)


def _escaped(byte: int) -> str:
    plain = chr(byte)
    return plain if (plain.isascii() and plain.isalnum()) or plain in "/._-" else f"\\{byte:03o}"


def commit_command(paths: Sequence[str], message: str, *, tracked: bool) -> str:
    """Return the command that commits these paths: by name, or all of their kind when there are many."""
    words = shlex.quote(message)
    names = " ".join(map(quote_path, paths[: NAMED + 1]))
    command = f"git add -- {names} && git commit -q -m {words} -- {names}"
    if len(paths) <= NAMED and (len(command) <= LONGEST or len(paths) == 1):
        return command
    return f"git commit -q -a -m {words}" if tracked else f"git add -A && git commit -q -m {words}"


def listed(paths: Sequence[str], total: int = 0, *, shown: int = 3) -> str:
    """Return the first paths and how many more there are."""
    more = max(total, len(paths)) - shown
    names = ", ".join(paths[:shown])
    return f"{names} and {more} more" if more > 0 else names
