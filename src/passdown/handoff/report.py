"""The verification report of the workbench, written from what was measured on the files as they lie here."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from passdown import __version__
from passdown.clean.commands import prose_of
from passdown.config import Config
from passdown.errors import NoEvidenceError
from passdown.evidence.output import bare_output
from passdown.evidence.places import Places
from passdown.evidence.reports import read_report
from passdown.evidence.runs import Finished, feedback_run
from passdown.handoff.gather import Gathered
from passdown.handoff.testing import commands_of
from passdown.handoff.tree import counting, hashes, here
from passdown.io.files import join_inside, write_files
from passdown.model.finding import Finding
from passdown.model.workbench import FeedbackRow, Workbench
from passdown.packet.runs import is_success
from passdown.redact.scan import Redactor
from passdown.workbench.locate import candidates, exists, own_output

State = Literal["passed", "failed", "no_result", "not_run", "manual"]

SCHEMA_VERSION = 1


class Criterion(Struct, frozen=True, kw_only=True):
    """One criterion and what was measured of it on these very files.

    `exit` is the recorded exit code, `evidence_line` the line of `log` that holds the record, `detail` what it says.
    """

    criterion: str
    by: Literal["command", "person"]
    state: State
    exit: int | None = None
    evidence_line: int = 0
    log: str = ""
    detail: str = ""


class Report(Struct, frozen=True, kw_only=True):
    """What was written: `passed` is None when nothing failed but something has still to be looked at by a person."""

    path: str
    passed: bool | None
    criteria: tuple[Criterion, ...] = ()

    def headline(self) -> str:
        """Return one line for the person who asked."""
        word = {True: "passed", False: "not passed", None: "no verdict: a person must look"}[self.passed]
        return f"{self.path}: {word}"


def write_report(gathered: Gathered, redactor: Redactor) -> Report:
    """Judge every criterion by the records of this very content, and write the report where the workbench keeps it.

    Raises `NoEvidenceError` when there is nothing to judge: no acceptance criterion and no test command.
    """
    root, config, workbench = gathered.root, gathered.config, gathered.evidence.workbench
    state = here(root, config)
    content, _ = hashes(state, config)
    criteria = judge(gathered, content)
    if not criteria:
        raise NoEvidenceError(
            "nothing says what a verification would have to prove",
            next_step='Set test-command = "..." in passdown.toml, or give the task an acceptance criterion.',
        )
    task_id = _task_id(workbench)
    path = report_path(root, config, workbench, task_id)
    value = {
        "schema_version": SCHEMA_VERSION,
        "task_id": task_id,
        "passed": verdict(criteria),
        "strict": False,
        "findings": [_finding(item) for item in criteria if item.state != "passed"],
        "criteria": criteria,
        "coverage": None,
        "head_commit": state.head.effective if state.committed(counting(config)) else "",
        "branch": state.head.branch,
        "tree_fingerprint": state.fingerprint,
        "content": content,
        "artifacts": sorted({item.log for item in criteria if item.log} | _sources(workbench)),
        "written_by": f"passdown {__version__}",
    }
    plain: Any = redactor.tree(msgspec.to_builtins(value))
    data = msgspec.json.format(msgspec.json.encode(plain, order="sorted"), indent=2) + b"\n"
    write_files([(join_inside(root, path), data)])
    return Report(path=path, passed=verdict(criteria), criteria=tuple(criteria))


def verdict(criteria: list[Criterion]) -> bool | None:
    """Return False when a command was not seen to pass, None when only a person's look is missing."""
    if any(item.by == "command" and item.state != "passed" for item in criteria):
        return False
    return None if any(item.by == "person" for item in criteria) else True


def judge(gathered: Gathered, content: str) -> list[Criterion]:
    """Return every criterion with the last record that was measured on this content."""
    workbench, root = gathered.evidence.workbench, gathered.root
    commands, _ = commands_of(root, gathered.config, workbench, heuristics=True)
    places = Places(str(root), [worktree.path for worktree in gathered.repository.worktrees])
    rows = [(row, run) for row in workbench.feedback or () if (run := feedback_run(row, places)) is not None]
    criteria = [_judged(command, rows, places, content) for command in commands]
    prose = prose_of(workbench, gathered.config.test_command)
    return criteria + [
        Criterion(criterion=line, by="person", state="manual", detail="nobody can run this: a person must look")
        for line in prose
    ]


def _judged(command: str, rows: list[tuple[FeedbackRow, Finished]], places: Places, content: str) -> Criterion:
    from passdown.evidence.identity import identify

    tokens = identify(command, "", places).tokens
    own = [(row, run) for row, run in rows if run.run.tokens == tokens and not row.cwd]
    here_ = [(row, run) for row, run in own if content in row.contents()]
    if not here_:
        what = "its last run judged other files" if own else "no run of it is recorded"
        return Criterion(criterion=command, by="command", state="not_run", detail=what)
    row, finished = here_[-1]
    state, detail = _outcome(row, finished)
    return Criterion(
        criterion=command, by="command", state=state, exit=row.exit_code, evidence_line=row.line, log=row.path,
        detail=detail,
    )  # fmt: skip


def _outcome(row: FeedbackRow, finished: Finished) -> tuple[State, str]:
    run = finished.run
    report = read_report(bare_output(finished.output))
    if row.exit_code is None or row.exit_code in (126, 127):
        return "no_result", row.error or run.error_line or "it gave no result"
    if not is_success(run) or row.exit_code != 0:
        return "failed", run.error_line or f"exit {row.exit_code}"
    if report.ran == 0:
        return "no_result", "it ran no test at all"
    if finished.identity.masking and (report.ran is None or report.failed):
        return "no_result", "its exit code is not that of the command meant"
    return "passed", report.counts


_CODES: dict[State, str] = {
    "failed": "acceptance.failed", "no_result": "feedback.null_exit", "not_run": "acceptance.missing",
    "manual": "acceptance.manual",
}  # fmt: skip


def _finding(item: Criterion) -> Finding:
    detail = f"{item.criterion}: {item.detail}" if item.detail else item.criterion
    if item.state == "failed" and item.exit is not None and f"exit {item.exit}" not in detail:
        detail = f"{item.criterion} exited {item.exit}: {item.detail}"
    return Finding(code=_CODES[item.state], severity="warn" if item.state == "manual" else "block", detail=detail)


def _task_id(workbench: Workbench) -> str:
    state = workbench.state.active_task_id if workbench.state else ""
    contract = workbench.contract.task_id if workbench.contract else ""
    running = {t.id for t in (*workbench.tasks, *workbench.features) if t.status == "in_progress"}
    return contract or state or workbench.active_feature or (running.pop() if len(running) == 1 else "")


def report_path(root: Path, config: Config, workbench: Workbench, task_id: str) -> str:
    """Return where the report goes: the configured place, else where one lies, else the workbench's own place."""
    places = [path for path in candidates("verification", config, task_id) if not own_output(path, config)]
    if config.artifacts.get("verification") in places:
        return config.artifacts["verification"]
    known = workbench.verification
    if known is not None and known.path in places and known.task_id in ("", task_id):
        return known.path
    return next((path for path in places if task_id and task_id in path and exists(root, path)), places[0])


def _sources(workbench: Workbench) -> set[str]:
    return {a.path for a in workbench.artifacts if a.role in ("contract", "board", "features", "state", "router")}
