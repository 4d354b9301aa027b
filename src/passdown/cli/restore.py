"""`passdown restore`: make an old packet the active one again."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli import offers
from passdown.cli.output import print_findings, print_json, say_commit


@click.command()
@click.argument("packet", metavar="ID", shell_complete=offers.packet)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def restore(folder: str, packet: str, as_json: bool) -> None:
    """Make an old packet the active one of its branch and topic again.

    ID is the beginning of the packet's id (four digits or more) or its session's id; `passdown log` lists them. What it
    says is repeated in a new packet, which supersedes the present one: history is only added to. `take` then checks the
    old claims against the repository as it is now.
    """
    from passdown.handoff.restore import restore as make_active

    done = make_active(Path(folder), packet)
    print_findings(done.findings)
    if as_json:
        print_json(done.report())
        return
    for path in done.changed:
        click.echo(path)
    click.echo(done.headline(), err=True)
    say_commit(folder, done.changed, "Make an old packet the active one")
