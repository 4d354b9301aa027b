"""`passdown archive`: put packets aside."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli import offers
from passdown.cli.output import print_findings, print_json, say_commit


@click.command()
@click.argument("packets", nargs=-1, metavar="[ID]...", shell_complete=offers.packet_to_archive)
@click.option("--all-superseded", is_flag=True, help="All packets that a later one supersedes, of every branch.")
@click.option("--undo", is_flag=True, help="Take it back.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def archive(folder: str, packets: tuple[str, ...], all_superseded: bool, undo: bool, as_json: bool) -> None:
    """Put packets aside: an archived packet is never taken, and no other one builds on it. Nothing is deleted.

    ID is the beginning of a packet's id (four digits or more), its session's id, or `active`. A small file beside the
    packet says so; commit it with the packet, and it is archived on every device. `show` still prints the packet.
    """
    from passdown.handoff.archive import archive as put_aside

    done = put_aside(Path(folder), packets, all_superseded=all_superseded, undo=undo)
    print_findings(done.findings)
    if as_json:
        print_json(done.report())
        return
    for line in done.lines():
        click.echo(line)
    say_commit(folder, done.changed, "Take packets back" if undo else "Put packets aside")
    if not done.packets and not done.already:
        click.echo("nothing to archive: no packet is superseded", err=True)
