"""`passdown completion`: print the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    bash: add `eval "$(passdown completion bash)"` to ~/.bashrc; zsh: the same in ~/.zshrc; fish:
    `passdown completion fish > ~/.config/fish/completions/passdown.fish`.
    """
    from passdown.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "passdown", "_PASSDOWN_COMPLETE").source())
