"""`passdown show`: print a packet."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli import offers
from passdown.cli.output import print_json


@click.command()
@click.argument("packet", default="", metavar="[ID|FILE]", shell_complete=offers.packet_or_file)
@click.option("--json", "as_json", is_flag=True, help="Print handoff.json instead of the Markdown.")
@click.option("--check", is_flag=True, help="Is the Markdown what the JSON renders to? Exit code 6 if not.")
@click.option("--render", is_flag=True, help="Write the Markdown anew from the JSON, where it is missing or differs.")
@click.option("--clue", default="", metavar="ID", help="Print one clue and its anchors only.")
@click.pass_obj
def show(folder: str, packet: str, as_json: bool, check: bool, render: bool, clue: str) -> None:
    """Show the active packet of this branch, or the one with this id (or its beginning), session id or file.

    The JSON is the packet; the Markdown is derived from it and from nothing else. Edits to the Markdown change no
    packet: `--check` finds them, `--render` undoes them.
    """
    from passdown.handoff.show import check_rendering, find_packet, show_clue, write_rendering
    from passdown.packet.render import render_markdown

    if check and render:
        raise click.UsageError("--check looks, --render writes: give one of them")
    found = find_packet(Path(folder), packet)
    if check or render:
        states = check_rendering(found) if check else write_rendering(found)
        if as_json:
            print_json({"schema_version": 1, "packet_id": found.packet.packet_id, "files": states})
            return
        for one in states:
            click.echo(f"{one.state}  {one.name}")
    elif clue:
        click.echo(show_clue(found.packet, clue))
    elif as_json:
        click.echo(found.path.read_text("utf-8"), nl=False)
    else:
        click.echo(render_markdown(found.packet, language=found.language), nl=False)
