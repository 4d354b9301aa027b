"""The tests: their colour as it was recorded, and whether somebody named what fails. Nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from passdown.clean.commands import propose_command, prose_of, recorded
from passdown.clean.mend import NAMED, listed, quote_path
from passdown.clean.options import Situation
from passdown.clean.paths import is_test
from passdown.clean.runs import compared_runs
from passdown.evidence.tests import is_relevant
from passdown.model.command import normalize_command
from passdown.model.evidence import CommandChain
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.packet.noted import TESTS_FAIL

_NONE_RAN = lazy_pattern(
    r"(?i)no tests ran|collected 0 items|ran 0 tests|no test files|no tests? (?:found|to run|collected)|0 passing|"
    r"Tests:\s+0 total|running 0 tests"
)
LONGEST_NOTE = 300
"""Most characters of a note that a printed command holds."""

_SHORT = lazy_pattern(r"[^/:.]+$")


def tests_findings(situation: Situation) -> Iterator[Finding]:
    """Judge the recorded state of the tests."""
    yield from _colour(situation)
    yield from compared_runs(situation)
    yield from _removed(situation)


def _colour(situation: Situation) -> Iterator[Finding]:
    tests = situation.evidence.tests
    command = tests.decided_by or (tests.commands[0] if tests.commands else "")
    if tests.state == "red" and not (not tests.failing and _none_ran(situation)):
        yield _red(situation, command)
    elif tests.state == "red" or tests.state == "error":
        yield _error(situation, command)
    elif tests.state == "stale":
        yield _stale(situation, command)
    elif tests.state == "not_run":
        yield _not_run(situation, next(_never_run(situation), command))
    prose = prose_of(situation.workbench, situation.config.test_command)
    if prose or tests.state == "manual":
        yield Finding(
            code="tests.manual_criterion", severity="warn", mend_kind="choice",
            fix="look at each of them, or write one as a command",
            detail=f"acceptance criteria in words, which a person must look at: {listed(prose) or 'all of them'}",
        )  # fmt: skip


def _red(situation: Situation, command: str) -> Finding:
    failing = situation.evidence.tests.failing
    what = listed(failing) if failing else situation.evidence.tests.error_line or command
    if unnamed := _unnamed(situation):
        return Finding(
            code="tests.red_unnamed", severity="block", fix=_naming(unnamed),
            detail=f"tests fail, and nobody named them: {listed(unnamed)}" if failing else f"tests fail: {what}",
        )  # fmt: skip
    detail = f"tests fail, and are named: {what}"
    fix = f"make them pass, then: {recorded(command)}"
    return Finding(code="tests.red_named", severity="warn", detail=detail, fix=fix, mend_kind="edit")


def _naming(unnamed: list[str]) -> str:
    """Return the command that names what fails: a note that lasts, or for more than a note holds, the packet itself."""
    note = f"{TESTS_FAIL}{', '.join(unnamed)}"
    fits = len(note) <= LONGEST_NOTE and note.isprintable() and "  " not in note
    return f"passdown note risk {shlex.quote(note)}" if fits else "passdown wrap --name-failures"


def _error(situation: Situation, command: str) -> Finding:
    tests = situation.evidence.tests
    if tests.none_ran or _none_ran(situation):
        return Finding(
            code="tests.none_ran", severity="block", detail=f"{command or 'the test command'} ran no test at all",
            fix=f"let it find tests, then: {recorded(command)}", mend_kind="edit",
        )  # fmt: skip
    named = not _unnamed(situation)
    action = situation.draft.next_action
    addressed = any(
        text and text in f"{action.text} {action.command}" for text in (command, tests.error_line, *tests.failing)
    )
    why = tests.error_line or "it gave no result"
    return Finding(
        code="tests.cannot_start", severity="warn" if named and addressed else "block",
        detail=f"{command or 'the test command'} could not run: {why}",
        fix=f"let it start, then: {recorded(command)}", mend_kind="edit",
    )  # fmt: skip


def _stale(situation: Situation, command: str) -> Finding:
    repository, tests = situation.repository, situation.evidence.tests
    last = tests.last_outcome or "unknown"
    code = any(is_relevant(change.path) for change in repository.changes)
    if code:
        detail = f"since the last recorded test run ({last}), the code changed"
    elif tests.at:
        detail = f"the last recorded test run ({last}) came before the last edit, though no code differs now"
    else:
        detail = f"the last recorded test run ({last}) does not say when it was"
    return Finding(code="tests.stale", severity="block" if code else "warn", detail=detail, fix=recorded(command))


def _not_run(situation: Situation, command: str) -> Finding:
    changed = any(is_relevant(change.path) for change in situation.repository.changes)
    if command:
        return Finding(
            code="tests.not_run", severity="block" if changed else "warn", fix=recorded(command),
            detail=f"no run of {command} is recorded",
        )  # fmt: skip
    if proposed := propose_command(situation.root):
        return Finding(
            code="tests.not_run", severity="warn", fix=recorded(proposed),
            detail=f"no test run is recorded; the project's files point to {proposed}",
        )  # fmt: skip
    return Finding(
        code="tests.no_command", severity="warn", detail="nothing says how to run the tests",
        fix='set test-command = "<how the tests are run>" in passdown.toml', mend_kind="choice",
    )  # fmt: skip


def _never_run(situation: Situation) -> Iterator[str]:
    """Return the declared commands of which no run is recorded."""
    ran = {chain.runs[-1].tokens for chain in situation.evidence.chains if chain.runs}
    left = [command for command in situation.evidence.tests.commands if normalize_command(command) not in ran]
    if left:
        ran = {normalize_command(chain.command) for chain in situation.evidence.chains}
    yield from (command for command in left if normalize_command(command) not in ran)


# --- what is named -----------------------------------------------------------------------------------------------


def _unnamed(situation: Situation) -> list[str]:
    """Return the failing tests (or, where none is known by name, commands) that no person and no note named."""
    if situation.options.name_failures:
        return []
    said = "\n".join(_said(situation))
    failing = list(situation.evidence.tests.failing)
    if failing:
        return [name for name in failing if name not in said and not _short_named(name, said)]
    commands = [chain.command for chain in _failed(situation)] or list(situation.evidence.tests.commands)
    return [command for command in commands if command not in said] or ([] if commands else ["what fails"])


def _short_named(name: str, said: str) -> bool:
    short = _SHORT.search(name.partition("[")[0])
    return bool(short and len(short[0]) >= 6 and re.search(rf"(?<!\w){re.escape(short[0])}(?!\w)", said))


def _said(situation: Situation) -> Iterator[str]:
    """Return what people and the workbench say; what passdown itself derives does not count."""
    workbench = situation.workbench
    yield from workbench.state.blockers if workbench.state else ()
    yield from (f"{row.question} {row.why}" for row in workbench.questions if row.status == "open")
    yield from (f"{row.choice} {row.why}" for row in workbench.decisions if row.state != "withdrawn")
    yield from (row.text for row in workbench.clues if not row.withdrawn)
    yield from (f"{row.text} {row.why}" for row in workbench.notes if not row.withdrawn)
    yield from (row.agent_note for row in workbench.feedback or ())
    yield from (task.goal for task in (*workbench.tasks, *workbench.features) if task.status != "done")
    report = workbench.verification
    if report and not report.content:  # one that passdown wrote would be its own word for it
        yield from (finding.detail for finding in report.findings)
    yield from (directive.text for directive in situation.evidence.directives)


def _failed(situation: Situation) -> list[CommandChain]:
    accepted = {normalize_command(command) for command in situation.evidence.tests.commands}
    return [
        chain for chain in situation.evidence.chains
        if chain.final == "failed" and (chain.kind == "test" or normalize_command(chain.command) in accepted)
    ]  # fmt: skip


def _none_ran(situation: Situation) -> bool:
    accepted = {normalize_command(command) for command in situation.evidence.tests.commands}
    for chain in situation.evidence.chains:
        if not chain.runs or not (chain.kind == "test" or normalize_command(chain.command) in accepted):
            continue
        run = chain.runs[-1]
        if _NONE_RAN.search(f"{run.stdout_tail}\n{run.stderr_tail}\n{run.error_line}"[-20_000:]):
            return True
    return False


# --- removed -----------------------------------------------------------------------------------------------------


def _removed(situation: Situation) -> Iterator[Finding]:
    gone = [change.path for change in situation.repository.changes if change.status == "D" and is_test(change.path)]
    added = {c.path.rpartition("/")[2] for c in situation.repository.changes if c.status == "A" and is_test(c.path)}
    gone = [path for path in gone if path.rpartition("/")[2] not in added]
    if not gone:
        return
    report = situation.workbench.verification
    current, previous = (report.coverage_current, report.coverage_previous) if report else (None, None)
    fell = current is not None and previous is not None and current < previous
    base = situation.repository.base
    yield Finding(
        code="tests.removed", severity="block" if fell else "warn", where=gone[0],
        detail=f"{len(gone)} test files were removed{', and coverage fell' if fell else ''}: {listed(gone)}",
        fix=f"git checkout {base[:12]} -- {' '.join(map(quote_path, gone[:NAMED]))}" if base else "",
    )  # fmt: skip
