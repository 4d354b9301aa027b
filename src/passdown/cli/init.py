"""`passdown init`: write the configuration and, on request, what teaches agents: the block for AGENTS.md, the skill."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from passdown.cli.output import say_where


@click.command()
@click.option("--agents-md", is_flag=True, help="Also teach agents, in AGENTS.md, to leave good evidence.")
@click.option("--skill", is_flag=True, help="Also write the skill for the agents that are on this machine.")
@click.option("--dry-run", is_flag=True, help="Print what would be written, write nothing.")
@click.pass_obj
def init(folder: str, agents_md: bool, skill: bool, dry_run: bool) -> int:
    """Write passdown.toml with every option at its default, and with --agents-md a block in AGENTS.md.

    passdown works without either. A file that is there keeps what it says; the block is replaced in place. --skill is
    `passdown skill install`, which can also be told for which agents.
    """
    from passdown.handoff.init import plan_init, write_init

    planned = plan_init(Path(folder), agents_md=agents_md)
    if not planned and not skill:
        click.echo("nothing to do: everything is there", err=True)
    if not dry_run:
        write_init(planned)
    for change in planned:
        click.echo(change.path)
        if dry_run:
            click.echo(change.data.decode())
    if planned and not dry_run:
        names = " ".join(change.path for change in planned)
        command = f"git add -- {names} && git commit -q -m {shlex.quote('Set up passdown')} -- {names}"
        click.echo(f"commit it, so that every clone has it: {command}", err=True)
        say_where(folder)
    return _write_skill(folder, dry_run=dry_run) if skill else 0


def _write_skill(folder: str, *, dry_run: bool) -> int:
    from passdown.cli.skill import chosen, told
    from passdown.hooks.skill import apply_skill, plan_skill

    plan = plan_skill(Path(folder), chosen(()))
    if not dry_run:
        apply_skill(plan)
    return told(plan, "installed", Path(folder), dry_run=dry_run)
