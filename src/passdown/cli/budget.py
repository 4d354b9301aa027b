"""`passdown budget`: how full the context is, and what to do about it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import at_terminal, print_findings, print_json

if TYPE_CHECKING:
    from passdown.handoff.costs.budget import Asked, Standing

_PAYLOAD = 1 << 20


@click.command()
@click.option("--session", default="", metavar="ID|FILE", help="This session; else the one this runs in, else the "
              "newest of this worktree.")  # fmt: skip
@click.option("--agent", default="", metavar="NAME", help="Only sessions of this agent.")
@click.option("--phase", type=click.Choice(["new", "nearly-done"]), help="Where the work stands: about to enter a new "
              "phase, or nearly done with this one.")  # fmt: skip
@click.option("--window", type=click.IntRange(1), metavar="TOKENS", help="The model's context window, where it is not "
              "known or is wrong.")  # fmt: skip
@click.option("--prepare", type=click.FloatRange(0, 1), metavar="PART", help="From this part of the window on, prepare "
              "(0.5).")  # fmt: skip
@click.option("--wrap-up", type=click.FloatRange(0, 1), metavar="PART", help="Above this part of the window, wrap up "
              "(0.7).")  # fmt: skip
@click.option("--watch", is_flag=True, help="Print a line at each change; end with 11 as soon as it is to wrap up.")
@click.option("--every", default=5.0, show_default=True, type=click.FloatRange(0.1, 3600), metavar="SECONDS",
              help="How often --watch looks.")  # fmt: skip
@click.option("--statusline", is_flag=True, help="Print a few words for an agent's status line; always exit 0.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON; with --watch one object a line.")
@click.pass_obj
def budget(
    folder: str,
    session: str,
    agent: str,
    phase: str | None,
    window: int | None,
    prepare: float | None,
    wrap_up: float | None,
    watch: bool,
    every: float,
    statusline: bool,
    as_json: bool,
) -> int:
    """Say how full the context is: go on (exit code 0), prepare a packet (10), or wrap up (11).

    Below half of the model's window go on. From half to 70 % finish what is nearly done (--phase nearly-done exits 0),
    and prepare a packet before a new phase. Above that begin nothing new: wrap up, and go on in a fresh session. Where
    an agent compacts its context by itself before that, both boundaries lie below; where the window is not known, one
    of 100,000 tokens decides.

    \b
    In passdown.toml, or [tool.passdown.budget] in pyproject.toml:
      [budget]
      prepare = 0.5
      wrap-up = 0.7
      tokens = 100000                      # where the window is not known
      windows = { "my-model" = 131072 }    # by the beginning of the model's name

    As Claude Code's status line, in its settings.json:
    {"statusLine": {"type": "command", "command": "passdown budget --statusline"}}
    """
    from passdown.handoff.costs.budget import Asked, read_budget, status_line
    from passdown.sessions.read import agent_called

    asked = Asked(
        session=session, agent=agent_called(agent).id if agent else "", window=window, prepare=prepare,
        wrap_up=wrap_up, phase="new" if phase == "new" else "nearly_done" if phase else "",
    )  # fmt: skip
    if statusline:
        waits = sys.stdin is not None and not at_terminal("stdin")
        payload = sys.stdin.buffer.read(_PAYLOAD) if waits else b""
        click.echo(status_line(Path(folder), payload, asked))
        return 0
    if watch:
        return _watch(Path(folder), asked, every, as_json=as_json)
    standing = read_budget(Path(folder), asked)
    print_findings(standing.findings)
    if as_json:
        print_json(standing.report())
    else:
        click.echo(standing.line())
    return standing.level.exit_code


def _watch(folder: Path, asked: Asked, every: float, *, as_json: bool) -> int:
    import time

    import msgspec

    from passdown.handoff.costs.budget import watch_budget

    last: Standing | None = None
    for standing in watch_budget(folder, asked):
        if standing is None:
            time.sleep(every)
            continue
        last = standing
        line = msgspec.json.encode(standing.report(), order="sorted").decode() if as_json else standing.line()
        click.echo(line)
    return last.level.exit_code if last is not None else 0
