"""The terminal a command runs on: who is in its foreground, and stand-ins for output that is read on its way there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import termios
from collections.abc import Iterator


class Foreground:
    """The controlling terminal while a child runs in a process group of its own.

    The child's group becomes the terminal's foreground, as a shell would have it, so that it may read from it and gets
    its Ctrl-C. `shared` is True in a pipeline on a terminal (`passdown run -- x | less`): the other programs need the
    foreground as well, so the child must stay in this process's group.
    """

    def __init__(self) -> None:
        self._descriptor = -1
        self._ours = os.getpgrp()
        with contextlib.suppress(OSError):
            self._descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        alone = os.isatty(0) and os.isatty(1)
        self.shared = self._descriptor >= 0 and not alone and self.is_held_by(self._ours)

    @property
    def present(self) -> bool:
        """Whether there is a controlling terminal."""
        return self._descriptor >= 0

    def is_held_by(self, group: int) -> bool:
        """Say whether a process group is in the foreground."""
        try:
            return self._descriptor >= 0 and os.tcgetpgrp(self._descriptor) == group
        except OSError:
            return False

    def give(self, group: int) -> None:
        """Put a group into the foreground, if this process's own is there."""
        if self.is_held_by(self._ours) and not self.shared:
            self._set(group)

    def take_back(self, group: int) -> None:
        """Put this process's group back, if the child's is there."""
        if self.is_held_by(group):
            self._set(self._ours)

    def close(self) -> None:
        """Let go of the terminal."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _set(self, group: int) -> None:
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a background group may not do this otherwise
        try:
            with contextlib.suppress(OSError):
                os.tcsetpgrp(self._descriptor, group)
        finally:
            signal.signal(signal.SIGTTOU, before)


@contextlib.contextmanager
def outlets(targets: tuple[int, int]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the reading ends and the writing ends for a child's stdout and stderr; the caller closes the reading ends.

    A target that is a terminal gets a pseudo terminal of the same size, which changes no byte: programs keep their
    colours and write line by line. Anything else gets a pipe. The writing ends are closed on leaving.
    """
    reading: list[int] = []
    writing: list[int] = []
    try:
        for target in targets:
            source, sink = _pseudo_terminal(target) if os.isatty(target) else os.pipe()
            reading.append(source)
            writing.append(sink)
        yield reading, writing
    except BaseException:
        for descriptor in reading:
            os.close(descriptor)
        raise
    finally:
        for descriptor in writing:
            os.close(descriptor)


def _pseudo_terminal(like: int) -> tuple[int, int]:
    import pty

    source, sink = pty.openpty()
    attributes = termios.tcgetattr(sink)
    attributes[1] &= ~termios.OPOST  # the real terminal turns line feeds into new lines; twice would be wrong
    termios.tcsetattr(sink, termios.TCSANOW, attributes)
    os.set_inheritable(source, False)
    copy_size(like, source)
    return source, sink


def copy_size(like: int, source: int) -> None:
    """Give a pseudo terminal the size of a real one."""
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(like, termios.TIOCGWINSZ, bytes(8))
        if size != fcntl.ioctl(source, termios.TIOCGWINSZ, bytes(8)):
            fcntl.ioctl(source, termios.TIOCSWINSZ, size)
