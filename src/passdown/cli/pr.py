"""`passdown pr`: a pull request's title and body from a packet."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli import offers
from passdown.cli.output import print_json


@click.command()
@click.argument("packet", default="", metavar="[ID|FILE]", shell_complete=offers.packet_or_file)
@click.option("--title", "only_title", is_flag=True, help="Print the title only.")
@click.option("--json", "as_json", is_flag=True, help="Print title and body as JSON.")
@click.option("-o", "--output", default="-", type=click.Path(dir_okay=False, allow_dash=True),
              help="Write the body to FILE.")  # fmt: skip
@click.pass_obj
def pr(folder: str, packet: str, only_title: bool, as_json: bool, output: str) -> None:
    """Print a pull request's body from the active packet, or the one with this id, session id or file.

    It has what a reviewer needs, and needs no other file: goal, completed, changed files, decisions, tests,
    verification, known problems, remaining, next step. Each claim says how it is known. Nothing is sent anywhere:

      gh pr create --title "$(passdown pr --title)" --body "$(passdown pr)"
    """
    from passdown.handoff.show import find_packet
    from passdown.io.files import write_files
    from passdown.packet.pull_request import pull_request_title, render_pull_request

    if only_title and (as_json or output != "-"):
        raise click.UsageError("--title prints the title alone; --json has title and body, -o writes the body")
    found = find_packet(Path(folder), packet)
    title = pull_request_title(found.packet)
    if only_title:
        click.echo(title)
        return
    body = render_pull_request(found.packet, language=found.language)
    if as_json:
        print_json({"schema_version": 1, "packet_id": found.packet.packet_id, "title": title, "body": body})
    elif output == "-":
        click.echo(body, nl=False)
    else:
        write_files([(Path(output).absolute(), body.encode())])
        click.echo(output)
