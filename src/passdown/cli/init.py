"""`passdown init`: write the configuration and, on request, the block for AGENTS.md."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option("--agents-md", is_flag=True, help="Also teach agents, in AGENTS.md, to leave good evidence.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, write nothing.")
@click.pass_obj
def init(folder: str, agents_md: bool, dry_run: bool) -> None:
    """Write passdown.toml with every option at its default, and with --agents-md a block in AGENTS.md.

    passdown works without either. A file that is there keeps what it says; the block is replaced in place.
    """
    from passdown.handoff.init import plan_init, write_init

    planned = plan_init(Path(folder), agents_md=agents_md)
    if not planned:
        click.echo("nothing to do: everything is there", err=True)
    if not dry_run:
        write_init(planned)
    for change in planned:
        click.echo(change.path)
        if dry_run:
            click.echo(change.data.decode())
    if planned and not dry_run:
        names = " ".join(change.path for change in planned)
        click.echo(f"commit it, so that every clone has it: git add -- {names} && git commit -- {names}", err=True)
