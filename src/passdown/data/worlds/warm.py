"""A Python that has loaded `unittest` already and forks for every command: to load it takes longer than most tests."""

from __future__ import annotations

import os
import select
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from passdown.errors import ConflictError
from passdown.io.process import run_process

_GRACE = 10.0
_PATIENCE = 10
_LOOP = r"""
import io, json, os, runpy, signal, sys, traceback, unittest

def work(ask):
    signal.setitimer(signal.ITIMER_PROF, ask["limit"])
    signal.alarm(ask["limit"] * ask["patience"])
    os.chdir(ask["folder"])
    out = os.open(ask["out"], os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    how, what, *rest = ask["argv"]
    sys.argv = [how, *rest]
    if how == "-m":
        sys.path.insert(0, os.getcwd())
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, "")
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})

def ended(ask):
    try:
        work(ask)
        return 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    return 1

with open(sys.argv[1], encoding="utf-8") as asks, open(sys.argv[2], "w", encoding="utf-8") as answers:
    for line in asks:
        child = os.fork()
        if not child:
            code = 1
            try:
                code = ended(json.loads(line))
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code & 255)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answers.write(f"{code if code >= 0 else 128 - code}\n")
        answers.flush()
"""


class Warm:
    """One such Python. It ends by itself when this process does: nobody can ask it any more."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        with tempfile.TemporaryDirectory(prefix="passdown-warm-") as name:
            asks, answers = (str(Path(name, what)) for what in ("asks", "answers"))
            os.mkfifo(asks)
            os.mkfifo(answers)
            self._asks, self._answers = os.open(asks, os.O_RDWR), os.open(answers, os.O_RDWR)
            self._thread = threading.Thread(target=_serve, args=(asks, answers), daemon=True)
            self._thread.start()
            self.run(["-c", "0"], Path(name), Path(name, "out"), 20)  # afterwards the names are not needed

    def run(self, argv: Sequence[str], folder: Path, out: Path, limit: int) -> int:
        """Run `-m module ...` or `-c code ...` in a folder, with what it says in the file `out`; return the exit code.

        `limit` is in seconds of its own time, so that a busy machine changes no verdict; one that waits is ended later.
        Raises `ConflictError` when there is no answer, which only happens when the process was ended from outside.
        """
        ask = {"argv": list(argv), "folder": str(folder), "out": str(out), "limit": limit, "patience": _PATIENCE}
        with self._lock:
            os.write(self._asks, msgspec.json.encode(ask) + b"\n")
            if not select.select([self._answers], [], [], limit * _PATIENCE + _GRACE)[0]:
                self.pid = 0  # a late answer would be taken for that of the next command
                raise ConflictError("the process that runs tests does not answer", next_step="Run the step again.")
            return int(os.read(self._answers, 16))

    @property
    def usable(self) -> bool:
        """Say whether it is there, and of this process: a fork must not share it."""
        return self.pid == os.getpid() and self._thread.is_alive()


def _serve(asks: str, answers: str) -> None:
    sink = os.open(os.devnull, os.O_WRONLY)
    environ = {
        "PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "COLUMNS": "80",
    }  # fmt: skip
    argv = [sys.executable, "-S", "-s", "-c", _LOOP, asks, answers]
    run_process(argv, cwd=Path("/"), targets=(sink, sink), environ=environ, stdin=False)
    os.close(sink)


_one: list[Warm] = []


def warm() -> Warm:
    """Return the one of this process."""
    if not _one or not _one[0].usable:
        _one[:] = [Warm()]
    return _one[0]
