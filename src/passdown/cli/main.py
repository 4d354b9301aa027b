"""The `passdown` command: a table of lazily loaded commands, and the one place where errors become exit codes."""

from __future__ import annotations

import errno
import sys
from importlib import import_module
from typing import Any

import click

from passdown import __version__
from passdown.errors import PassdownError

COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": (
        "passdown.cli.init:init",
        "Every day",
        "Write the configuration, and teach agents to leave good evidence.",
    ),
    "take": (
        "passdown.cli.take:take",
        "Every day",
        "Take over: check the packet against this repository, claim by claim.",
    ),
    "wrap": ("passdown.cli.wrap:wrap", "Every day", "Write the handoff packet, when the work is safe to leave."),
    "status": ("passdown.cli.status:status", "Every day", "Show where the work stands, and what to do next."),
    "note": ("passdown.cli.note:note", "Every day", "Leave one line of evidence: a decision, a clue, the next step."),
    "check": (
        "passdown.cli.check:check",
        "Leave it safe",
        "Say whether the work is safe to leave, and what to settle.",
    ),
    "run": ("passdown.cli.run:run", "Leave it safe", "Run a command, and keep a record of how it ended."),
    "doctor": (
        "passdown.cli.doctor:doctor",
        "Leave it safe",
        "Say whether a fresh agent could go on without any session, tried in a clone.",
    ),
    "prompt": (
        "passdown.cli.prompt:prompt",
        "Leave it safe",
        "Print the line that tells an agent without a hook to wrap up, or to take over.",
    ),
    "show": ("passdown.cli.show:show", "Packets", "Show the active packet, or another one."),
    "log": ("passdown.cli.log:log", "Packets", "List packets and takeovers: who took what, and whether it held."),
    "diff": ("passdown.cli.diff:diff", "Packets", "Show what one packet knows that another did not."),
    "pr": ("passdown.cli.pr:pr", "Packets", "Print a pull request's title and body from a packet."),
    "resolve": ("passdown.cli.resolve:resolve", "Packets", "Settle which of several active packets goes on."),
    "archive": ("passdown.cli.archive:archive", "Packets", "Put packets aside, or take that back."),
    "restore": ("passdown.cli.restore:restore", "Packets", "Make an old packet the active one again."),
    "export": ("passdown.cli.export:export", "Packets", "Write a packet in another shape."),
    "schema": ("passdown.cli.schema:schema", "Packets", "Print the JSON Schema of the packet."),
    "sessions": ("passdown.cli.sessions:sessions", "Sessions", "List the sessions of this repository, or show one."),
    "usage": (
        "passdown.cli.usage:usage",
        "Sessions",
        "Count what sessions cost: tokens, cache, growth, and what a fresh session would have taken.",
    ),
    "budget": (
        "passdown.cli.budget:budget",
        "Sessions",
        "Say how full the context is: go on, prepare a packet, or wrap up.",
    ),
    "hooks": (
        "passdown.cli.hooks:hooks",
        "Inside the agents",
        "Have agents write the packet and read the brief by themselves.",
    ),
    "skill": (
        "passdown.cli.skill:skill",
        "Inside the agents",
        "Teach agents, by a skill made for this project, to leave evidence and to hand over.",
    ),
    "mcp": (
        "passdown.cli.mcp:mcp",
        "Inside the agents",
        "Serve an agent over the Model Context Protocol: take, status, note, check, wrap.",
    ),
    "launch": (
        "passdown.cli.launch:launch",
        "Inside the agents",
        "Start an agent with the brief, once it holds here.",
    ),
    "data": (
        "passdown.cli.data:data",
        "Training data",
        "Make handoff-aware training and evaluation data of recorded trajectories.",
    ),
    "demo": ("passdown.cli.demo:demo", "Getting to know it", "Make a small repository with a session, and wrap it."),
    "completion": (
        "passdown.cli.completion:completion",
        "Getting to know it",
        "Print the completion script of a shell.",
    ),
}
"""Name → where it lives, the group `--help` lists it in, and its line there."""


_AS_OPTIONS = ("help", "version")
"""Words that other tools have as commands, and this one as options."""


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is called or asked for help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the table's order."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, None when there is none of that name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their groups, without importing them."""
        del ctx
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, (_, group, line) in COMMANDS.items():
            groups.setdefault(group, []).append((name, line))
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a wrong name names the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            if args[0] in _AS_OPTIONS:
                of = f"{args[1]} " if args[0] == "help" and args[1:2] and args[1] in COMMANDS else ""
                hint = f" Did you mean 'passdown {of}--{args[0]}'?"
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-C", "folder", metavar="DIR", default=".", type=click.Path(exists=True, file_okay=False),
              help="Run as if started in DIR.")  # fmt: skip
@click.version_option(__version__, message="passdown %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: str) -> None:
    """Turn what a coding agent's session leaves behind into a handoff packet the next session can work from.

    Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 unexpected error, 2 usage,
    3 blocked, 4 no evidence, 5 no usable next action, 6 the packet does not hold here, 7 conflict or locked,
    8 refused for safety.
    """
    ctx.obj = folder


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with the code the outcome calls for."""
    try:
        result: Any = cli.main(args=arguments, prog_name="passdown", standalone_mode=False)
    except PassdownError as error:
        click.echo(f"passdown: {error}", err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("passdown: stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:  # a full disk, a folder that may not be written
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"passdown: {where}{error.strerror or error}", err=True)
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            hint = "`passdown status`, `check`, `take`, `show` and `doctor` work there all the same."
            click.echo(f"  This place cannot be written to. {hint}", err=True)
        sys.exit(1)
    sys.exit(result if isinstance(result, int) else 0)
