"""`passdown status`: where the work stands, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from passdown.handoff.status import PacketState, Status, Tree

_FIT = {
    "as_left": "as it was left",
    "moved_on": "the work moved on",
    "rewritten": "the history was rewritten under it",
    "unknown": "its commit is not here",
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def status(folder: str, as_json: bool) -> None:
    """Show where the work stands, and the one thing to do next: wrap, take, check or resolve.

    A glance, made in a moment: branch and dirty files, the active packet with its age and how it stands to git, the
    sessions whose logs grew after it (by their files' times; of each agent at most the 40 newest are looked at), and
    the last takeover. `passdown take` judges the packet claim by claim, `passdown doctor` what would be lost.
    Distances to the upstream are as of the last fetch; nothing is fetched.
    """
    from passdown.cli.output import catch_up_first
    from passdown.handoff.status import read_status

    catch_up_first(folder)
    found = read_status(Path(folder))
    if found.findings:
        from passdown.cli.output import print_findings

        print_findings(found.findings)
    if as_json:
        from passdown.cli.output import print_json

        print_json(found)
        return
    for line in screen(found):
        click.echo(line)


def screen(found: Status) -> Iterator[str]:
    """Yield the screen line by line."""
    yield f"{found.repository}  {_where(found.tree)}"
    yield f"tree      {_tree(found.tree)}"
    if found.heads:
        yield f"packets   {len(found.heads)} are active: {', '.join(name[:12] for name in found.heads)}"
    if found.packet is not None:
        yield from _packet(found.packet)
    elif not found.heads:
        others = f" (but on {', '.join(found.other_branches[:3])})" if found.other_branches else ""
        yield f"packet    none is active on this branch{others}"
    if found.newer_sessions:
        shown = ", ".join(
            _session(session.agent, session.age_ms, live=session.live) for session in found.newer_sessions[:3]
        )
        more = len(found.newer_sessions) - 3
        after = "after the packet" if found.packet is not None else "without a packet"
        count = f"{len(found.newer_sessions)}{' or more' if found.more_sessions else ''}"
        yield f"sessions  {count} {after}: {shown}{f' and {more} more' if more > 0 else ''}"
    if (taken := found.last_takeover) is not None:
        which = "this packet" if taken.current else f"packet {taken.packet_id[:12]}"
        yield f"taken     {which}, {_age(taken.age_ms)} ago by {taken.by} ({taken.verdict.replace('_', ' ')})"
    yield f"next      {found.next.command}{'  # ' if found.next.command else ''}{found.next.why}"


def _where(tree: Tree) -> str:
    from passdown.redact.neutralise import one_line

    branch = one_line(tree.branch, 120) or "detached HEAD"
    place = f"{branch}  {tree.head[:12] or 'no commit yet'}"
    if not tree.upstream:
        return place
    upstream = one_line(tree.upstream, 120)
    if tree.ahead is None or tree.behind is None:
        return f"{place}  (its upstream {upstream} is gone)"
    parts = [f"{tree.ahead} ahead of"] * bool(tree.ahead) + [f"{tree.behind} behind"] * bool(tree.behind)
    return f"{place}  {', '.join(parts) or 'even with'} {upstream}"


def _tree(tree: Tree) -> str:
    parts = [f"{tree.changed} changed"] * bool(tree.changed) + [f"{tree.untracked} untracked"] * bool(tree.untracked)
    if tree.operation:
        parts.insert(0, f"{tree.operation} under way")
    return ", ".join(parts) or "clean"


def _packet(packet: PacketState) -> Iterator[str]:
    since = packet.commits_since
    commits = "" if since is None else f", {since} commit{'' if since == 1 else 's'} since"
    where = " (on this machine alone)" if packet.shelf == "local" else ""
    old = "of unknown age" if packet.age_ms is None else f"{_age(packet.age_ms)} old"
    yield (
        f"packet    {packet.packet_id[:12]}  {packet.kind}, {packet.outcome}, {old}{commits}: {_FIT[packet.fit]}{where}"
    )
    yield f"          next step: {packet.next_action}"
    if packet.to_settle:
        yield f"          {packet.to_settle} thing{'' if packet.to_settle == 1 else 's'} to settle first"


def _session(agent: str, age_ms: int, *, live: bool) -> str:
    return f"{agent} ({'running' if live else f'{_age(age_ms)} ago'})"


def _age(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "unknown time"
    from passdown.cli.output import age

    return age(0, milliseconds)
