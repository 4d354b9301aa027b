"""`passdown take`: check the packet against this repository and print the brief."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli import offers
from passdown.cli.output import at_terminal, catch_up_first, print_findings, print_json


@click.command()
@click.argument("packet", default="", metavar="[ID|FILE]", shell_complete=offers.packet_or_file)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--tokens", default=1_200, show_default=True, type=click.IntRange(200, 20_000),
              help="Most tokens of the brief (an estimate).")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["person", "agent", "json"]),
              help="For whom; default: person on a terminal, agent in a pipe or inside an agent.")  # fmt: skip
@click.option("--ack", is_flag=True, help="A human's yes to a next step that cannot be taken back or reaches outside.")
@click.option("--steal", is_flag=True, help="A human's word that the agent that took it before is no longer at it.")
@click.option("--portable", is_flag=True, help="Ask for a packet that any other device could go on from: blocked, with "
              "the reasons, when it leans on what git does not carry.")  # fmt: skip
@click.option("--no-receipt", is_flag=True, help="Only look: record no takeover.")
@click.pass_obj
def take(
    folder: str,
    packet: str,
    as_json: bool,
    tokens: int,
    form: str | None,
    ack: bool,
    steal: bool,
    portable: bool,
    no_receipt: bool,
) -> int:
    """Take over: check the packet of this branch, claim by claim, against this repository, and print the brief.

    Each claim holds, drifted, is contradicted, or nobody can tell. Nothing in a packet is ever run. Without a packet,
    or when the last session worked on after it, the brief is built on the spot from the sessions' logs; with nothing
    at all, a cold-start report is printed. A takeover is recorded in git's own folder; `passdown log` lists them.

    What other topics of the repository left to every one (standing wishes, decisions, pinned clues) is told as well, in
    at most 15 % of the tokens; what comes of a takeover decides what is told next time.

    One agent at a time: while an agent that took the packet is still at it, another one is refused (exit code 7, with
    the holder and its age). It is at it until it wraps, ends, or gives no sign of life for `lease-minutes` (5). A
    person is never refused.
    """
    import errno

    from msgspec import structs

    from passdown.handoff.take import Terms
    from passdown.handoff.take import take as take_over
    from passdown.takeover.brief_text import render_brief
    from passdown.takeover.cold_start import render_cold_start

    terms = Terms(
        acknowledge=ack, steal=steal, portable=portable, terminal=at_terminal("stdin", "stdout"),
        receipt=not no_receipt, tokens=tokens,
    )  # fmt: skip
    catch_up_first(folder)
    try:
        taken = take_over(Path(folder), packet, terms=terms)
    except OSError as error:
        if no_receipt or error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        click.echo("note   this repository cannot be written to: the takeover is not recorded", err=True)
        taken = take_over(Path(folder), packet, terms=structs.replace(terms, receipt=False))
    print_findings(taken.findings)
    chosen = "json" if as_json else form or _for_whom(terms.terminal)
    if chosen == "json":
        print_json(taken.report())
    elif taken.brief is not None:
        click.echo(render_brief(taken.brief, "person" if chosen == "person" else "agent", tokens), nl=False)
    elif taken.cold is not None:
        click.echo(render_cold_start(taken.cold), nl=False)
    return taken.exit_code


def _for_whom(terminal: bool) -> str:
    import os

    from passdown.takeover.receipt import who_takes

    return "person" if terminal and who_takes(os.environ) == "human" else "agent"
