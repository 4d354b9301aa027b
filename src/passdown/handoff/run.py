"""Run: a command the reader asked for, passed through unchanged, and recorded as evidence."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from passdown.config import load_config
from passdown.errors import PassdownError, UsageError
from passdown.handoff.record import Before, look, write_record
from passdown.io.process import Ended, run_process
from passdown.redact.neutralise import one_line
from passdown.repository.locate import locate

SHELL = "/bin/sh"


class Ran(Struct, frozen=True, kw_only=True):
    """What became of a command: its exit code as a shell reports it, the signal that ended it (0: none).

    `error` says why it gave no result; `record` names the log it was recorded in, `warning` why it was not.
    """

    code: int
    signal: int = 0
    error: str = ""
    record: str = ""
    warning: str = ""


def run(
    folder: Path,
    command: Sequence[str],
    *,
    note: str = "",
    timeout: float | None = None,
    shell: bool = False,
    targets: tuple[int, int] = (1, 2),
) -> Ran:
    """Run a command in `folder` with its input and output passed through, and record it.

    With `shell` the words are one text for `/bin/sh`. Nothing that goes wrong with the record changes how the command
    runs or ends. Raises `UsageError` when there is no command.
    """
    words = [os.fspath(word) for word in command]
    if not words or not words[0]:
        raise UsageError("no command is given", next_step="Write it behind two dashes: passdown run -- pytest -q")
    text = " ".join(words)
    before, warning = _look(folder)
    argv = [SHELL, "-c", text] if shell else words
    ended = run_process(argv, cwd=folder, timeout=timeout, targets=targets)
    written: list[str] | str = text if shell else words
    record, failure = record_end(before, written, ended, cwd=folder, note=note) if before else ("", warning)
    return Ran(code=ended.code, signal=ended.signal, error=ended.error, record=record, warning=failure)


def record_end(before: Before, command: list[str] | str, ended: Ended, *, cwd: Path, note: str = "") -> tuple[str, str]:
    """Record how a command ended; returns where, and why not when it could not be done."""
    try:
        return write_record(before, _decodable(command), ended, cwd=cwd, note=note), ""
    except (PassdownError, OSError, RecursionError) as error:
        return "", f"not recorded: {_reason(error)}"


def _look(folder: Path) -> tuple[Before | None, str]:
    try:
        root = locate(folder)
        if root is None:
            return None, "not recorded: this is no git repository"
        return look(root, load_config(root)), ""
    except (PassdownError, OSError) as error:
        return None, f"not recorded: {_reason(error)}"


def _reason(error: Exception) -> str:
    return one_line(str(error), 300)


def _decodable(command: list[str] | str) -> list[str] | str:
    """Return the words as UTF-8 can hold them."""
    if isinstance(command, str):
        return command.encode(sys.getfilesystemencoding(), "surrogateescape").decode("utf-8", "replace")
    return [str(_decodable(word)) for word in command]
