"""Run a command that the reader asked for: as a shell would, its output passed through while both ends are kept.

stdin is inherited. The child gets a process group of its own, which signals sent to this process are passed on to, and
which is ended as a whole when time runs out. Nothing found in a packet ever comes here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import selectors
import signal
import subprocess  # noqa: TID251 - the one place where a reader's own command is run
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from passdown.io.capture import Capture, Kept
from passdown.io.terminal import Foreground, copy_size, outlets

CHUNK = 64 << 10
GRACE = 3.0
"""Seconds between asking a group to end and ending it, and that a finished command's own children may go on writing."""

QUIET = 0.2
"""Seconds without output after which such children are no longer listened to."""

_TICK = 0.05
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)

NOT_FOUND, NOT_EXECUTABLE, TIMED_OUT = 127, 126, 124


class Ended(NamedTuple):
    """How a command ended. `exit` is None when a signal or the timeout ended it; `error` says why there is no result.

    `code` is what a shell would report. `at` is when it began (milliseconds), `duration` how long it took.
    """

    exit: int | None
    code: int
    signal: int
    timed_out: bool
    error: str
    at: int
    duration: int
    out: Kept
    err: Kept


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    timeout: float | None = None,
    targets: tuple[int, int] = (1, 2),
    environ: Mapping[str, str] | None = None,
    stdin: bool = True,
) -> Ended:
    """Run `argv` in `cwd` and pass its output on to the descriptors `targets`, unchanged and at once.

    `stdin` hands this process's own input on; else there is none. Never raises for what the command does: one that is
    missing ends with 127, one that cannot be run with 126.
    """
    return _Run(argv, cwd, timeout, targets, environ, stdin).run()


class _Run:
    """One child, from its start to its end."""

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        timeout: float | None,
        targets: tuple[int, int],
        environ: Mapping[str, str] | None,
        stdin: bool,
    ) -> None:
        self.argv, self.cwd, self.timeout, self.environ = list(argv), cwd, timeout, environ
        self.targets, self.stdin = targets, stdin
        self.captures = (Capture(), Capture())
        self.child: subprocess.Popen[bytes] | None = None
        self.foreground = Foreground()
        self.timed_out = self.lost = False
        self.open: dict[int, int] = {}

    def run(self) -> Ended:
        """Run it."""
        at, clock = time.time_ns() // 1_000_000, time.monotonic()
        try:
            status = self._start()
            if status is None:
                with self._signals():
                    status = self._watch(clock)
        finally:
            self.foreground.close()
            for source in self.open:
                os.close(source)
        out, err = (capture.finish() for capture in self.captures)
        code, error = status
        number = -code if code < 0 else 0
        if self.timed_out:
            return Ended(
                None, TIMED_OUT, 0, True, f"timed out after {self.timeout:g} s", at, _since(clock), out, err
            )  # fmt: skip
        if number:
            error = f"ended by {_signal_name(number)}"
        elif self.lost:
            error = "nobody knows how it ended"
        shown = 128 + number if number else code
        return Ended(
            code if code >= 0 and not self.lost else None, shown, number, False, error, at, _since(clock), out, err
        )  # fmt: skip

    # --- start

    def _start(self) -> tuple[int, str] | None:
        """Start the child; an exit code and the reason when it cannot be started."""
        try:
            with outlets(self.targets) as (reading, writing):
                try:
                    self.child = self._spawn(self.argv, writing)
                except OSError as error:
                    if error.errno != errno.ENOEXEC:
                        raise
                    self.child = self._spawn(["/bin/sh", *self.argv], writing)  # a script without its first line
        except (OSError, ValueError) as error:
            return _refusal(error, self.cwd)
        self.open = {source: index for index, source in enumerate(reading)}
        if not self.foreground.shared:
            self.foreground.give(self.child.pid)
        return None

    def _spawn(self, argv: list[str], writing: list[int]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            cwd=self.cwd,
            env=self.environ,
            stdin=None if self.stdin else subprocess.DEVNULL,
            stdout=writing[0],
            stderr=writing[1],
            process_group=None if self.foreground.shared else 0,
        )

    # --- signals

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in _PASSED_ON:
                if signal.getsignal(number) is not signal.SIG_IGN:  # what the child ignores, too
                    before[number] = signal.signal(number, self._pass_on)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.foreground.shared and number in (signal.SIGINT, signal.SIGQUIT):
            return  # the terminal has sent it to the child as well
        self._send(number)

    def _send(self, number: int) -> None:
        if self.child is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.foreground.shared:
                os.kill(self.child.pid, number)
            else:
                os.killpg(self.child.pid, number)

    # --- while it runs

    def _watch(self, clock: float) -> tuple[int, str]:
        """Pass the output on until the child has ended."""
        deadline = None if self.timeout is None else clock + self.timeout
        killing = None
        with selectors.DefaultSelector() as selector:
            for source in self.open:
                selector.register(source, selectors.EVENT_READ)
            while (ended := self._poll()) is None:
                self._forward(selector, _TICK)
                now = time.monotonic()
                if killing is not None and now >= killing:
                    self._send(signal.SIGKILL)
                    killing = now + GRACE
                elif killing is None and deadline is not None and now >= deadline:
                    self.timed_out = True
                    self._send(signal.SIGTERM)
                    self._send(signal.SIGCONT)
                    killing = now + GRACE
            if self.child is not None:
                self.foreground.take_back(self.child.pid)
            self._drain(selector)
        if self.timed_out:
            self._send(signal.SIGKILL)  # what the child left behind
        return ended, ""

    def _poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs. A child that stops, stops this process."""
        child = self.child
        if child is None:
            return 0
        try:
            pid, status = os.waitpid(child.pid, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:  # the kernel was told to forget children (SIGCHLD ignored)
            self.lost, child.returncode = True, 1
            return 1
        if pid == 0:
            return None
        if os.WIFSTOPPED(status):
            self._stopped(os.WSTOPSIG(status))
            return None
        child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode

    def _stopped(self, number: int) -> None:
        if self.child is None or not self.foreground.present or self.foreground.shared:
            return
        pid = self.child.pid
        if number in (signal.SIGTTIN, signal.SIGTTOU) and self.foreground.is_held_by(pid):
            self._send(signal.SIGCONT)  # it looked before the terminal was handed over
            return
        self.foreground.take_back(pid)
        os.kill(os.getpid(), signal.SIGSTOP)  # goes on behind here when the shell says so
        self.foreground.give(pid)
        self._send(signal.SIGCONT)

    def _forward(self, selector: selectors.BaseSelector, wait: float) -> bool:
        """Pass on what there is; False when there was nothing within `wait` seconds."""
        ready = selector.select(wait)
        for key, _ in ready:
            source = key.fd
            index = self.open[source]
            if os.isatty(self.targets[index]):
                copy_size(self.targets[index], source)
            piece = _read(source)
            self.captures[index].feed(piece)
            if not piece or not _write(self.targets[index], piece):
                selector.unregister(source)
                del self.open[source]
                os.close(source)  # with nobody to read, the child is told so as in any pipe
        return bool(ready)

    def _drain(self, selector: selectors.BaseSelector) -> None:
        end = time.monotonic() + GRACE
        while self.open and self._forward(selector, QUIET) and time.monotonic() < end:
            pass


def _read(source: int) -> bytes:
    try:
        return os.read(source, CHUNK)
    except OSError:  # EIO: nobody has the pseudo terminal open any more
        return b""


def _write(target: int, piece: bytes) -> bool:
    """Write all of it; False when nobody reads any more."""
    view = memoryview(piece)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            select.select([], [target], [])
        except OSError:
            return False
    return True


def _refusal(error: OSError | ValueError, cwd: Path) -> tuple[int, str]:
    if isinstance(error, FileNotFoundError | NotADirectoryError) and cwd.is_dir():
        return NOT_FOUND, "command not found"
    if isinstance(error, OSError):
        return NOT_EXECUTABLE, f"cannot be run: {error.strerror or error}"
    return NOT_EXECUTABLE, f"cannot be run: {error}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _since(clock: float) -> int:
    return int((time.monotonic() - clock) * 1000)
