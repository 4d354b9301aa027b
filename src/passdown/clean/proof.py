"""What is known about one item of the board: its verification report, its acceptance commands, the review."""

from __future__ import annotations

from msgspec import Struct

from passdown.clean.options import Situation
from passdown.evidence.tests import looks_like_command
from passdown.model.command import normalize_command
from passdown.model.workbench import Task, Verification
from passdown.workbench.document import MalformedError, Notes, decode_json
from passdown.workbench.locate import candidates, exists, own_output, read_file
from passdown.workbench.verification import read_verification


class Proof(Struct, frozen=True, gc=False):
    """`passed` and `commands_ok` are None when nothing is recorded; `stale`: the report judged another commit."""

    passed: bool | None = None
    commands_ok: bool | None = None
    stale: bool = False
    head: str = ""
    review_fails: bool = False


def proof_of(situation: Situation, task: Task) -> Proof:
    """Return what the evidence says about a task."""
    report = _report(situation, task.id)
    review = situation.workbench.review
    head = report.head_commit if report else ""
    return Proof(
        passed=report.passed if report else None,
        commands_ok=_commands_ok(situation, task),
        stale=_is_stale(situation, report),
        head=head,
        review_fails=bool(review and review.task_id in ("", task.id) and review.verdict in ("hard_fail", "soft_fail")),
    )


def _is_stale(situation: Situation, report: Verification | None) -> bool:
    """Say whether a report was written for other files: as measured, else by its commit."""
    here, head = _here(situation, report), report.head_commit if report else ""
    return not here if here is not None else bool(head) and not _is_head(situation, head)


def _here(situation: Situation, report: Verification | None) -> bool | None:
    """Say whether the files that a report judged are those that lie here; None when it does not say what it judged."""
    now = situation.repository.content
    return report.content == now if report is not None and report.content and now else None


def _is_head(situation: Situation, commit: str) -> bool:
    repository = situation.repository
    return any(head.startswith(commit.lower()) for head in (repository.head, repository.effective_head) if head)


def _report(situation: Situation, task_id: str) -> Verification | None:
    loaded = situation.workbench.verification
    if loaded is not None and loaded.task_id == task_id:
        return loaded
    named = f"{task_id}.json"
    for path in candidates("verification", situation.config, task_id):
        if not path.endswith(named) or own_output(path, situation.config) or not exists(situation.root, path):
            continue
        try:
            report = read_verification(decode_json(read_file(situation.root, path).data), Notes(path))
        except MalformedError:
            continue
        return report if report.task_id in ("", task_id) else None
    return None


def _commands_ok(situation: Situation, task: Task) -> bool | None:
    """Say whether all acceptance commands of a task passed at their last run; None when one was never run."""
    contract = situation.workbench.contract
    criteria = task.acceptance or (contract.acceptance_criteria if contract and contract.task_id == task.id else ())
    commands = [text for text in criteria if looks_like_command(text)]
    if not commands:
        return None
    ends = {
        chain.runs[-1].tokens or normalize_command(chain.command): chain.final
        for chain in situation.evidence.chains
        if chain.runs
    }
    results = [ends.get(normalize_command(command)) for command in commands]
    if any(result == "failed" for result in results):
        return False
    return True if all(result == "ok" for result in results) else None
