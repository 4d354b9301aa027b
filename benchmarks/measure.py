"""Run a command as a child process and take its processor time, wall time and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_LAUNCH = """
import os, sys, time
told = int(sys.argv[1])
os.set_inheritable(told, False)
started = time.perf_counter()
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
wall = time.perf_counter() - started
cpu = usage.ru_utime + usage.ru_stime
os.write(told, f"[{os.waitstatus_to_exitcode(status)}, {cpu}, {wall}, {usage.ru_maxrss}]".encode())
"""
"""What starts the command: a process counts the memory of the one that started it as its own, so that one is small."""


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
    answer, told = os.pipe()
    with stdin.open("rb") as given:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCH, str(told), *argv], cwd=folder, env=env, stdin=given,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=(told,),
        )  # fmt: skip
    os.close(told)
    _, words = child.communicate()
    with os.fdopen(answer) as stream:
        code, cpu, wall, peak = json.loads(stream.read())
    if code not in codes:
        raise RuntimeError(f"{argv[:4]} exited {code}: {words.decode(errors='replace')[-400:]}")
    return Cost(cpu, wall, peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


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
