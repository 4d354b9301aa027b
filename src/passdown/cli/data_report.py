"""What the steps of `passdown data` tell: bars while they work, counts and reasons when they are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from passdown.cli.output import at_terminal, print_json, print_table
from passdown.errors import NoEvidenceError
from passdown.redact.neutralise import one_line

if TYPE_CHECKING:
    from passdown.data.engine.run import Ran


_FIRST = ("read", "quality")
"""Steps that drop what a user named: of each reason one example is told."""


def report(ran: dict[str, Ran], *, as_json: bool) -> None:
    """Print what each step made and dropped. Raises `NoEvidenceError` where nothing is left to go on with."""
    import msgspec

    if as_json:
        print_json({"schema_version": 1, "steps": msgspec.to_builtins(ran)})
    else:
        _print(ran)
    _require_rows(ran)


def _print(ran: dict[str, Ran]) -> None:
    header = ("step", "read", "made", "dropped", "shards made", "kept")
    rows = [
        (name, f"{one.read:,}", f"{one.rows:,}", f"{sum(one.rejected.values()):,}", f"{one.made}", f"{one.kept}")
        for name, one in ran.items()
    ]
    print_table(header, rows)
    for name, one in ran.items():
        for reason, count in one.rejected.items():
            such = f" ({one_line(one.examples[reason], 160)})" if name in _FIRST and reason in one.examples else ""
            click.echo(f"{name} dropped {count:,}: {one_line(reason, 120)}{such}", err=True)


def require_samples(samples: dict[str, int]) -> None:
    """Raise `NoEvidenceError` for an export that wrote no sample."""
    if not sum(samples.values()):
        raise NoEvidenceError(
            "no sample was written", next_step="`dropped` says why; `passdown data card` what there is."
        )


def _require_rows(ran: dict[str, Ran]) -> None:
    """Raise `NoEvidenceError` for a step after which nothing is left: what comes next would work on nothing."""
    empty = next((name for name, one in ran.items() if not one.rows), None)
    if empty is not None:
        raise NoEvidenceError(
            f"nothing is left after the step `{empty}`",
            next_step="The lines above say why; the rows that were dropped lie in the folder `rejects` of the step.",
        )


@contextmanager
def progress_shown() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show each step's shards on a terminal; in a pipe nothing."""
    if not at_terminal("stderr"):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def tell(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield tell
