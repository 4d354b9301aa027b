"""What is done, one line each."""

from __future__ import annotations

import re

from passdown.model.evidence import Check, Commit
from passdown.model.identifier import normalize_text
from passdown.model.packet import CompletedItem
from passdown.model.workbench import Task
from passdown.packet.caps import first
from passdown.packet.carry import completed_of_gone
from passdown.packet.context import Context
from passdown.packet.plan import current_plan


def list_completed(context: Context) -> tuple[list[CompletedItem], int]:
    """Return the finished things and how many are left out.

    Board items with a commit or a passed report first, then commits (newest first), finished plan items, and last
    the board items that nothing but the board calls done.
    """
    commits = context.evidence.repository.commits
    done = [task for task in board_items(context) if task.status == "done"]
    proven = [(task, _proof(context, task)) for task in done]
    items = [_task(task, proof) for task, proof in proven if proof]
    named = {commit.id for commit in commits for task in done if names_item(commit.subject, task.id)}
    items += [_commit(commit) for commit in commits if commit.id not in named]
    plan = current_plan(context.evidence)
    items += [
        CompletedItem(id=context.id("P-", item.text), text=item.text, evidence="plan")
        for item in plan
        if item.status == "completed"
    ]
    items += completed_of_gone(context)
    items += [_task(task, "") for task, proof in proven if not proof]
    unseen = max(context.evidence.repository.commits_total - len(commits), 0)
    kept, left = first(_once(items), "completed")
    return kept, left + unseen


def board_items(context: Context) -> list[Task]:
    """Return the items of the board and of the feature list, each id once."""
    workbench = context.evidence.workbench
    found: dict[str, Task] = {}
    for task in (*workbench.tasks, *workbench.features):
        found.setdefault(task.id, task)
    return list(found.values())


def names_item(text: str, name: str) -> bool:
    """Say whether a text names an item's id as a word of its own."""
    return bool(name) and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _proof(context: Context, task: Task) -> str:
    verification = context.evidence.workbench.verification
    if verification and verification.passed and verification.task_id == task.id:
        return verification.path or "verification report"
    for commit in context.evidence.repository.commits:
        if names_item(commit.subject, task.id):
            return commit.id
    return ""


def _task(task: Task, proof: str) -> CompletedItem:
    return CompletedItem(id=task.id, text=task.goal or task.id, evidence=proof or "board")


def _commit(commit: Commit) -> CompletedItem:
    return CompletedItem(
        id=f"C-{commit.id[:10]}",
        text=commit.subject or "(no subject)",
        evidence=commit.id,
        basis="observed",
        check=Check(kind="is_ancestor", subject=commit.id, expect="HEAD"),
    )


def _once(items: list[CompletedItem]) -> list[CompletedItem]:
    seen: dict[str, CompletedItem] = {}
    for item in items:
        seen.setdefault(normalize_text(item.text).casefold(), item)
    return list(seen.values())
