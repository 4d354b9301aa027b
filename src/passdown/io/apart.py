"""Start work that goes on by itself: nobody waits for it, and it shares neither terminal nor streams with us."""

from __future__ import annotations

import os


def start_apart(argv: list[str]) -> int | None:
    """Start a program of ours in a session of its own and return its process id; None where that is not possible."""
    actions = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    try:
        try:
            return os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setsid=True)
        except NotImplementedError:  # a system without setsid for new processes
            return os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setpgroup=0)
    except OSError:  # too many processes
        return None
