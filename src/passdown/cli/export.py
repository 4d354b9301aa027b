"""`passdown export`: write a packet in another shape."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from passdown.cli import offers


@click.command()
@click.argument("packet", default="", metavar="[ID|FILE]", shell_complete=offers.packet_or_file)
@click.option("--lesson", is_flag=True, help="The seven fields of the course's lesson 40.")
@click.option("-o", "--output", default="-", type=click.Path(dir_okay=False, allow_dash=True), help="Write to FILE.")
@click.pass_obj
def export(folder: str, packet: str, lesson: bool, output: str) -> None:
    """Export the active packet (or the one named) in the shape of the course's lesson 40."""
    if not lesson:
        raise click.UsageError("say in which shape: --lesson")
    from passdown.handoff.show import find_packet
    from passdown.io.files import write_files
    from passdown.packet.lesson import export_lesson

    flat = export_lesson(find_packet(Path(folder), packet).packet)
    data = msgspec.json.format(msgspec.json.encode(flat), indent=2) + b"\n"
    if output == "-":
        click.echo(data.decode(), nl=False)
    else:
        write_files([(Path(output).absolute(), data)])
        click.echo(output)
