"""Questions only a human can answer. The threshold is authority and consequence, not uncertainty."""

from __future__ import annotations

import re

from passdown.model.finding import Severity
from passdown.model.identifier import normalize_text
from passdown.model.packet import Question
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import QuestionRow
from passdown.packet.blockers import waits_for
from passdown.packet.caps import LISTS
from passdown.packet.carry import carried_questions
from passdown.packet.context import Context

UNANSWERED = "nothing is done about it until it is answered"
"""The default of a question that states none: an inaction."""

NEXT_ACTION = "next_action"
THRESHOLD = 4

_CATEGORIES = (
    (
        lazy_pattern(r"depend|package|librar|lock ?file|依赖", re.IGNORECASE),
        lazy_pattern(
            r"(?:^|/)(?:pyproject\.toml|requirements[^/]*\.txt|setup\.(?:py|cfg)|package(?:-lock)?\.json|[^/]*\.lock|go\.(?:mod|sum)|"
            r"Cargo\.(?:toml|lock)|Gemfile(?:\.lock)?|pom\.xml|build\.gradle(?:\.kts)?|composer\.(?:json|lock))$"
        ),
    ),
    (lazy_pattern(r"migrat|schema|database|迁移", re.IGNORECASE), lazy_pattern(r"migrat|(?:^|/)alembic/|\.sql$")),
    (
        lazy_pattern(r"\bci\b|deploy|pipeline|workflow|infra|release|部署|流水线", re.IGNORECASE),
        lazy_pattern(
            r"^\.github/workflows/|^\.gitlab-ci|^\.circleci/|(?:^|/)(?:Dockerfile|Jenkinsfile|deploy[^/]*|k8s|terraform|helm)(?:/|$)|\.tf$"
        ),
    ),
)


def question_rows(context: Context) -> list[QuestionRow]:
    """Return the recorded questions, each id once with its last row."""
    return list({row.id: row for row in context.evidence.workbench.questions}.values())


def score(row: QuestionRow) -> int:
    """Return impact + irreversibility + authority, each from 0 to 2."""
    return sum(min(max(value, 0), 2) for value in (row.impact, row.irreversibility, row.authority))


def is_assumed(row: QuestionRow) -> bool:
    """Say whether its default can simply be taken: reversal costs one commit, and nobody's consent is required."""
    return row.irreversibility <= 0 and bool(row.default.strip()) and row.authority < 2


def enters(row: QuestionRow) -> bool:
    """Say whether a recorded question goes to the human: open, past the threshold, and something depends on it."""
    if row.status != "open" or not row.question.strip() or is_assumed(row):
        return False
    if row.irreversibility >= 2:
        return True
    return row.pinned or (bool(row.blocks) and (score(row) >= THRESHOLD or NEXT_ACTION in row.blocks))


def list_questions(context: Context) -> list[Question]:
    """Return every question for the human, most weighty first; `trim_questions` applies the cap."""
    rows = [row for row in question_rows(context) if enters(row)]
    questions = [_from_row(context, row) for row in rows]
    questions += [*_from_blockers(context), *_from_approvals(context), *_from_rules(context), *_from_overrides(context)]
    settled = {context.name("Q-", row.id, row.question) for row in question_rows(context) if row.status != "open"}
    return by_weight([*(q for q in questions if q.id not in settled), *carried_questions(context)])


def by_weight(questions: list[Question]) -> list[Question]:
    """Return each text once, by score downwards and then by id."""
    found: dict[str, Question] = {}
    for question in questions:
        found.setdefault(normalize_text(question.question), question)
    unique = {question.id: question for question in reversed(found.values())}
    return sorted(unique.values(), key=lambda q: (-q.score, q.id))


def trim_questions(questions: list[Question]) -> tuple[list[Question], int]:
    """Return the questions there is room for and how many of this evidence's own are left out.

    What cannot be taken back has room first (severity block), then the score decides.
    """
    room = sorted(questions, key=lambda q: (q.severity != "block", not q.pinned, -q.score, q.id))[
        : LISTS["questions_for_human"]
    ]
    kept = [question for question in questions if question in room]
    return kept, sum(not question.from_packet for question in questions if question not in room)


def _from_row(context: Context, row: QuestionRow) -> Question:
    severity: Severity = "block" if row.irreversibility >= 2 or NEXT_ACTION in row.blocks else "warn"
    return Question(
        id=context.name("Q-", row.id, row.question),
        question=row.question,
        default=row.default.strip() or UNANSWERED,
        why=row.why,
        options=list(row.options),
        blocks=list(row.blocks),
        severity=severity,
        score=score(row),
        source=context.artifact("questions") or "questions.jsonl",
        by=row.by,
        pinned=row.pinned,
    )


def _asked(
    context: Context, text: str, *, blocks: str, source: str, irreversibility: int = 0, why: str = ""
) -> Question:
    return Question(
        id=context.id("Q-", text),
        question=text,
        default=UNANSWERED,
        why=why,
        blocks=[blocks] if blocks else [],
        severity="block" if irreversibility >= 2 else "warn",
        score=4 + irreversibility,
        source=source,
    )


def _from_blockers(context: Context) -> list[Question]:
    state = context.evidence.workbench.state
    source = context.artifact("state") or "agent_state.json"
    waiting = [text for text in (state.blockers if state else ()) if waits_for(text) is not None]
    return [_asked(context, text, blocks=context.id("B-", text), source=source) for text in waiting]


def _from_approvals(context: Context) -> list[Question]:
    contract = context.contract
    if contract is None:
        return []
    return [
        _asked(
            context, f"Approve: {entry}", blocks=contract.task_id or "the contract", irreversibility=1,
            source=contract.path or "scope_contract.json", why=f"the contract asks for it, and {path} changed",
        )
        for entry, path in open_approvals(context)
    ]  # fmt: skip


def open_approvals(context: Context) -> list[tuple[str, str]]:
    """Return the contract's approvals that the diff calls for and nobody gave, each with the first path that does."""
    contract = context.contract
    if contract is None:
        return []
    given = _approvals_given(context)
    found = []
    for entry in contract.approvals_required:
        path = next((c.path for c in context.evidence.repository.changes if _calls_for(entry, c.path)), "")
        if path and not any(normalize_text(entry).casefold() in text for text in given):
            found.append((entry, path))
    return found


def _calls_for(entry: str, path: str) -> bool:
    return path in entry or any(topic.search(entry) and paths.search(path) for topic, paths in _CATEGORIES)


def _approvals_given(context: Context) -> list[str]:
    workbench = context.evidence.workbench
    texts = [f"{row.code} {row.reason}" for row in workbench.overrides if row.signed]
    texts += [f"{row.choice} {row.why}" for row in workbench.decisions if row.by == "human" and row.state == "made"]
    texts += [row.question for row in workbench.questions if row.status == "answered"]
    return [normalize_text(text).casefold() for text in texts]


def _from_rules(context: Context) -> list[Question]:
    source = context.artifact("rule_report") or "rule_report.json"
    return [
        _asked(
            context, f"The rule {row.slug} was not kept: approve what was done, or have it taken back?",
            blocks=context.task_id or "the work", source=source, irreversibility=1 if row.category == "approval" else 0,
        )
        for row in context.evidence.workbench.rule_results or ()
        if not row.passed and row.category in ("approval", "uncertainty")
    ]  # fmt: skip


def _from_overrides(context: Context) -> list[Question]:
    source = context.artifact("overrides") or "overrides.jsonl"
    return [
        _asked(
            context, f"The override of {row.code} is not signed: does it stand?", blocks=row.task_id or row.code,
            source=source, why=row.reason,
        )
        for row in context.evidence.workbench.overrides
        if not row.signed
    ]  # fmt: skip
