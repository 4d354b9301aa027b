"""`passdown sessions`: list the sessions of this repository, or show one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from passdown.cli.output import age, follow, print_findings, print_json, print_table, size

HEADER = ("session", "agent", "age", "size", "branch", "tokens", "exit", "title")


@click.group(invoke_without_command=True)
@click.option("--agent", default="", metavar="NAME", help="Only this agent's sessions.")
@click.option("--all", "everywhere", is_flag=True, help="The sessions of every repository on this machine.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="At most so many, newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_context
def sessions(ctx: click.Context, agent: str, everywhere: bool, limit: int, as_json: bool) -> None:
    """List the sessions of this repository, newest first: agent, age, size, branch, tokens, last exit code, title."""
    if ctx.invoked_subcommand is not None:
        return
    import time

    from passdown.handoff.sessions import list_sessions, overview

    found = list_sessions(Path(ctx.obj), agent=agent, everywhere=everywhere)
    print_findings(found.findings)
    rows = [overview(ref) for ref in follow(found.refs[:limit], "reading sessions")]
    if as_json:
        print_json({"schema_version": 1, "sessions": rows, "left_out": max(0, len(found.refs) - limit)})
        return
    now = time.time_ns() // 1_000_000
    print_table(HEADER, [_row(row, now) for row in rows])
    if len(found.refs) > limit:
        click.echo(f"{len(found.refs) - limit} older left out; --limit shows more", err=True)
    if not rows:
        click.echo("no sessions of this repository; --all lists every repository's", err=True)


def _row(row: dict[str, Any], now: int) -> tuple[str, ...]:
    last = "-" if row["last_exit"] is None else str(row["last_exit"])
    return (
        row["session_id"], row["agent"], age(row["ended_at"], now), size(row["bytes"]), row["branch"] or "-",
        size(row["tokens"]), last, row["title"],
    )  # fmt: skip


@sessions.command("show")
@click.argument("session", metavar="ID|FILE")
@click.option("--agent", default="", metavar="NAME", help="Read the file as this agent's.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
@click.option("--events", is_flag=True, help="Print the canonical events, one JSON object a line.")
def show(session: str, agent: str, as_json: bool, events: bool) -> None:
    """Show one session's counts: messages, tool calls, failures, tokens, compactions, what was not understood."""
    from passdown.handoff.sessions import describe, event_lines, find_session

    ref = find_session(session, agent=agent)
    if events:
        for line in event_lines(ref):
            click.echo(line)
        return
    counts = describe(ref)
    if as_json:
        print_json(counts)
        return
    width = max(len(name) for name in counts)
    for name, value in counts.items():
        shown = ", ".join(f"{key} {count}" for key, count in value.items()) if isinstance(value, dict) else value
        shown = ", ".join(map(str, shown)) if isinstance(shown, list | tuple) else shown
        click.echo(f"{name:{width}}  {'-' if shown in (None, '') else shown}")
