"""`passdown launch`: start an agent with the brief."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import at_terminal, catch_up_first, print_findings, print_json

if TYPE_CHECKING:
    from passdown.handoff.launch import Launch


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("agent", metavar="AGENT")
@click.option("--topic", default="", metavar="TEXT", help="Which topic's packet, where the branch has several.")
@click.option("--say", "said", default="", metavar="TEXT", help="Your own wish, put before the brief; without one the "
              "agent is asked for the next step that it proposes.")  # fmt: skip
@click.option(
    "--dry-run", is_flag=True, help="Show the command line, the brief and the checks; start and write nothing."
)
@click.option("--json", "as_json", is_flag=True, help="With --dry-run: print it as JSON.")
@click.option("--ack", is_flag=True, help="A human's yes to a next step that cannot be taken back or reaches outside.")
@click.option("--private", is_flag=True, help="Keep the brief off the command line, where other users of the machine "
              "could see it: where the agent takes no file, it is told to read one.")  # fmt: skip
@click.option("--allow-nested", "nested", is_flag=True, help="A human's word, in a terminal, that it may be started "
              "inside another agent. The receipt says so.")  # fmt: skip
@click.argument("extra", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGUMENT...]")
@click.pass_obj
def launch(
    folder: str,
    agent: str,
    topic: str,
    said: str,
    dry_run: bool,
    as_json: bool,
    ack: bool,
    private: bool,
    nested: bool,
    extra: tuple[str, ...],
) -> int:
    """Start AGENT at the root of this repository with the brief of this branch's packet, as `passdown take` gives it.

    AGENT is claude_code, codex, pi, opencode, gemini, qwen, copilot or openhands. It runs in this terminal, in this
    process: its exit code is this command's. Words after -- go to it as they are, and its way to run without a terminal
    works: `passdown launch codex -- exec`, `passdown launch claude_code -- -p`, `passdown launch gemini -- -p`.

    First is checked what `take` checks, with its exit codes: 6 when the packet is of another branch, stale or blocked,
    8 when the next step waits for a human's --ack, 7 when another agent has the topic in hand, 4 when there is nothing
    to go on from. Inside another agent nothing is started (8): give that agent the line of `passdown prompt take`, or
    run this in a terminal of your own. The takeover is recorded, in the agent's name.

    The brief is data, and says so. An agent that has passdown's hooks is not told it twice.
    """
    from passdown.errors import UsageError
    from passdown.handoff.launch import Order, go, plan
    from passdown.handoff.launch import launch as start

    if as_json and not dry_run:
        raise UsageError("--json is for --dry-run: what is started prints in its own way")
    order = Order(
        agent=agent, topic=topic, extra=extra, said=said, acknowledge=ack, nested=nested, private=private,
        terminal=at_terminal("stdin", "stdout"),
    )  # fmt: skip
    catch_up_first(folder)
    if not dry_run:
        ready = start(Path(folder), order)
        print_findings(ready.findings)
        _announce(ready)
        go(ready)
    planned = plan(Path(folder), order)
    if as_json:
        print_json(planned.report())
    else:
        _show(planned)
    return planned.error.exit_code if planned.error else 0


def _announce(ready: Launch) -> None:
    how = ready.verdict.replace("_", " ")
    click.echo(f"passdown: starting {ready.agent} with packet {ready.packet_id[:12]} ({how})", err=True)
    if ready.cheaper:
        click.echo(f"note   cheaper, if that session has ended: {ready.cheaper}", err=True)


def _show(planned: Launch) -> None:
    for check in planned.checks:
        click.echo(f"{'ok  ' if check.ok else 'NO  '}  {check.name}{f': {check.detail}' if check.detail else ''}")
    if not planned.words:
        return
    click.echo(f"\nin    {planned.folder}")
    words = [word.partition("\n\n[passdown] Handoff")[0] for word in planned.words]
    within = " (and the brief)" if planned.road == "argument" else ""
    click.echo(f"runs  {shlex.join([planned.program or planned.command, *words])}{within}")
    if planned.stdin:
        click.echo(f"stdin {planned.stdin}")
    sets = " ".join(f"{name}={value}" for name, value in planned.variables.items())
    click.echo(f"sets  {sets}{f'; drops {chr(32).join(planned.dropped)}' if planned.dropped else ''}")
    click.echo(f"brief by {planned.road}{'' if planned.road == 'argument' else f', {planned.files[0]}'}:\n")
    click.echo(planned.brief, nl=False)
