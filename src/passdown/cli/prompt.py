"""`passdown prompt`: the line to give to an agent that has no hook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import print_json

if TYPE_CHECKING:
    from passdown.handoff.prompt import Task


@click.command()
@click.argument("task", type=click.Choice(["wrap", "take"]))
@click.option("--without-passdown", is_flag=True, help="For an agent on a machine where passdown is not installed.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def prompt(folder: str, task: Task, without_passdown: bool, as_json: bool) -> None:
    """Print one line to give to an agent that has no hook: how to wrap up, or how to take over.

    `wrap` tells it to stop, leave evidence, check and wrap; `take` to read the brief before it changes anything.
    """
    from passdown.handoff.prompt import prompt_for

    text = prompt_for(task, Path(folder), without_passdown=without_passdown)
    if as_json:
        print_json({"schema_version": 1, "task": task, "prompt": text})
    else:
        click.echo(text)
