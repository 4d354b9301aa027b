"""The task board and the feature list: do they say what is so?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import structs

from passdown.clean.edits import StatusEdit
from passdown.clean.mend import NAMED, listed, quote_path
from passdown.clean.options import Situation
from passdown.clean.proof import Proof, proof_of
from passdown.model.finding import Finding, Severity
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import BoardStatus, Task, Workbench
from passdown.repository.base_files import base_files
from passdown.workbench.board import read_board
from passdown.workbench.document import MalformedError, Notes, decode_json
from passdown.workbench.features import read_features
from passdown.workbench.locate import task_files

_BROKEN = frozenset({
    "artifact.bad_json", "artifact.bad_shape", "artifact.too_large", "artifact.unreadable", "artifact.not_a_file",
    "artifact.symlink_outside", "artifact.bad_encoding", "artifact.empty", "artifact.duplicate_key",
    "artifact.too_deep", "artifact.null_array", "board.duplicate_id", "board.unknown_status", "board.bad_line",
    "board.missing_id", "artifact.bad_item",
})  # fmt: skip
_FILES = lazy_pattern(r"(?:^|/)(?:task_board\.jsonl?|feature_list\.json)$")
_AFTERWARDS = lazy_pattern(
    r"(?i)\b(?:(?:pull|merge)[ -]requests?|prs?|mrs?|merg\w*|rebas\w*|squash\w*|push\w*|land|ship|deploy\w*|publish\w*"
    r"|releas\w*|announc\w*|review\w*|archiv\w*|hand(?:ing)? over|follow(?:s|ing)?[ -]up|after|now that)\b"
)
"""What is done with work that is done."""

_TELLING = lazy_pattern(r"(?=.*[\d_-]).{2,}")


def board_findings(situation: Situation, counts: Counter[str]) -> Iterator[Finding]:
    """Compare the board with the evidence. `counts` learns how many items nothing is known about, and old done ones."""
    workbench = situation.workbench
    yield from _invalid(situation)
    items = {task.id: task for task in (*workbench.features, *workbench.tasks)}
    if not items:
        if not any(f.where and _FILES.search(f.where) for f in workbench.findings):
            quiet: Severity = "warn" if workbench.artifacts else "info"
            yield Finding(
                code="board.absent", severity=quiet, detail="there is no task board and no feature list",
                fix="write down what is to be done: task_board.json", mend_kind="choice",
            )  # fmt: skip
        return
    yield from _active(situation, items)
    yield from _split(situation)
    yield from _next(situation, items)
    before = _before(situation)
    yield from _edited(situation, before)
    for task in items.values():
        yield from _judge(situation, task, before.get(task.source), counts)


def _invalid(situation: Situation) -> Iterator[Finding]:
    config = situation.config.artifacts
    paths = {config.get("board", ""), config.get("features", "")} - {""}
    for finding in situation.workbench.findings:
        if finding.code == "board.multiple_active":
            yield Finding(
                code="board.multiple_active", severity="block", detail=finding.detail, where=finding.where,
                fix=_one_of_them(situation, finding.where), mend_kind="choice",
            )  # fmt: skip
        elif finding.code in _BROKEN and (finding.where in paths or _FILES.search(finding.where)):
            yield Finding(
                code="board.invalid", severity="block", detail=finding.detail, where=finding.where,
                line=finding.line, fix=finding.fix or "mend the file", mend_kind="edit",
            )  # fmt: skip
        elif finding.severity == "block" and finding.code.startswith("artifact."):
            yield structs.replace(finding, fix=finding.fix or "mend the file, or remove it", mend_kind="edit")


def _active(situation: Situation, items: dict[str, Task]) -> Iterator[Finding]:
    workbench = situation.workbench
    named = {
        "the state": workbench.state.active_task_id if workbench.state else "",
        "the feature list": workbench.active_feature,
        "the contract": workbench.contract.task_id if workbench.contract else "",
    }
    given = {who: name for who, name in named.items() if name}
    if len(set(given.values())) > 1:
        detail = ", ".join(f"{who} says {name}" for who, name in given.items())
        yield Finding(
            code="board.active_mismatch", severity="block", where=_place_of(workbench),
            detail=f"which task is active? {detail}", fix="make them name the same task", mend_kind="choice",
        )  # fmt: skip
        return
    for who, name in given.items():
        if name not in items:
            yield Finding(
                code="board.active_mismatch", severity="block", where=next(iter(items.values())).source,
                detail=f"{who} names {name}, which is not on the board", mend_kind="choice",
                fix=f"put {name} on the board, or name another task in {who}",
            )  # fmt: skip
            return


def _split(situation: Situation) -> Iterator[Finding]:
    tasks = {task.id: task for task in situation.workbench.tasks}
    for feature in situation.workbench.features:
        task = tasks.get(feature.id)
        if task is not None and task.status != feature.status:
            yield Finding(
                code="board.split", severity="block", where=task.source,
                detail=f"{task.id} is {task.status} in {task.source}, but {feature.status} in {feature.source}",
                fix=_same(situation, task, feature), mend_kind="choice",
            )  # fmt: skip


def _next(situation: Situation, items: dict[str, Task]) -> Iterator[Finding]:
    for text in _next_steps(situation):
        named = [task for task in items.values() if _TELLING.fullmatch(task.id) and _names(text, task.id)]
        if not named or any(task.status != "done" for task in named) or _AFTERWARDS.search(text):
            continue  # what comes after a task names it as well
        yield Finding(
            code="board.next_is_done", severity="block", where=named[0].source,
            detail=f"the next step names {listed([task.id for task in named])}, which is done: {text[:80]}",
            fix='name the next open task: passdown note next "<one concrete step>"', mend_kind="choice",
        )  # fmt: skip
        return


def _next_steps(situation: Situation) -> Iterator[str]:
    """Yield the packet's next step, and the state's: unless a later word of somebody took its place."""
    action, state = situation.draft.next_action, situation.workbench.state
    yield action.text
    if state and state.next_action and action.source != "given" and not action.source.startswith("note:"):
        yield state.next_action


def _names(text: str, name: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))


# --- then and now ------------------------------------------------------------------------------------------------


def _read_features(data: bytes, notes: Notes) -> tuple[Task, ...]:
    return read_features(decode_json(data), notes)[0]


def _before(situation: Situation) -> dict[str, dict[str, Task]]:
    """Return the items of each file as they were at the base."""
    workbench = situation.workbench
    readers: dict[str, Callable[[bytes, Notes], tuple[Task, ...]]] = {}
    readers |= {task.source: read_board for task in workbench.tasks}
    readers |= {task.source: _read_features for task in workbench.features}
    found: dict[str, dict[str, Task]] = {}
    for path, data in base_files(situation.root, situation.repository.base, readers).items():
        try:
            found[path] = {task.id: task for task in readers[path](data, Notes(path))}
        except MalformedError:
            continue
    return found


def _edited(situation: Situation, before: dict[str, dict[str, Task]]) -> Iterator[Finding]:
    now = {feature.id: feature for feature in situation.workbench.features}
    paths = {feature.source for feature in now.values()}
    for path in sorted(paths & set(before)):
        for name, old in before[path].items():
            new = now.get(name)
            if new is None or (new.goal, new.acceptance) != (old.goal, old.acceptance):
                what = "was taken off the list" if new is None else "was rewritten"
                yield Finding(
                    code="board.edited_criteria", severity="block", where=path,
                    detail=f"the feature {name} ({old.goal[:60]}) {what}; only its status may change",
                    fix=f"put it back as it was: git diff {situation.repository.base[:12]} -- {quote_path(path)}",
                    mend_kind="edit",
                )  # fmt: skip


# --- one item ----------------------------------------------------------------------------------------------------


def _judge(situation: Situation, task: Task, before: dict[str, Task] | None, counts: Counter[str]) -> Iterator[Finding]:
    proof = proof_of(situation, task)
    if task.status == "done":
        yield from _done(situation, task, before, proof, counts)
    elif _is_proven(proof):
        if not _is_loose(situation):
            yield Finding(
                code="board.stale_open", severity="block", where=task.source,
                detail=f"{task.id} is {task.status}, but its verification passed at this commit",
                fix="passdown check --sync-board",
            )  # fmt: skip
    elif task.status == "in_progress":
        yield from _idle(situation, task)
    elif task.status == "todo":
        yield from _started(situation, task)
    elif task.status == "blocked":
        yield from _blocked(situation, task)


def _is_proven(proof: Proof) -> bool:
    return bool(proof.passed) and not proof.stale and proof.commands_ok is not False and not proof.review_fails


def proven_open(situation: Situation) -> list[Task]:
    """Return the items that are not done though they are proven to be: those that `board.stale_open` names."""
    if _is_loose(situation):
        return []
    workbench = situation.workbench
    items = {task.id: task for task in (*workbench.features, *workbench.tasks)}
    return [task for task in items.values() if task.status != "done" and _is_proven(proof_of(situation, task))]


def _done(
    situation: Situation, task: Task, before: dict[str, Task] | None, proof: Proof, counts: Counter[str]
) -> Iterator[Finding]:
    old = before.get(task.id) if before else None
    if old is not None and old.status == "done":
        counts["board_done_before"] += 1
        return
    moved = f", since the base {old.status}" if old else ""
    if proof.passed is False or proof.commands_ok is False:
        why = "its verification failed" if proof.passed is False else "its acceptance command failed"
        yield _false(situation, task, "block", f"{why}{moved}")
    elif proof.passed or proof.commands_ok:
        if proof.stale:
            why = f"its verification judged {proof.head[:12] or 'other files'}, not this commit{moved}"
            yield _false(situation, task, "warn", why)
    elif before is None and task.id != situation.draft.task_id:
        counts["board_unknown"] += 1  # nobody knows when it was done
    else:
        why = f"no passed verification and no passed acceptance command is recorded{moved}"
        yield _false(situation, task, "block", why)


def _false(situation: Situation, task: Task, severity: Severity, why: str) -> Finding:
    back = _set(situation, "board.false_done", task, _open_status(situation, task))
    mild = severity == "warn"
    return Finding(
        code="board.false_done", severity=severity, where=task.source, detail=f"{task.id} is done, but {why}",
        fix=f"verify {task.id} again, or set it back: {back}" if mild else back,
        mend_kind="choice" if mild else "command",
    )  # fmt: skip


def _set(situation: Situation, code: str, task: Task, status: BoardStatus) -> str:
    """Return the command that gives an item of the board another status."""
    return situation.edits.offer(code, StatusEdit(task.source, task.id, status))


def _open_status(situation: Situation, task: Task) -> BoardStatus:
    """Return what an item that is not done is: in progress, unless another one is."""
    return "todo" if _others_active(situation, task) else "in_progress"


def _others_active(situation: Situation, task: Task) -> bool:
    same_file = (*situation.workbench.features, *situation.workbench.tasks)
    return any(t.status == "in_progress" and t.id != task.id and t.source == task.source for t in same_file)


def _one_of_them(situation: Situation, path: str) -> str:
    items = (*situation.workbench.features, *situation.workbench.tasks)
    active = [task for task in items if task.source == path and task.status == "in_progress"]
    ways = [f"{t.id}: {_set(situation, 'board.multiple_active', t, 'todo')}" for t in active[:NAMED]]
    return "leave one in progress, and set the others back to todo; " + "; ".join(ways)


def _same(situation: Situation, task: Task, feature: Task) -> str:
    board = _set(situation, "board.split", task, feature.status)
    features = _set(situation, "board.split", feature, task.status)
    return f"make both {feature.status}: {board}; or make both {task.status}: {features}"


def _place_of(workbench: Workbench) -> str:
    roles = ("state", "contract", "features")
    return next((a.path for role in roles for a in workbench.artifacts if a.role == role), "")


def _is_loose(situation: Situation) -> bool:
    reports = [path for role in ("verification", "review") for path in task_files(situation.root, role)]
    artifacts = {*reports, *(artifact.path for artifact in situation.workbench.artifacts)}
    return any(change.path not in artifacts for change in situation.dirt)


def _idle(situation: Situation, task: Task) -> Iterator[Finding]:
    repository = situation.repository
    if not repository.commits and not repository.changes and not situation.evidence.chains:
        yield Finding(
            code="board.idle_active", severity="warn", where=task.source,
            detail=f"{task.id} is in progress, but nothing was done in this session",
            fix=_set(situation, "board.idle_active", task, "todo"),
        )  # fmt: skip


def _started(situation: Situation, task: Task) -> Iterator[Finding]:
    contracts: list[Any] = [situation.workbench.contract, *situation.workbench.closed_contracts]
    allowed = {path for c in contracts if c and c.task_id == task.id for path in c.allowed_files}
    telling = _TELLING.fullmatch(task.id)
    commits = [this[:12] for this, message in situation.messages.items() if _names(message, task.id)] if telling else []
    touched = [change.path for change in situation.repository.changes if change.path in allowed]
    if commits or touched:
        command = _set(situation, "board.started_unmarked", task, "in_progress")
        busy = _others_active(situation, task)
        yield Finding(
            code="board.started_unmarked", severity="warn", where=task.source,
            detail=f"{task.id} is todo, but {listed([*commits, *touched])} belong to it",
            fix=f"when the task that is in progress is settled: {command}" if busy else command,
            mend_kind="choice" if busy else "command",
        )  # fmt: skip


def _blocked(situation: Situation, task: Task) -> Iterator[Finding]:
    workbench = situation.workbench
    blockers = workbench.state.blockers if workbench.state else ()
    questions = [row for row in workbench.questions if row.status == "open"]
    said = [*blockers, *(f"{row.question} {row.why}" for row in questions)]
    if not any(_names(text, task.id) for text in said) and not any(task.id in row.blocks for row in questions):
        yield Finding(
            code="board.blocked_unnamed", severity="warn", where=task.source,
            detail=f"{task.id} is blocked, but no open blocker or question names it",
            fix=f'say what blocks it: passdown note question "{task.id} waits for <what?>"', mend_kind="choice",
        )  # fmt: skip
    done = [t.id for t in (*workbench.tasks, *workbench.features) if t.status == "done" and _TELLING.fullmatch(t.id)]
    for text in blockers:
        if _names(text, task.id) and any(_names(text, name) for name in done if name != task.id):
            yield Finding(
                code="board.blocker_done", severity="warn", where=task.source,
                detail=f"what blocks {task.id} names a task that is done: {text[:80]}",
                fix=f"when it can go on: {_set(situation, 'board.blocker_done', task, 'todo')}", mend_kind="choice",
            )  # fmt: skip
