"""`passdown check`: is the work safe to leave?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from passdown.cli.output import at_terminal, print_findings, print_json, say_where, terminal_width
from passdown.model.clean import CleanState
from passdown.model.finding import SEVERITY_ORDER, Finding
from passdown.redact.neutralise import one_line

if TYPE_CHECKING:
    from passdown.handoff.check import Checked
    from passdown.handoff.mend import Mending

BLOCKED = 3


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print clean_state.json instead of the list.")
@click.option("-o", "--output", default=None, metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
              help="Write clean_state.json there, too.")  # fmt: skip
@click.option("--strict", is_flag=True, help="What could not be looked at blocks, too.")
@click.option("--portable", is_flag=True, help="What another device would lack blocks: stashes, unpushed commits.")
@click.option("--base", default="", metavar="COMMIT", help="Where the work began; default: found from git.")
@click.option("--session", default="", metavar="ID|FILE", help="Use this session: an id, its beginning, or a file.")
@click.option("--run-tests", is_flag=True, help="Run the project's test commands first, and record how they end.")
@click.option("--test-timeout", default=1800.0, show_default=True, metavar="SECONDS",
              type=click.FloatRange(min=0, min_open=True), help="Longest that one test command may take.")  # fmt: skip
@click.option("--report", is_flag=True, help="Write the verification report, from what was measured on these files.")
@click.option("--sync-board", is_flag=True, help="Set what is proven done to done on the board; see below.")
@click.option("--mend", "mends", multiple=True, metavar="NAME",
              help="Carry out what a finding names to mend it; see below. May be repeated.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="With --mend: print the difference, and change nothing.")
@click.option("--name-failures", is_flag=True, help="Count failing tests as named: they go into the packet as risks.")
@click.option("--allow", "codes", multiple=True, metavar="CODE",
              help="Let this code pass, as a person and with a reason. May be repeated.")  # fmt: skip
@click.option("--reason", default="", metavar="TEXT", help="Why what --allow names may pass; recorded.")
@click.pass_obj
def check(
    folder: str, as_json: bool, output: Path | None, strict: bool, portable: bool, base: str, session: str,
    run_tests: bool, test_timeout: float, report: bool, sync_board: bool, mends: tuple[str, ...],
    dry_run: bool, name_failures: bool, codes: tuple[str, ...],
    reason: str,
) -> int:  # fmt: skip
    """Say whether the work is safe to leave: branch, working tree, leftovers, board, tests; all findings in one pass.

    Each finding has its code, its place and what mends it. Nothing is run but git, and nothing in the project is
    changed. Exit code 3 when something blocks. The result is kept as clean_state.json in git's own folder.

    With --run-tests the project's own test commands are run first, their output on standard error, and recorded: the
    configured test-command, else the acceptance commands of contract or board, else the command that AGENTS.md names,
    else what the manifests point to. `run-tests = true` in the configuration does so always, but for the last. Nothing
    is ever run that a packet names. --report writes the verification report of the active task (by default
    outputs/verification/TASK.json): each criterion with what was recorded for exactly these files, red or green.

    --sync-board sets those items of the task board and the feature list to done whose verification report passed at
    this commit (`board.stale_open`), and only those; nothing else in the files changes. An agent may do it, too.

    --mend carries out an edit that a finding offers: a debugging line or commented-out code taken out, a test's focus
    taken off, an item of the board given the status that the evidence shows. Its name stands for what is changed, not
    for a line's number, so that several can be carried out in any order; one that is done already does nothing. In
    JSON, `mend_kind` says of each finding how it is mended: `command` is run as it stands, `edit` has to be done by
    hand, `choice` needs a person who chooses.
    """
    import time

    from passdown.clean.options import CleanOptions
    from passdown.handoff.check import Running
    from passdown.handoff.check import check as run_check
    from passdown.handoff.gather import Options

    if reason and not codes:
        raise click.UsageError("--reason needs --allow")
    if dry_run and not mends:
        raise click.UsageError("--dry-run needs --mend")
    now = time.time_ns() // 1_000_000
    clean = CleanOptions(
        strict=strict, portable=portable, allow=dict.fromkeys(codes, reason), name_failures=name_failures,
        environ=os.environ, now=now,
    )  # fmt: skip
    options = Options(session=session, base=base, now=now)
    running = Running(
        run_tests=run_tests, report=report, sync_board=sync_board, mend=mends, dry=dry_run, timeout=test_timeout,
        announce=_announce,
    )  # fmt: skip
    done = run_check(
        Path(folder), options, clean, output=output, terminal=at_terminal("stdin"), running=running
    )  # fmt: skip
    _say_what_was_done(done)
    if dry_run:
        _print_mending(done.mended, as_json=as_json)
        return 0
    print_findings(finding for finding in done.findings if finding.severity != "info")
    if as_json:
        print_json(done.state)
    else:
        for line in table(done.state, terminal_width("stdout")):
            click.echo(line)
        if done.root is not None and not done.state.clean:
            say_where(folder, done.root)
    return 0 if done.state.clean else BLOCKED


def _announce(line: str) -> None:
    click.echo(f"passdown: {one_line(line, 400)}", err=True)


def _say_what_was_done(done: Checked) -> None:
    if done.tested is not None:
        if not done.tested.commands:
            _announce("no test command is known: none was run")
        for line in done.tested.manual:
            _announce(f"for a person to look at: {line}")
    if done.report is not None:
        _announce(f"verification report {done.report.headline()}")
    if not done.mended.dry:
        for file in done.mended.files:
            _announce(f"{file.path}: {'; '.join(line for line in file.diff[2:] if line.startswith(('-', '+')))}")
    for name in done.mended.unknown:
        _announce(f"{name}: nothing here is mended by it (any more)")
    for item in done.synced:
        _announce(f"{item.path}: {item.id} was {item.was}, is done now")


def _print_mending(mending: Mending, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema_version": 1, "files": mending.files, "unknown": mending.unknown})
        return
    for file in mending.files:
        for line in file.diff:
            click.echo(line)


def table(state: CleanState, width: int = 0) -> Iterator[str]:
    """Yield the result as a person reads it: a headline, and one aligned row a finding: severity, code, place, mend.

    Where a row would not fit into `width` columns, what mends it stands on a line of its own.
    """
    found = sorted(
        (f for check in state.checks for f in check.findings if f.severity != "info"),
        key=lambda f: (f.code not in state.blocking, SEVERITY_ORDER[f.severity], _late(f)),
    )
    yield _headline(state, found)
    rows = [(_severity(f, state), f.code, _place(f), one_line(f.fix, 400)) for f in found]
    code, place = (max((len(row[at]) for row in rows), default=0) for at in (1, 2))
    place = min(place, 72)
    left = 13 + code + place
    stacked = 0 < width < left + 2 + max((len(row[3]) for row in rows), default=0)
    for severity, name, where, fix in rows:
        line = f"  {severity:7}  {name:{code}}  {where:{place}}"
        yield line.rstrip() if stacked else f"{line}  {fix}".rstrip()
        if stacked and fix:
            yield f"           → {fix}"
    for override in state.overrides:
        yield f"  allowed  {override.code}  ({one_line(override.reason, 200)}; {override.by})"
    if waivers := state.counts.get("waivers", 0):
        yield f"  {waivers} debug lines are waived by a comment"


def _late(finding: Finding) -> int:
    """Say what is mended after the rest: a commit keeps what the other mends left, and is pushed at last."""
    return 2 if finding.code == "branch.unpushed" else int("git commit " in finding.fix)


def _headline(state: CleanState, found: list[Finding]) -> str:
    blocks = sum(finding.severity == "block" and finding.code in state.blocking for finding in found)
    if blocks:
        things = "1 thing" if blocks == 1 else f"{blocks} things"
        return f"{things} to settle before this can be handed over:"
    warnings = sum(finding.severity == "warn" for finding in found)
    noun = "warning" if warnings == 1 else "warnings"
    return f"clean: nothing blocks, {warnings} {noun}" if warnings else "clean"


def _severity(finding: Finding, state: CleanState) -> str:
    return "allowed" if finding.severity == "block" and finding.code not in state.blocking else finding.severity


def _place(finding: Finding) -> str:
    """Return where, with the line, and what: the detail says it when it does not name the place itself."""
    where = one_line(f"{finding.where}:{finding.line}", 80) if finding.line else ""
    return f"{where}  {one_line(finding.detail, 100)}" if where else one_line(finding.located, 110)
