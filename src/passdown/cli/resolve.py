"""`passdown resolve`: settle which of several active packets goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli import offers
from passdown.cli.output import print_findings, print_json, say_commit

if TYPE_CHECKING:
    from passdown.handoff.resolve import Side

CONFLICT = 7
_MOST = 12


@click.command()
@click.option(
    "--keep",
    default="",
    metavar="ID",
    shell_complete=offers.packet,
    help="The packet that goes on; the others are superseded.",
)
@click.option("--topic", default="", help="Only this topic's packets.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def resolve(folder: str, keep: str, topic: str, as_json: bool) -> int:
    """Show the packets that are active at once for this branch and topic, and settle which one goes on.

    That happens when two devices wrapped the same work and git merged both. Without --keep, they are shown one after
    another, each with what it alone knows, and the exit code is 7. With --keep, a new packet with the content of the
    one kept supersedes them all; nothing is lost: `show ID` still prints the others.
    """
    from passdown.handoff.resolve import resolve as settle

    done = settle(Path(folder), keep, topic)
    print_findings(done.findings)
    if as_json:
        print_json(done.report())
    elif done.packet_id:
        for path in done.changed:
            click.echo(path)
        click.echo(f"packet {done.packet_id[:12]} goes on: it says what {done.kept[:12]} says", err=True)
        say_commit(folder, done.changed, "Settle which packet goes on")
    else:
        for sides in done.conflicts:
            for side in sides:
                click.echo("\n".join(_lines(side)))
    if not done.conflicts and not done.packet_id:
        click.echo("no conflict here", err=True)
        return 0
    if not done.packet_id and not as_json:
        click.echo("Keep one of them: passdown resolve --keep ID", err=True)
    return 0 if done.packet_id else CONFLICT


def _lines(side: Side) -> Iterator[str]:
    agent = f", {side.agent}" if side.agent else ""
    yield f"{side.packet_id[:12]}  {side.topic} on {side.branch or 'a detached HEAD'}"
    yield f"  {side.as_of or 'no time'}{agent}, {side.kind}, tests {side.outcome}, {side.shelf} shelf"
    yield f"  next: {side.next_action}"
    yield "  it alone knows:" if side.only else "  it knows nothing that the others do not"
    for kind, text in side.only[:_MOST]:
        yield f"    {kind}: {text}"
    if len(side.only) > _MOST:
        yield f"    … {len(side.only) - _MOST} more (--json lists them)"
    yield ""
