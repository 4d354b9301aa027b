"""`passdown log`: packets and takeovers, newest first."""

from __future__ import annotations

from pathlib import Path

import click

from passdown.cli.output import at_terminal, print_findings, print_json, print_table

HEADER = ("at", "what", "packet", "branch", "state", "held", "by", "came of it", "after")


@click.command()
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="At most so many, newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def log(folder: str, limit: int, as_json: bool) -> None:
    """List packets and takeovers, newest first: who took which packet, whether it held, and what came of it.

    What comes of a takeover is the packet that follows it: passed, failed, or unknown, and after how long; `nothing` as
    long as none has. `held` is how many of the packet's claims held, of those that could be checked.
    """
    from passdown.handoff.log import LogEntry, read_log

    found = read_log(Path(folder))
    print_findings(found.findings)
    shown, left = found.entries[:limit], max(0, len(found.entries) - limit)
    if as_json:
        print_json({"schema_version": 1, "entries": shown, "left_out": left})
        return

    now = _now() if at_terminal("stdout") else 0

    def row(entry: LogEntry) -> tuple[str, ...]:
        held = f"{entry.held}/{entry.checked}" if entry.what == "takeover" else "-"
        yes = "+ack" if entry.acknowledged else ""
        return (
            _when(entry.at, now), entry.what, entry.packet_id[:12], entry.branch or "-", entry.state + yes, held,
            entry.by or "-", entry.came_of or ("nothing" if entry.what == "takeover" else "-"),
            _lasted(entry.next_after_s),
        )  # fmt: skip

    print_table(("age", *HEADER[1:]) if now else HEADER, [row(entry) for entry in shown])
    if left:
        click.echo(f"{left} older left out; --limit shows more", err=True)
    if not shown:
        click.echo("no packet and no takeover yet; `passdown wrap` writes the first packet", err=True)


def _now() -> int:
    import time

    return time.time_ns() // 1_000_000


def _when(moment: str, now: int) -> str:
    from passdown.cli.output import age
    from passdown.model.moment import to_milliseconds

    return age(to_milliseconds(moment), now) if now else moment or "-"


def _lasted(seconds: int | None) -> str:
    from passdown.cli.output import age

    return "-" if seconds is None else age(0, seconds * 1000)
