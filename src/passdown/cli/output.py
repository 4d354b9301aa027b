"""How commands print: JSON for machines, tables for people, sizes and ages as people read them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from passdown.redact.neutralise import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from passdown.model.finding import Finding

T = TypeVar("T")


def at_terminal(*streams: str) -> bool:
    """Say whether a person sits at these standard streams (`stdin`, `stdout`, `stderr`); a closed one is none."""
    return all((stream := getattr(sys, name)) is not None and stream.isatty() for name in streams)


def print_json(value: Any, *, err: bool = False) -> None:
    """Print a value as indented JSON with sorted keys; with `err`, on standard error."""
    import msgspec

    data = msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2)
    click.echo(data.decode(), err=err)


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings to standard error, one line each, with the mending command."""
    for finding in findings:
        where = f"  {one_line(finding.where, 80)}" if finding.where else ""
        fix = f"  ({finding.fix})" if finding.fix else ""
        click.echo(f"{finding.severity:5}  {finding.code}{where}  {one_line(finding.detail, 160)}{fix}", err=True)


def catch_up_first(folder: str) -> None:
    """Have the packets written of sessions that ended here meanwhile, as hooks noted them; say when it takes long."""
    from pathlib import Path

    from passdown.hooks.catch_up import catch_up

    if not catch_up(Path(folder)):
        click.echo("note   the work of sessions that ended is still being read; run this again in a moment", err=True)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a header: a table on a terminal, tab-separated columns in a pipe; nothing without a row.

    Only the last column is cut where the terminal is narrow: an id that is cut is of no use.
    """
    if not at_terminal("stdout"):
        for row in rows:
            click.echo("\t".join(row))
        return
    if not rows:
        return
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    *widths, last = (max(map(cell_len, column)) for column in zip(header, *rows, strict=True))
    before = sum(widths) + 2 * len(widths)
    widths.append(min(last, max(terminal_width("stdout") - before, 12)))
    for name, width in zip(header, widths, strict=True):
        table.add_column(name, overflow="ellipsis", no_wrap=True, width=width)
    for row in rows:
        table.add_row(*(Text(cell, overflow="ellipsis", no_wrap=True) for cell in row))
    Console(width=before + widths[-1]).print(table)


def say_commit(folder: str, changed: Sequence[str], what: str) -> None:
    """Say on standard error how changed packet files reach the other clones; nothing when none lies in the project."""
    from passdown.handoff.commit import commit_command

    if command := commit_command(changed, what):
        click.echo(f"commit it, so that every clone sees it: {command}", err=True)
        say_where(folder)


def say_where(folder: str, root: Path | None = None) -> None:
    """Say on standard error in which folder the commands just printed are to be run, where that is not this one."""
    from pathlib import Path

    from passdown.handoff.place import find_root

    top = root or find_root(Path(folder))
    if top.resolve() != Path.cwd():
        click.echo(f"Run the commands in {shlex.quote(str(top))}.", err=True)


def terminal_width(stream: str) -> int:
    """Return how many columns the terminal at a standard stream has, 0 where there is none."""
    if not at_terminal(stream):
        return 0
    import shutil

    return shutil.get_terminal_size().columns


def follow(items: Sequence[T], label: str) -> Iterator[T]:
    """Iterate with a progress bar on a terminal, silently in a pipe."""
    if not at_terminal("stderr") or len(items) < 4:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=label, console=Console(stderr=True), transient=True)


def size(count: int) -> str:
    """Write a number of bytes or tokens shortly: 940, 12k, 3.4M."""
    for unit, scale in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= scale:
            value = count / scale
            return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"
    return str(count)


def age(moment: int | None, now: int) -> str:
    """Write how long ago a moment (milliseconds) was: 40s, 12m, 3h, 5d."""
    if moment is None:
        return "?"
    seconds = max(0, now - moment) // 1000
    for unit, scale in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= scale:
            return f"{seconds // scale}{unit}"
    return f"{seconds}s"


def moment(milliseconds: int) -> str:
    """Write a moment (milliseconds) as logs and packets do: 2026-11-20T09:14:08Z; as it is where no calendar has it."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(milliseconds // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return str(milliseconds)
