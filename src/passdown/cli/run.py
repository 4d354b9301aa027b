"""`passdown run`: run a command and keep a record of how it ended."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--note", default="", metavar="TEXT", help="What you expect, written down before the result is known.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
              help="End the command, and all it started, after so long. Exit code 124.")  # fmt: skip
@click.option("--shell", is_flag=True, help="Hand the words as one text to /bin/sh: pipes, && and variables work.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
@click.pass_obj
def run(folder: str, note: str, timeout: float | None, shell: bool, command: tuple[str, ...]) -> int:
    """Run COMMAND and keep a record: what was run, exit code, duration, the ends of its output, the state of the tree.

    The command's input, output and exit code pass through unchanged, and so do signals; it runs without a shell unless
    --shell is given. On a terminal its output stays a terminal (colours, one line at a time); full-screen programs are
    better started without `run`. A missing program exits with 127, one that cannot be run with 126.

    The record (secrets taken out before it is written) goes to the project's feedback log when the configuration names
    one ([artifacts] feedback) or when there is one that git ignores, else to passdown/feedback_record.jsonl in git's
    own folder, where it makes no tree dirty. `wrap`, `check` and `take` read both. When no record can be written, a
    warning says so; the command is run all the same.
    """
    from passdown.handoff.run import run as run_command

    done = run_command(Path(folder), command, note=note, timeout=timeout, shell=shell)
    if done.error and not done.signal:
        click.echo(f"passdown: {command[0]}: {done.error}", err=True)
    if done.warning:
        click.echo(f"passdown: {done.warning}", err=True)
    if done.signal:
        end_alike(done.signal)
    return done.code


def end_alike(number: int) -> None:
    """End this process by the signal that ended the command, so that whoever waits for it sees the same."""
    import resource

    sys.stdout.flush()
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
