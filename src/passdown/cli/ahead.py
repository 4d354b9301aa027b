"""A head start for git: asked before the command line is loaded, it walks a large tree while Python imports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENT = ("status", "take")
"""The commands that wait for git, and what else they do is loaded meanwhile."""


@contextmanager
def head_start(words: list[str]) -> Iterator[None]:
    """Start what git will be asked by the command in `words`, and keep the answers until the command has ended.

    Only for a call that is plain enough to be understood without the command line, inside a repository. An answer
    counts for the same question in the same folder alone; what nobody asks for is stopped, not waited for.
    """
    command, folder = _plain_call(words)
    if not command:
        yield
        return
    from pathlib import Path

    from passdown.errors import GitError
    from passdown.hooks.ground import find_repository
    from passdown.io.git import ask_ahead, one_moment
    from passdown.repository.plain import plain_root
    from passdown.repository.questions import GLANCE, LAYOUT, STATUS

    try:
        place = find_repository(os.path.realpath(folder)) if os.path.isdir(folder) else None  # noqa: PTH112
    except OSError:  # the folder we are in was deleted
        place = None
    if place is None:
        yield
        return
    with one_moment():
        with suppress(GitError):  # asked again, it says why
            if not plain_root(Path(folder)):
                ask_ahead(Path(folder), *LAYOUT)
            ask_ahead(Path(place[0]), *(GLANCE if command == "status" else STATUS))
        yield


def _plain_call(words: list[str]) -> tuple[str, str]:
    """Return the command and its folder; no command where anything stands there but `[-C DIR] COMMAND [--json]`."""
    folder = "."
    if words[:1] == ["-C"] and len(words) > 2:
        folder, words = words[1], words[2:]
    known = words[:1] in ([name] for name in _PATIENT) and words[1:] in ([], ["--json"])
    return (words[0], folder) if known else ("", folder)
