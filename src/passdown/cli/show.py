"""`passdown show`: print a packet."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("packet", default="", metavar="[ID|FILE]")
@click.option("--json", "as_json", is_flag=True, help="Print handoff.json instead of the Markdown.")
@click.option("--clue", default="", metavar="ID", help="Print one clue and its anchors only.")
@click.pass_obj
def show(folder: str, packet: str, as_json: bool, clue: str) -> None:
    """Show the active packet of this branch, or the one with this id (or its beginning), session id or file."""
    from passdown.handoff.show import find_packet, show_clue
    from passdown.packet.render import render_markdown

    found = find_packet(Path(folder), packet)
    if clue:
        click.echo(show_clue(found.packet, clue))
    elif as_json:
        click.echo(found.path.read_text("utf-8"), nl=False)
    else:
        click.echo(render_markdown(found.packet, language=found.language), nl=False)
