"""Runs of the same tests compared: flaky ones, and fewer tests run or more skipped than before."""

from __future__ import annotations

from collections.abc import Iterator

from passdown.clean.commands import recorded
from passdown.clean.options import Situation
from passdown.evidence.kinds import kind_of, words_of
from passdown.evidence.output import bare_output
from passdown.evidence.places import OUTSIDE
from passdown.evidence.reports import read_report
from passdown.evidence.skips import skipped_in
from passdown.model.command import normalize_command
from passdown.model.evidence import CommandChain, CommandRun
from passdown.model.finding import Finding
from passdown.model.workbench import FeedbackRow
from passdown.packet.runs import is_failure, is_success

_EDITS = frozenset({"edit", "write", "delete"})


def compared_runs(situation: Situation) -> Iterator[Finding]:
    """Compare the recorded runs of each test command with each other."""
    for chain in situation.evidence.chains:
        inside = not chain.cwd.startswith(OUTSIDE)  # of edits elsewhere nothing is known
        if chain.kind == "test" and inside and _is_flaky(situation, chain):
            yield Finding(
                code="tests.flaky", severity="warn", mend_kind="edit",
                fix=f"find out why and mend it, then: {recorded(chain.command)}",
                detail=f"{chain.command} passed and failed with nothing changed in between",
            )  # fmt: skip
    for last, before in _pairs(situation):
        yield from _fewer(last, before)


# --- flaky -------------------------------------------------------------------------------------------------------


def _is_flaky(situation: Situation, chain: CommandChain) -> bool:
    decided = [run for run in chain.runs if is_success(run) or is_failure(run)]
    known = [run for run in decided if run.codes and run.exit not in (None, 126, 127)]
    outcomes = {is_success(run) for run in known if run.codes[0] == known[-1].codes[0]}  # older code may be mended
    return len(outcomes) == 2 or _by_time(situation, chain, [run for run in decided if not run.codes])


def _by_time(situation: Situation, chain: CommandChain, runs: list[CommandRun]) -> bool:
    """Judge runs that do not say on which files they ran: by what else happened between them."""
    times = [run.at for run in runs if run.at is not None]
    if chain.tried_after or not times or {is_success(run) for run in runs} != {True, False}:
        return False
    first, last = min(times), max(times)
    edited = (t.last_at for t in situation.evidence.touches if t.action in _EDITS and t.last_at is not None)
    return not any(first <= at <= last for at in (*edited, *(c.at for c in situation.repository.commits)))


# --- fewer tests, more skipped -----------------------------------------------------------------------------------


def _pairs(situation: Situation) -> Iterator[tuple[FeedbackRow, FeedbackRow]]:
    """Return for each test command its last green run and the last one before it on other files."""
    runs: dict[tuple[str, tuple[str, ...]], list[FeedbackRow]] = {}
    commands = {normalize_command(command) for command in situation.evidence.tests.commands}
    for row in situation.workbench.feedback or ():
        if row.exit_code == 0 and len(row.command) < 2000:
            tokens = normalize_command(row.command)
            if tokens in commands or kind_of(words_of(row.command)) == "test":
                runs.setdefault((row.cwd, tokens), []).append(row)
    for rows in runs.values():
        last = rows[-1]
        before = next((r for r in reversed(rows[:-1]) if not r.code or r.code != last.code), None)
        if before is not None:
            yield last, before


def _fewer(last: FeedbackRow, before: FeedbackRow) -> Iterator[Finding]:
    (ran, skipped), (ran_before, skipped_before) = _counts(last), _counts(before)
    if ran is None or ran_before is None:
        return
    if skipped > skipped_before:
        yield Finding(
            code="tests.skipped_more", severity="warn", mend_kind="edit",
            fix=f"take the skips out, then: {recorded(last.command)}",
            detail=f"{last.command} is green, but skips {skipped} tests; it skipped {skipped_before} before",
        )  # fmt: skip
    if ran + skipped < ran_before + skipped_before:
        detail = f"{last.command} knows {ran + skipped} tests now, {ran_before + skipped_before} before"
        fix = f"put them back, then: {recorded(last.command)}"
        yield Finding(code="tests.removed", severity="warn", detail=detail, fix=fix, mend_kind="edit")


def _counts(row: FeedbackRow) -> tuple[int | None, int]:
    text = bare_output(f"{row.stdout_tail}\n{row.stderr_tail}")
    return read_report(text).ran, skipped_in(text)
