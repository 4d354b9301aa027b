"""A process of ours that is asked and answers over its streams, and never has longer than it is given.

It is started with nothing of this process's environment and no other descriptor. What it answers is taken for hostile:
an answer has a length that is checked before it is read, and a time by which it has to be there.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import subprocess  # noqa: TID251 - the one place where a process behind walls is started
import time
from collections.abc import Sequence
from typing import IO

from passdown.errors import UnsafeError

_HEAD = 4
_STARTUP = 60.0


class Confined:
    """The process. `ask` sends bytes and waits for bytes; `close` ends it with everything that it started."""

    def __init__(self, argv: Sequence[str], most: int) -> None:
        self.most = most
        self.said = ""
        self.child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={}, cwd="/",
            start_new_session=True,
        )  # fmt: skip

    def ready(self) -> bytes:
        """Return the first answer, which nobody asked for. Raises `UnsafeError` with the reason when there is none."""
        try:
            return self._answer(_STARTUP)
        except UnsafeError as error:
            self.close()
            lines = self.said.splitlines()
            raise UnsafeError(
                "no sandbox can be made on this system", where=lines[-1][:200] if lines else str(error),
                next_step="Allow user namespaces or install bubblewrap; or replay without running: `--replay virtual`.",
            ) from error  # fmt: skip

    def ask(self, question: bytes, seconds: float) -> bytes:
        """Send a question and return the answer. Raises `UnsafeError` when there is none in time, or too long a one."""
        stream = _stream(self.child.stdin)
        try:
            stream.write(struct.pack("!I", len(question)) + question)
            stream.flush()
        except OSError as error:
            raise UnsafeError("the sandbox has ended", next_step="Look at the command it ran last.") from error
        return self._answer(seconds)

    def _answer(self, seconds: float) -> bytes:
        end = time.monotonic() + seconds
        size: int = struct.unpack("!I", self._read(_HEAD, end))[0]
        if size > self.most:
            raise UnsafeError("the sandbox answers more than it may", where=f"{size:,} bytes")
        return self._read(size, end)

    def _read(self, size: int, end: float) -> bytes:
        source = _stream(self.child.stdout).fileno()
        found = bytearray()
        while len(found) < size:
            left = end - time.monotonic()
            if left <= 0 or not select.select([source], [], [], left)[0]:
                raise UnsafeError("the sandbox does not answer in time", next_step="Look at the command it ran last.")
            piece = os.read(source, min(size - len(found), 1 << 20))
            if not piece:
                raise UnsafeError("the sandbox has ended", next_step="Look at the command it ran last.")
            found += piece
        return bytes(found)

    def close(self) -> None:
        """End it, and with it every process behind its walls. What it said on its standard error stays readable."""
        for stream in (self.child.stdin, self.child.stdout):
            with contextlib.suppress(OSError):
                _stream(stream).close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(1.0)
        self.child.kill()
        self.child.wait()
        if not _stream(self.child.stderr).closed:
            with _stream(self.child.stderr) as stream:
                self.said = stream.read(4096).decode("utf-8", "replace").strip()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
