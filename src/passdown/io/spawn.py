"""Start a program and take what it writes: what calls of git need, at less to load and to do than `subprocess`."""

from __future__ import annotations

import fcntl
import os
import select
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_CHUNK = 64 << 10
_KILL = 9
_OWN_AGAIN = (13, 25)
"""SIGPIPE and SIGXFSZ, which Python ignores and a program expects to end it."""

_PAUSE, _LONGEST_PAUSE = 0.0005, 0.05


class Child:
    """A program that runs; `finish` or `kill` ends it, one of them must be called."""

    def __init__(self, pid: int, feed: int, out: int, err: int) -> None:
        self._pid, self._feed, self._out, self._err = pid, feed, out, err

    def finish(self, data: bytes, timeout: float) -> tuple[int, bytes, bytes]:
        """Write `data` to it, and return its exit code, standard output and standard error once it has ended.

        The code is negative when a signal ended it. Raises `TimeoutError` after `timeout` seconds. Whatever is raised,
        the program has ended.
        """
        try:
            deadline = time.monotonic() + timeout
            written = self._exchange(data, deadline)
            code = self._wait(deadline)
        except BaseException:  # an interrupt, too: nothing is left running
            self.kill()
            raise
        self._close()
        return code, b"".join(written[self._out]), b"".join(written[self._err])

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, _KILL)
        self._close()
        _ended(self._pid, 0)

    def _exchange(self, data: bytes, deadline: float) -> dict[int, list[bytes]]:
        written: dict[int, list[bytes]] = {self._out: [], self._err: []}
        poll, reading = select.poll(), set(written)
        for source in reading:
            poll.register(source, select.POLLIN)
        left = memoryview(data)
        if left and self._feed >= 0:
            os.set_blocking(self._feed, False)
            poll.register(self._feed, select.POLLOUT)
        else:
            self._stop_feeding()
        while reading:
            for descriptor, _ in poll.poll(_milliseconds(deadline)):
                if descriptor == self._feed:
                    left = left[_write(descriptor, left[:_CHUNK]) :]
                    if not left:
                        poll.unregister(descriptor)
                        self._stop_feeding()
                elif chunk := os.read(descriptor, _CHUNK):
                    written[descriptor].append(chunk)
                else:
                    poll.unregister(descriptor)
                    reading.remove(descriptor)
        return written

    def _wait(self, deadline: float) -> int:
        pause = _PAUSE
        while (code := _ended(self._pid, os.WNOHANG)) is None:
            _milliseconds(deadline)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return code

    def _stop_feeding(self) -> None:
        if self._feed >= 0:
            os.close(self._feed)
            self._feed = -1

    def _close(self) -> None:
        self._stop_feeding()
        os.close(self._out)
        os.close(self._err)


def start(argv: list[str], folder: Path, env: Mapping[str, str], *, feed: bool = False) -> Child:
    """Start a program in `folder`, by its absolute path; with `feed` it reads what `finish` is given, else nothing.

    `argv` has to name the folder itself, as git's `-C` does. Raises `OSError` or `ValueError` when it cannot start.
    """
    os.stat(os.path.join(folder, "."))  # noqa: PTH116, PTH118 - a Path has no trailing dot
    opened: list[int] = []
    try:
        out, out_end = _pipe(opened)
        err, err_end = _pipe(opened)
        source, feeding = _pipe(opened) if feed else (_above(os.open(os.devnull, os.O_RDONLY), opened), -1)
        places = [(os.POSIX_SPAWN_DUP2, end, place) for place, end in enumerate((source, out_end, err_end))]
        pid = os.posix_spawn(argv[0], argv, env, file_actions=places, setsigdef=_OWN_AGAIN)
    except BaseException:
        for descriptor in opened:
            os.close(descriptor)
        raise
    for descriptor in (source, out_end, err_end):
        os.close(descriptor)
    return Child(pid, feeding, out, err)


def _pipe(opened: list[int]) -> tuple[int, int]:
    reading, writing = os.pipe()
    return _above(reading, opened), _above(writing, opened)


def _above(descriptor: int, opened: list[int]) -> int:
    """Return it, or another one in its place where it lies among the three that the program will have as its own."""
    if descriptor < 3:  # our own standard streams are closed
        low, descriptor = descriptor, fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
        os.close(low)
    opened.append(descriptor)
    return descriptor


def _write(descriptor: int, data: memoryview) -> int:
    """Return how many bytes were taken; all of them when nobody reads them any more."""
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(data)


def _milliseconds(deadline: float) -> int:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return int(left * 1000) + 1


def _ended(pid: int, options: int) -> int | None:
    try:
        found, status = os.waitpid(pid, options)
    except ChildProcessError:  # this process lets its children go unseen: nobody knows
        return 0
    return os.waitstatus_to_exitcode(status) if found else None
