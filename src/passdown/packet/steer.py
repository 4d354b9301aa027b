"""The next action together with what hangs on it: the questions it raises and the problems it has."""

from __future__ import annotations

from msgspec import Struct, structs

from passdown.model.packet import Assumption, Blocker, NextAction, Question, RemainingItem, Risk
from passdown.packet.context import Context
from passdown.packet.next_action import choose_next_action, state_refusal
from passdown.packet.prereqs import list_prereqs, unportable
from passdown.packet.questions import by_weight, list_questions, trim_questions
from passdown.packet.risks import Problem, list_risks
from passdown.packet.tests import tests_state


class Steering(Struct, frozen=True, kw_only=True):
    """What the next session is told to do, to ask and to beware of; the questions with how many are left out."""

    action: NextAction
    questions: tuple[list[Question], int]
    risks: list[Risk]


def steer(
    context: Context,
    given: str | None,
    *,
    goal: str | None,
    blockers: list[Blocker],
    remaining: list[RemainingItem],
) -> Steering:
    """Choose the next action, ask about it when it waits for a person, and list the problems.

    Raises `NextActionError` as `choose_next_action` does.
    """
    questions = list_questions(context)
    risks = list_risks(context, goal=goal, blockers=blockers, extra=[])
    shown = trim_questions(questions)
    action = choose_next_action(context, given, shown[0], risks, remaining)
    if action.requires_human and not action.question_id:
        asked = _approval(context, action)
        action = structs.replace(action, question_id=asked.id)
        shown = trim_questions(by_weight([asked, *questions]))
    extra = _problems(context, action, shown[0])
    return Steering(
        action=action, questions=shown, risks=list_risks(context, goal=goal, blockers=blockers, extra=extra)
    )  # fmt: skip


def review_first(action: NextAction, assumptions: list[Assumption]) -> list[str]:
    """Name the claims nobody can check that the next action leans on: itself when it is declared, and assumptions."""
    found = ["next_action"] if action.basis == "declared" and action.source != "given" else []
    found += [a.id for a in assumptions if any(path in a.text for path in action.paths)]
    return found[:10]


def _problems(context: Context, action: NextAction, questions: list[Question]) -> list[Problem]:
    prereqs, _ = list_prereqs(context, action, tests_state(context)[0], questions)
    problems = [
        Problem(
            code="prereq.not_portable",
            severity="warn",
            source=path,
            detail=f"the next session needs {path}, which git does not track: another device will not have it",
        )
        for path in unportable(prereqs.artifacts)
    ]
    if refused := state_refusal(context):
        detail = f"the state's next action was not taken over: {refused}"
        source = context.artifact("state")
        problems.append(Problem(code="next_action.vague", severity="warn", detail=detail, source=source))
    return problems


def _approval(context: Context, action: NextAction) -> Question:
    text = f"May the next session do this: {action.text}"
    return Question(
        id=context.id("Q-", text),
        question=text,
        default="it is not done",
        why="it cannot be taken back, or it reaches outside",
        blocks=["next_action"],
        severity="block",
        score=6,
        source="next_action",
        basis="derived",
    )
