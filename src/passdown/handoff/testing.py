"""Run the project's own test commands, because the reader asked for it, and record each one.

What is run comes from the configuration, the contract, the board or feature list, or AGENTS.md of this working tree;
where none of them names a command, from its manifests. Nothing is ever taken from a packet.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from passdown.clean.commands import SHELL_TEXT, propose_command, prose_of
from passdown.config import Config, load_config
from passdown.errors import UsageError
from passdown.evidence.shell import unwrap_argv
from passdown.evidence.tests import declared_commands
from passdown.handoff.place import find_root
from passdown.handoff.record import look
from passdown.handoff.run import SHELL, record_end
from passdown.io.process import run_process
from passdown.model.workbench import Workbench
from passdown.workbench.load import load_workbench

TIMEOUT = 1800.0
"""Seconds that one test command may take unless told otherwise."""

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended, be it told by a shell in between."""

MARKER = "PASSDOWN_TESTS_OF"
"""Names the repositories whose tests are being run, so that tests that run `check --run-tests` do not run for ever."""

Announce = Callable[[str], None]


class Command(Struct, frozen=True, kw_only=True):
    """One test command that was run: its exit code (None: no result), why there is none, and where it is recorded."""

    command: str
    exit: int | None
    error: str = ""
    duration_ms: int = 0
    record: str = ""
    warning: str = ""


class Tested(Struct, frozen=True, kw_only=True):
    """What was run. `manual` are criteria in words, which a person must look at; `proposed`: manifests named it."""

    commands: tuple[Command, ...] = ()
    manual: tuple[str, ...] = ()
    proposed: bool = False


def run_tests(
    folder: Path, *, timeout: float = TIMEOUT, heuristics: bool = True, announce: Announce = lambda _: None
) -> Tested:
    """Run the test commands of the repository around `folder`, one after the other, their output on standard error.

    `heuristics` allows a command that only the manifests point to. `announce` is told what is run and how it ended.
    Raises `NoEvidenceError` outside a repository, `UsageError` within a run of the same repository's tests, and
    `KeyboardInterrupt` when a person stops it.
    """
    root = find_root(folder)
    config = load_config(root)
    running = [name for name in os.environ.get(MARKER, "").split(os.pathsep) if name]
    if str(root) in running:
        raise UsageError("the tests of this repository are being run already", next_step="Leave --run-tests out.")
    workbench = load_workbench(root, config)
    commands, proposed = commands_of(root, config, workbench, heuristics=heuristics)
    environ = os.environ | {MARKER: os.pathsep.join([*running, str(root)])}
    done: list[Command] = []
    for number, command in enumerate(commands, 1):
        announce(f"[{number}/{len(commands)}] {command}")
        done.append(_run_one(root, config, command, timeout, environ))
        announce(_ending(done[-1]))
    return Tested(commands=tuple(done), manual=prose_of(workbench, config.test_command), proposed=proposed)


def commands_of(root: Path, config: Config, workbench: Workbench, *, heuristics: bool) -> tuple[list[str], bool]:
    """Return the test commands in the order in which they are run, and whether only the manifests named them."""
    declared = declared_commands(workbench, config.test_command).commands
    if declared or not heuristics:
        return list(declared), False
    proposed = propose_command(root)
    return ([proposed] if proposed else []), bool(proposed)


def as_argv(command: str) -> tuple[list[str], list[str] | str]:
    """Return how a command's text is run, and how it is recorded: by its words, or by a shell when it needs one."""
    if not SHELL_TEXT.search(command):
        try:
            words = shlex.split(command)
        except ValueError:
            words = []
        if words:
            return words, command if unwrap_argv(words) is not None else words
    return [SHELL, "-c", command], command


def _run_one(root: Path, config: Config, command: str, timeout: float, environ: dict[str, str]) -> Command:
    argv, written = as_argv(command)
    before = look(root, config)
    ended = run_process(
        argv, cwd=root, timeout=timeout, targets=(2, 2), environ=environ, stdin=False
    )  # fmt: skip
    record, warning = record_end(before, written, ended, cwd=root)
    if ended.code == INTERRUPTED:
        raise KeyboardInterrupt
    code = ended.code if ended.signal else ended.exit
    return Command(
        command=command, exit=code, error=ended.error, duration_ms=ended.duration, record=record, warning=warning
    )


def _ending(done: Command) -> str:
    how = f"exit {done.exit}" if done.exit is not None else "no result"
    why = f" ({done.error})" if done.error else ""
    warning = f"; {done.warning}" if done.warning else ""
    return re.sub(r"\s+", " ", f"  {how}{why} after {done.duration_ms / 1000:.1f} s{warning}").rstrip()
