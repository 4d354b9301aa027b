"""`passdown wrap`: write the handoff packet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import at_terminal, catch_up_first, print_findings, print_json, terminal_width

if TYPE_CHECKING:
    from passdown.clean.options import CleanOptions
    from passdown.handoff.draft import BlockedError
    from passdown.handoff.options import Options


@click.command()
@click.option("--session", default="", metavar="ID|FILE",
              help="Use this session: an id, its unique beginning, or a session file.")  # fmt: skip
@click.option("--agent", default="", metavar="NAME", help="Use only this agent's sessions.")
@click.option("--topic", default="", help="What the work is about; default: the task's id, else the branch.")
@click.option("--base", default="", metavar="COMMIT", help="Where the work began; default: found from git.")
@click.option("--next", "next_action", metavar="TEXT",
              help="The next step, in your words: one concrete line; default: found in the evidence.")  # fmt: skip
@click.option("--interim", is_flag=True,
              help="Write it as it is, even when something blocks: it leads with what to settle.")  # fmt: skip
@click.option("--strict", is_flag=True, help="What could not be looked at blocks, too.")
@click.option("--portable", is_flag=True, help="What another device would lack blocks: stashes, unpushed commits.")
@click.option("--name-failures", is_flag=True, help="Count failing tests as named: they stand in the packet as risks.")
@click.option("--allow", "codes", multiple=True, metavar="CODE",
              help="Let this code of `check` pass, as a person and with a reason. May be repeated.")  # fmt: skip
@click.option("--reason", default="", metavar="TEXT", help="Why what --allow names may pass; the packet records it.")
@click.option(
    "--local", is_flag=True, help="Keep the packet in git's own folder: no file of the project, on this device only."
)
@click.option("--commit", is_flag=True, help="Commit the packet's files, and nothing else that is staged or changed.")
@click.option("--dry-run", is_flag=True, help="Print the packet, write nothing, refuse nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result (with --dry-run: handoff.json itself) as JSON.")
@click.pass_obj
def wrap(
    folder: str, session: str, agent: str, topic: str, base: str, next_action: str | None, interim: bool,
    strict: bool, portable: bool, name_failures: bool, codes: tuple[str, ...], reason: str, local: bool, commit: bool,
    dry_run: bool, as_json: bool,
) -> int:  # fmt: skip
    """Write the handoff packet of this repository's sessions: handoff.json and handoff.md.

    Everything in it comes from evidence: the agents' own logs, the project's workbench files, git. First the five
    checks of `passdown check` are made: what blocks refuses the packet with exit code 3, unless --interim asks for one
    that leads with what is to settle. Nothing is run but git, and nothing but the packet's folder, its mirror and
    git's own folder is written. Run twice on the same state, it writes nothing the second time.
    """
    from passdown.clean.options import CleanOptions
    from passdown.handoff.draft import BlockedError
    from passdown.handoff.options import Options

    if reason and not codes:
        raise click.UsageError("--reason needs --allow")
    if local and commit:
        raise click.UsageError("--local keeps the packet out of the project, --commit puts it in: give one of them")
    now = _now()
    options = Options(
        session=session, agent=agent, topic=topic, base=base, next_action=next_action, interim=interim, now=now
    )  # fmt: skip
    clean = CleanOptions(
        strict=strict, portable=portable, allow=dict.fromkeys(codes, reason), name_failures=name_failures,
        environ=os.environ, now=now,
    )  # fmt: skip
    if dry_run:
        _print_draft(folder, options, clean, as_json=as_json)
        return 0
    from passdown.handoff.wrap import wrap as write_packet

    catch_up_first(folder)
    try:
        wrapped = write_packet(Path(folder), options, clean, terminal=at_terminal("stdin"), local=local, commit=commit)
    except BlockedError as error:
        _print_blocked(error, as_json=as_json)
        return error.exit_code
    print_findings(wrapped.findings)
    if as_json:
        print_json(wrapped.report())
        return 0
    for path in wrapped.paths:
        click.echo(path)
    click.echo(wrapped.headline(), err=True)
    if hint := wrapped.hint():
        click.echo(hint, err=True)
    return 0


def _print_draft(folder: str, options: Options, clean: CleanOptions, *, as_json: bool) -> None:
    from passdown.handoff.draft import draft

    drafted = draft(Path(folder), options, clean)
    print_findings(drafted.findings)
    click.echo(drafted.json.decode() if as_json else drafted.markdown, nl=False)


def _print_blocked(error: BlockedError, *, as_json: bool) -> None:
    from passdown.cli.check import table

    if as_json:
        print_json({"schema_version": 1, "refused": list(error.state.blocking), "clean_state": error.state})
    else:
        for line in table(error.state, terminal_width("stderr")):
            click.echo(line, err=True)
    click.echo(f"passdown: {error}", err=True)


def _now() -> int:
    import time

    return time.time_ns() // 1_000_000
