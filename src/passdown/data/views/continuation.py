"""The state in which work was left, by rule alone: what is changed, and what the last validation said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct, structs

from passdown.data.points.checks import is_check
from passdown.data.records import Action, Prefix
from passdown.data.views.changes import Ledger, Moment
from passdown.evidence.output import bare_output
from passdown.model.evidence import CommandRun, Evidence
from passdown.model.pattern import lazy_pattern
from passdown.model.session import ToolResult
from passdown.packet.escape import code, inline

Validation = Literal["none", "passed", "failed", "unknown"]

NONE = "NONE OBSERVED"
HEADING = "## Continuation state"

_COLOURS: dict[str, Validation] = {"green": "passed", "red": "failed", "error": "unknown"}

_SAYS_YES = lazy_pattern(r"(?i)\b(?:all (?:good|passed|ok)|pass(?:ed|es)?|success(?:ful(?:ly)?)?|ok)\b|✓|✅")
_SAYS_NO = lazy_pattern(r"(?i)fail|error|exception|\bnot\b|✗|❌")
_STATES: dict[tuple[bool, Validation], str] = {
    (True, "none"): "changed, not validated since the latest edit",
    (True, "passed"): "changed, and the last validation after it passed",
    (True, "failed"): "changed, and the last validation after it failed",
    (True, "unknown"): "changed, and the last validation after it gave no clear result",
}


class Continuation(Struct, frozen=True, kw_only=True):
    """What a successor needs first. `scripts` are ones it wrote and ran, which may have changed more than was seen;
    `outside` are files it wrote elsewhere on the machine.

    `validation` is about runs after the latest edit, `command` the last one of all.

    `step` is that of the last validation, None where there was none.
    """

    sources: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    validation: Validation = "none"
    command: str = ""
    ended: Validation = "none"
    line: str = ""
    step: int | None = None

    @property
    def state(self) -> str:
        """The state in a few words."""
        if not self.sources and not self.tests and self.scripts:
            return "scripts of its own were run; what they changed was not seen"
        if not self.sources and not self.tests:
            if self.scratch or self.outside:
                return "only by-products and files outside of the workspace so far, no source changed"
            return "nothing changed yet"
        return _STATES[True, self.validation]


def continuation_of(prefix: Prefix, ledger: Ledger, evidence: Evidence, clean: Callable[[str], str]) -> Continuation:
    """Return the state after a prefix. `clean` takes secrets out of the texts."""
    last = _last_validation(prefix)
    state = Continuation(
        sources=tuple(known.path for known in ledger.sources()),
        tests=tuple(known.path for known in ledger.tests()),
        scratch=tuple(known.path for known in ledger.scratch()),
        scripts=tuple(sorted(ledger.ran)),
        outside=tuple(clean(path) for path in sorted(ledger.outside)),
    )
    if last is None:
        return state
    moment, action = last
    run = _run_at(evidence, moment.step, action)
    ended = _ended(evidence, run, action)
    edits = [*([ledger.edited] if ledger.edited else []), *ledger.ran.values()]
    after = all(moment > edit for edit in edits)
    last_line = _last_line(prefix, moment, action)
    if ended == "unknown" and action.ok and _SAYS_YES.search(last_line) and not _SAYS_NO.search(last_line):
        ended = "passed"
    said = clean(_line(evidence, run, ended) or last_line)
    return structs.replace(
        state, validation=ended if after else "none", ended=ended, step=moment.step, line=said,
        command=clean(run.command if run else action.detail or action.target),
    )  # fmt: skip


def _last_validation(prefix: Prefix) -> tuple[Moment, Action] | None:
    for step in reversed(prefix.steps):
        for number in range(len(step.actions) - 1, -1, -1):
            if is_check(step.actions[number]):
                return Moment(step.idx, number), step.actions[number]
    return None


def runs_of(evidence: Evidence) -> Iterator[CommandRun]:
    """Yield every run that the evidence kept, chain by chain."""
    for chain in evidence.chains:
        yield from chain.runs


def step_of(source_line: int | None) -> int | None:
    """Return the step that a source's line stands for."""
    return source_line - 1 if source_line else None


def _run_at(evidence: Evidence, step: int, action: Action) -> CommandRun | None:
    found = [run for run in runs_of(evidence) if run.source is not None and run.source.line == step + 1]
    wanted = [run for run in found if (run.kind == "test") == (action.kind == "TEST")]
    chosen = wanted or found
    return chosen[-1] if chosen else None


def _ended(evidence: Evidence, run: CommandRun | None, action: Action) -> Validation:
    tests = evidence.tests
    if run is None:
        return (
            "unknown"
            if action.ok is None
            else "failed"
            if not action.ok
            else "passed"
            if action.kind == "TEST"
            else "unknown"
        )
    if tests.source is not None and run.source == tests.source and tests.decided_by == run.command:
        return _COLOURS.get(tests.last_outcome, "unknown")
    if run.result == "ok" and run.exit in (0, None):
        return "passed" if action.kind == "TEST" else "unknown"
    return "failed" if run.result in ("ok", "failed") else "unknown"


def _line(evidence: Evidence, run: CommandRun | None, ended: Validation) -> str:
    if run is None:
        return ""
    if ended == "passed":
        tests = evidence.tests
        if tests.source == run.source and tests.counts:
            return tests.counts
    elif run.error_line:
        return run.error_line
    tail = [line.strip() for line in (run.stdout_tail or run.stderr_tail).splitlines() if line.strip()]
    return tail[-1] if tail else ""


def _last_line(prefix: Prefix, moment: Moment, action: Action) -> str:
    """Return the last line that the run printed."""
    for event in prefix.steps[moment.step].events:
        if isinstance(event, ToolResult) and event.call_id == action.call_id:
            lines = [line.strip() for line in bare_output(event.text).splitlines() if line.strip()]
            return next((line for line in reversed(lines) if any(map(str.isalnum, line)) and line[0] != "<"), "")
    return ""


def block(state: Continuation) -> str:
    """Return the block as Markdown: the same lines in the same order, whatever is known."""
    changed = bool(state.sources)
    last = code(state.command, 200) if state.command else NONE
    if state.command:
        last += f" — {state.ended} (step {state.step})"
    return "\n".join([
        HEADING,
        f"- Source changes present: {'yes' if changed else 'unknown' if state.scripts else 'no'}",
        f"- Changed source files: {_paths(state.sources)}",
        f"- Changed tests: {_paths(state.tests)}",
        f"- By-products: {_paths(state.scratch)}",
        f"- Written outside of the workspace: {_paths(state.outside)}",
        f"- Scripts of its own that were run, whatever they changed: {_paths(state.scripts)}",
        f"- Validation after the latest edit: {state.validation}",
        f"- Last validation: {last}",
        f"- What it said: {inline(state.line, 200) if state.line else NONE}",
        f"- State: {state.state}",
    ])  # fmt: skip


def _paths(paths: tuple[str, ...], most: int = 12) -> str:
    if not paths:
        return NONE
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(code(path, 200) for path in paths[:most]) + more
