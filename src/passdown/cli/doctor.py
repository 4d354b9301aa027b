"""`passdown doctor`: could a fresh agent go on, if every session were gone now?"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import at_terminal, print_json, say_where
from passdown.redact.neutralise import neutralise

if TYPE_CHECKING:
    from passdown.handoff.health.doctor import Diagnosis, Reading
    from passdown.model.finding import Finding

_SHOWN = 12
_SOURCES = {"machine": "from this machine's git", "remote": "from the remote"}
_VERDICTS = {
    "ready": "ready",
    "ready_with_drift": "ready, with drift",
    "needs_ack": "ready, once a human says yes to the next step",
    "cold_start": "no packet: it starts cold",
    "nothing": "nothing to clone",
    "failed": "no clone could be made",
    "refused": "take refused the packet",
    "stale": "the packet is stale there",
    "blocked": "the packet is blocked there",
}


@click.command()
@click.option("--portable", is_flag=True,
              help="Clone what the remote has, too; what only this device has counts as lost.")  # fmt: skip
@click.option("--keep", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
              help="Leave the clones in this new folder, to look at.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def doctor(folder: str, portable: bool, keep: Path | None, as_json: bool) -> int:
    """Answer: if every agent session were deleted now, could a fresh agent go on from git and the project's files?

    It is tried: what is committed is cloned into a temporary folder, and the handoff is taken over there without any
    agent's data. The first line is the score: the verdict there, and how many of the packet's pointers (commits,
    paths, hashes, receipts) lead somewhere. Then comes what would be lost, each with the command that keeps it:
    uncommitted and untracked files, stashes, ignored files that the handoff points to, work in other worktrees and
    submodules, packets that were never committed, and what people said that stands in a session's log alone.

    With --portable this device is gone, too: a second clone holds only what was pushed, as far as the last fetch or
    push tells, and commits on no remote count as lost. Nothing is ever fetched or pushed, nothing of the packet is run,
    and the repository is not changed.

    Exit code 0 when a fresh agent could go on and nothing would be lost, 6 when not.
    """
    from passdown.handoff.health.doctor import examine

    with _progress() as tell:
        found = examine(Path(folder), portable=portable, keep=keep, tell=tell)
    if as_json:
        print_json({"score": score(found.readings[-1]), **_kept(found, keep)})
    else:
        for line in table(found):
            click.echo(line)
        if keep is not None:
            click.echo(f"The clones are in {shlex.quote(str(keep.resolve()))}.", err=True)
        if found.lost:
            say_where(folder, Path(found.root))
    return found.exit_code


def _kept(found: Diagnosis, keep: Path | None) -> dict[str, object]:
    import msgspec

    plain: dict[str, object] = msgspec.to_builtins(found)
    if keep is None and isinstance(readings := plain["readings"], list):
        for reading in readings:  # the temporary folder is gone by now
            reading["kept"] = ""
    return plain


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    if not at_terminal("stderr"):
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda what: status.update(f"{what} …")


def score(reading: Reading) -> str:
    """Return how many of the pointers lead somewhere, as people say it."""
    return f"{reading.resolved} of {reading.pointers}"


def table(found: Diagnosis) -> Iterator[str]:
    """Yield the diagnosis as a person reads it: the score, what would be lost, what only this device has."""
    yield from _headline(found)
    yield from _rows(found.lost)
    news = [finding for finding in found.at_risk if finding.severity == "warn"]
    if news:
        gone = "Good to know" if found.portable else "If this device were gone, too (--portable), or good to know"
        yield f"{gone}:"
        yield from _rows(news)
    history = len(found.at_risk) - len(news)
    if history:
        packets = "1 older packet is" if history == 1 else f"{history} older packets are"
        yield f"{packets} not committed; nothing hangs on it (see --json)."
    for reading in found.readings:
        yield from _pointers(reading)


def _headline(found: Diagnosis) -> Iterator[str]:
    count = len(found.lost)
    lost = "nothing would be lost" if not count else f"{count} thing{'' if count == 1 else 's'} to keep first"
    word = "healthy" if found.healthy else "not healthy"
    for at, reading in enumerate(found.readings):
        start = f"{word}: " if at == 0 else " " * (len(word) + 2)
        pointers = f"{score(reading)} pointers resolved" if reading.pointers else "no pointer to resolve"
        end = f", {lost}" if at == len(found.readings) - 1 else ""
        yield f"{start}{_SOURCES[reading.source]}: {_VERDICTS.get(reading.verdict, reading.verdict)}, {pointers}{end}"


def _rows(findings: list[Finding] | tuple[Finding, ...]) -> Iterator[str]:
    names = [finding.code.removeprefix("lost.") for finding in findings]
    width = max(map(len, names), default=0)
    for name, finding in zip(names, findings, strict=True):
        yield f"  {name:{width}}  {finding.detail}"
        if finding.fix:
            yield f"  {'':{width}}  → {neutralise(finding.fix)}"


def _pointers(reading: Reading) -> Iterator[str]:
    if reading.unresolved:
        yield f"Not resolved {_SOURCES[reading.source]}:"
    for pointer in reading.unresolved[:_SHOWN]:
        yield f"  {pointer.place}  {pointer.subject[:80]}  {pointer.reason}".rstrip()
    if len(reading.unresolved) > _SHOWN:
        yield f"  and {len(reading.unresolved) - _SHOWN} more (see --json)"
