"""`passdown take`: check the packet against this repository and print the brief."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from passdown.cli.output import print_findings, print_json


@click.command()
@click.argument("packet", default="", metavar="[ID|FILE]")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--tokens", default=1_200, show_default=True, type=click.IntRange(200, 20_000),
              help="Most tokens of the brief (an estimate).")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["human", "agent", "json"]),
              help="For whom; default: human on a terminal, agent in a pipe or inside an agent.")  # fmt: skip
@click.option("--ack", is_flag=True, help="A human's yes to a next step that cannot be taken back or reaches outside.")
@click.option("--no-receipt", is_flag=True, help="Only look: record no takeover.")
@click.pass_obj
def take(
    folder: str, packet: str, as_json: bool, tokens: int, form: str | None, ack: bool, no_receipt: bool
) -> int:  # fmt: skip
    """Take over: check the packet of this branch, claim by claim, against this repository, and print the brief.

    Each claim holds, drifted, is contradicted, or nobody can tell. Nothing in a packet is ever run. Without a packet,
    or when the last session worked on after it, the brief is built on the spot from the sessions' logs; with nothing
    at all, a cold-start report is printed. A takeover is recorded in git's own folder; `passdown log` lists them.
    """
    from passdown.handoff.take import Terms
    from passdown.handoff.take import take as take_over
    from passdown.takeover.brief_text import render_brief
    from passdown.takeover.cold_start import render_cold_start

    terms = Terms(acknowledge=ack, terminal=sys.stdin.isatty() and sys.stdout.isatty(), receipt=not no_receipt)
    taken = take_over(Path(folder), packet, terms=terms)
    print_findings(taken.findings)
    chosen = "json" if as_json else form or _for_whom(terms.terminal)
    if chosen == "json":
        print_json(taken.report())
    elif taken.brief is not None:
        click.echo(render_brief(taken.brief, "human" if chosen == "human" else "agent", tokens), nl=False)
    elif taken.cold is not None:
        click.echo(render_cold_start(taken.cold), nl=False)
    return taken.exit_code


def _for_whom(terminal: bool) -> str:
    import os

    from passdown.takeover.receipt import who_takes

    return "human" if terminal and who_takes(os.environ) == "human" else "agent"
