"""Decisions and preferences: what outlives the session. A reason nobody gave is said to be missing, never made up."""

from __future__ import annotations

from passdown.evidence.words import FIRST_DIRECTIVES
from passdown.model.evidence import Answer, Rejection
from passdown.model.identifier import normalize_text
from passdown.model.packet import Decision, Preference
from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import DecisionRow, QuestionRow
from passdown.packet.brief import brief
from passdown.packet.caps import last
from passdown.packet.carry import carried_decisions, carried_preferences, fill_with
from passdown.packet.context import Context
from passdown.packet.questions import is_assumed, question_rows

_MARKED = lazy_pattern(r"[*_&|<>\\\[\]]")
"""What Markdown would read as its own marks."""
_NEXT = 3
"""Records between an interruption and the words that follow it at once, at most."""
NO_REASON = "reason not recorded"


def list_decisions(context: Context) -> tuple[list[Decision], int]:
    """Return the decisions, oldest first, and how many are left out.

    Carried ones, the recorded ones, answered questions, defaults taken, and what a person answered, refused or
    interrupted in a session.
    """
    rows = {row.id: row for row in context.evidence.workbench.decisions if row.kind == "decision"}
    made = [_row(context, row) for row in rows.values() if row.state != "withdrawn"]
    questions = question_rows(context)
    answered = [_answer(context, row) for row in questions if row.status == "answered"]
    assumed = [_assumption(context, row) for row in questions if row.status == "open" and is_assumed(row)]
    acts: list[Answer | Rejection] = [*context.evidence.answers, *context.evidence.rejections]
    said = sorted(acts, key=lambda told: (told.at is not None, told.at or 0))
    told = [_told(context, one) if isinstance(one, Answer) else _rejection(context, one) for one in said]
    own, left = last(_newest_once([*made, *answered, *assumed, *told]), "decisions")
    return fill_with(own, carried_decisions(context), "decisions"), left


def list_preferences(context: Context) -> tuple[list[Preference], int]:
    """Return the standing wishes, oldest first, and how many are left out."""
    rows = {row.id: row for row in context.evidence.workbench.decisions if row.kind == "preference"}
    wishes = [
        Preference(id=context.name("P-", row.id, row.choice), text=row.choice, by=row.by, pinned=row.pinned)
        for row in rows.values()
        if row.state != "withdrawn"
    ]
    own, left = last(wishes, "preferences")
    return fill_with(own, carried_preferences(context), "preferences"), left


def _row(context: Context, row: DecisionRow) -> Decision:
    return Decision(
        id=context.name("D-", row.id, row.choice),
        choice=row.choice,
        why=row.why.strip() or NO_REASON,
        rejected=list(row.rejected),
        by=row.by,
        anchor=row.anchor,
        pinned=row.pinned,
        state="assumed" if row.state == "assumed" else "made",
    )


def _answer(context: Context, row: QuestionRow) -> Decision:
    name = context.name("Q-", row.id, row.question)
    answer = row.answer.strip() or "(answer not recorded)"
    rejected = [option for option in row.options if normalize_text(option) != normalize_text(answer)]
    carried = context.previous.questions_for_human if context.previous else []
    asked = row.question or next((question.question for question in carried if question.id == name), "")
    return Decision(
        id=f"D-{name}", choice=f"{asked} — {answer}" if asked else answer, why=row.why.strip() or NO_REASON,
        rejected=rejected, by=row.answered_by or "human", anchor=name, pinned=row.pinned,
    )  # fmt: skip


def _assumption(context: Context, row: QuestionRow) -> Decision:
    name = context.name("Q-", row.id, row.question)
    return Decision(
        id=f"D-{name}", choice=row.default, why=f"default taken, nobody asked: {row.question}", anchor=name,
        state="assumed",
    )  # fmt: skip


def _told(context: Context, answer: Answer) -> Decision:
    choice = f"{brief(context.mask(answer.question), 100)} — {answer.answer}"
    return Decision(
        id=context.id("D-", choice), choice=choice, why="the human's answer to the agent", by="human", basis="observed"
    )


def _rejection(context: Context, rejection: Rejection) -> Decision:
    verb = "refused" if rejection.kind == "rejected" else "interrupted"
    what = brief(context.mask(rejection.what.strip()), 90) or "what the agent was doing"
    what = f"`{what}`" if _MARKED.search(what) and "`" not in what else what
    return Decision(
        id=context.id("D-", f"{verb} {what}"),
        choice=f"the human {verb}: {what}",
        why=rejection.reason.strip() or _what_came_next(context, rejection),
        by="human",
        basis="observed",
    )


def _what_came_next(context: Context, rejection: Rejection) -> str:
    """Return, for want of a reason, the person's next words: what they wanted instead often stands there."""
    stopped = rejection.source
    missing = bool(context.evidence.omitted.get("directives"))
    for number, directive in enumerate(context.evidence.directives if stopped else ()):
        said = directive.source
        if said is None or stopped is None or said.path != stopped.path or directive.origin != "human":
            continue
        # A document is one line to its end: there the time says what came first.
        if (said.line, directive.at or 0) > (stopped.line, rejection.at or 0):
            if missing and number == FIRST_DIRECTIVES and not 0 < said.line - stopped.line <= _NEXT:
                break  # of what was said between the first words and the newest, the next ones are left out
            words = " ".join(context.mask(directive.text).split())
            return f"{NO_REASON}; then said: “{words if len(words) <= 100 else words[:99].rstrip() + '…'}”"
    return NO_REASON


def _newest_once(items: list[Decision]) -> list[Decision]:
    """Keep each id once, where it stands last."""
    found: dict[str, Decision] = {}
    for item in items:
        found.pop(item.id, None)
        found[item.id] = item
    return list(found.values())
