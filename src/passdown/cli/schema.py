"""`passdown schema`: print the JSON Schema of the packet."""

from __future__ import annotations

import click

from passdown.cli.output import print_json


@click.command()
def schema() -> None:
    """Print the JSON Schema of handoff.json (version 1)."""
    from passdown.packet.schema import packet_schema

    print_json(packet_schema())
