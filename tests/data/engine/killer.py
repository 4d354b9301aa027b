"""Run a pipeline in children of a process that has everything loaded, kill them at random moments, and tell when.

Arguments: the pipeline file, how many kills, with how many workers, a seed. Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from passdown.data.engine import perturbing, stages, whole  # noqa: F401
from passdown.data.filters import decontaminate, licence, minhash, quality, split  # noqa: F401
from passdown.data.points import detect, select  # noqa: F401
from passdown.data.replay import virtual  # noqa: F401
from passdown.data.samples import build, render  # noqa: F401
from passdown.data.subtasks import graph  # noqa: F401
from passdown.data.views import table  # noqa: F401

STEPS = 8
"""Folders that a run has made when it ends, about: some hold no step."""


def start(file: Path, workers: int) -> int:
    """Start a run in a session of its own and return its process."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        whole.run_pipeline(file, workers=workers)
        code = 0
    finally:
        os._exit(code)


def folders(out: Path) -> list[str]:
    """Return the steps that were begun: a slow machine is as far after so many of them as a fast one."""
    return sorted(path.name for path in out.iterdir() if path.is_dir()) if out.is_dir() else []


def ended_before(child: int, seconds: float, reached: Callable[[], bool] = lambda: False) -> bool:
    """Wait so long at most, or until it `reached` something; say whether the run ended. Raises when it failed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not reached():
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            if status:
                raise RuntimeError(f"a run failed with {os.waitstatus_to_exitcode(status)}")
            return True
        time.sleep(0.001)
    return False


def is_gone(session: int, patience: float = 20.0) -> bool:
    """Say whether nothing of a session is left, soon after its leader was killed."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.005)
    return False


def main() -> None:
    """Kill until it was done often enough, each time somewhere in what was left; then let the last run end."""
    file, kills, workers, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    chance, out = random.Random(seed), file.parent / "handoff-data"
    began = time.monotonic()
    whole_run = ended_before(start(file, workers), 100)
    took = time.monotonic() - began
    shutil.rmtree(out)
    told: list[dict[str, object]] = []
    while whole_run and len(told) < kills:
        step, moment = chance.randint(0, STEPS), chance.uniform(0, took / STEPS)
        if len(folders(out)) > step:
            shutil.rmtree(out)
        child, began = start(file, workers), time.monotonic()
        if ended_before(child, 100, lambda step=step: len(folders(out)) >= step) or ended_before(child, moment):
            shutil.rmtree(out)
            continue
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        spent = time.monotonic() - began
        told.append({"after": round(spent, 3), "folders": len(folders(out)), "gone": is_gone(child)})
    if not ended_before(start(file, 3 - workers), 100):
        raise RuntimeError("the last run did not end")
    print(json.dumps({"took": took, "kills": told}))


if __name__ == "__main__":
    main()
