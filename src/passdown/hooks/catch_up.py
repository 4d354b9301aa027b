"""Catch up before a command answers: what hooks noted and no drain has finished yet."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from passdown.hooks.entry import state_folder
from passdown.hooks.ground import find_repository
from passdown.io.apart import start_apart

BOUND = 2.0


def catch_up(folder: Path, bound: float = BOUND) -> bool:
    """Have the packets written of sessions that ended here, waiting at most `bound` seconds.

    Returns False when that was not enough: the work goes on by itself, and the next command finds it done.
    """
    if not _is_noted():
        return True
    from passdown.hooks.spool import has_work

    place = find_repository(os.path.realpath(folder))
    if place is None or not has_work(Path(place[0])):
        return True
    end = time.monotonic() + bound
    child = start_apart([sys.executable, "-P", "-E", "-m", "passdown.hooks.drain", place[0]])
    while child is not None and time.monotonic() < end:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.01)
    return False


def _is_noted() -> bool:
    """Say whether hooks left anything at all: most often there is nothing, and little is loaded to see that."""
    state = state_folder()
    try:
        with os.scandir(f"{state}/spool") as entries:
            return bool(state) and any(entry.name.endswith((".json", ".tmp")) for entry in entries)
    except OSError:  # most often: no such folder
        return False
