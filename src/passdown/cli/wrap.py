"""`passdown wrap`: write the handoff packet."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli.output import print_findings, print_json


@click.command()
@click.option("--session", default="", metavar="ID|FILE",
              help="Use this session: an id, its unique beginning, or a session file.")  # fmt: skip
@click.option("--agent", default="", metavar="NAME", help="Use only this agent's sessions.")
@click.option("--topic", default="", help="What the work is about; default: the task's id, else the branch.")
@click.option("--base", default="", metavar="COMMIT", help="Where the work began; default: found from git.")
@click.option("--next", "next_action", metavar="TEXT",
              help="The next step, in your words: one concrete line; default: found in the evidence.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the packet, write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result (with --dry-run: handoff.json itself) as JSON.")
@click.pass_obj
def wrap(
    folder: str, session: str, agent: str, topic: str, base: str, next_action: str | None, dry_run: bool, as_json: bool
) -> None:
    """Write the handoff packet of this repository's sessions: handoff.json and handoff.md.

    Everything in it comes from evidence: the agents' own logs, the project's workbench files, git. Nothing is run but
    git, and nothing but the packet's folder, its mirror and git's own exclude file is written. Run twice on the same
    state, it writes nothing the second time.
    """
    from passdown.handoff.gather import Options
    from passdown.handoff.publish import publish
    from passdown.handoff.wrap import draft

    options = Options(session=session, agent=agent, topic=topic, base=base, next_action=next_action, now=_now())
    drafted = draft(Path(folder), options)
    if dry_run:
        print_findings(drafted.findings)
        click.echo(drafted.json.decode() if as_json else drafted.markdown, nl=False)
        return
    wrapped = publish(drafted)
    print_findings(wrapped.findings)
    if as_json:
        print_json(wrapped.report())
        return
    for path in wrapped.paths:
        click.echo(path)
    click.echo(wrapped.headline(), err=True)


def _now() -> int:
    import time

    return time.time_ns() // 1_000_000
