"""Become another program, in this process and terminal: its exit code, its signals and its screen are its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn


def become(
    program: Path, words: Sequence[str], variables: Mapping[str, str], folder: Path, stdin: str = ""
) -> NoReturn:
    """Go on as `program` in `folder`; `stdin` is a file that it reads as its standard input.

    Raises `OSError` when it cannot be started; then this program is still what it was, in that folder.
    """
    os.chdir(folder)
    if stdin:
        descriptor = os.open(stdin, os.O_RDONLY | os.O_NOFOLLOW)
        os.dup2(descriptor, 0)
        os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, and what is ignored stays so
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, [str(program), *words], {**variables, "PWD": str(folder)})  # noqa: S606 - the words are no shell's
