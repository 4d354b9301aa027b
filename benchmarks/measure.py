"""Run a command as a child process and take its processor time, wall time and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds of processor and wall time, and peak resident megabytes."""

    cpu: float
    wall: float
    peak: float


def run(
    argv: list[str],
    *,
    folder: Path | None = None,
    env: dict[str, str] | None = None,
    codes: tuple[int, ...] = (0,),
    stdin: Path = Path(os.devnull),
) -> Cost:
    """Run once. Raises `RuntimeError` with the child's last words when its exit code is none of `codes`."""
    with stdin.open("rb") as given:
        started = time.perf_counter()
        child = subprocess.Popen(
            argv, cwd=folder, env=env, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    assert child.stderr is not None
    words = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if child.returncode not in codes:
        raise RuntimeError(f"{argv[:4]} exited {child.returncode}: {words.decode(errors='replace')[-400:]}")
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / scale)


def best(
    argv: list[str],
    times: int,
    *,
    folder: Path | None = None,
    env: dict[str, str] | None = None,
    codes: tuple[int, ...] = (0,),
    stdin: Path = Path(os.devnull),
) -> Cost:
    """Run several times; return the smallest of each figure (the machine's noise only adds)."""
    costs = [run(argv, folder=folder, env=env, codes=codes, stdin=stdin) for _ in range(times)]
    return Cost(min(c.cpu for c in costs), min(c.wall for c in costs), max(c.peak for c in costs))
