"""Assumptions to validate: those no reviewer scored above 1 (exercise 1)."""

from __future__ import annotations

from msgspec import structs

from passdown.model.finding import Finding
from passdown.model.identifier import normalize_text
from passdown.model.packet import Assumption
from passdown.model.workbench import AssumptionScore, Review, ReviewDimension
from passdown.packet.caps import first
from passdown.packet.context import Context
from passdown.packet.noted import noted_assumptions
from passdown.packet.outcome import is_stale

DIMENSION = "assumptions"


def list_assumptions(context: Context) -> tuple[list[Assumption], int, int]:
    """Return the assumptions to validate, how many are left out, and how many were scored only as a whole.

    Included is what has no score or one of at most 1. Scores come from the review's items by assumption and from
    scores that were noted (the lowest counts), else from the dimension's own score (which strict mode ignores); a
    review of another tree counts as no review.
    """
    review = _fresh_review(context)
    items = _items(review)
    dimension = _dimension(review)
    judged = [_judge(context, key, *found, items, dimension) for key, found in _recorded(context).items()]
    listed = [a for a in judged if a.score is None or a.score <= 1]
    listed.sort(key=lambda a: {0: 0, None: 1, 1: 2}[a.score])
    kept, left = first(listed, "assumptions_to_validate")
    whole = sum(a.score_basis == "dimension" and (a.score or 0) > 1 for a in judged)
    return kept, left, whole


def _recorded(context: Context) -> dict[str, tuple[Assumption, int | None]]:
    """Return the state's assumptions, then the noted ones, each text once, with the score that was noted for it."""
    state = context.evidence.workbench.state
    source = context.artifact("state") or "agent_state.json"
    found: dict[str, tuple[Assumption, int | None]] = {}
    for text in state.assumptions if state else ():
        if key := normalize_text(text):
            found.setdefault(key, (Assumption(id=context.id("A-", text), text=text, source=source), None))
    for assumption, score in noted_assumptions(context):
        found[normalize_text(assumption.text)] = assumption, score
    return found


def bad_scores(context: Context) -> list[Finding]:
    """Return a finding when the review holds a score for assumptions that is no integer from 0 to 2."""
    review = context.evidence.workbench.review
    dimension = _dimension(review)
    bad = sum(item.score is None for item in _items(review))
    bad += dimension is not None and dimension.score is None and not dimension.items
    if not bad:
        return []
    detail = f"{bad} score{'s' if bad > 1 else ''} for assumptions is no integer from 0 to 2; counted as unreviewed"
    return [Finding(code="review.bad_score", severity="warn", detail=detail, where=review.path if review else "")]


def _fresh_review(context: Context) -> Review | None:
    review = context.evidence.workbench.review
    return review if review is not None and not is_stale(context, review.head_commit) else None


def _dimension(review: Review | None) -> ReviewDimension | None:
    return next((d for d in review.dimensions if d.name == DIMENSION), None) if review else None


def _items(review: Review | None) -> tuple[AssumptionScore, ...]:
    if review is None or review.assumption_scores:
        return review.assumption_scores if review else ()
    dimension = _dimension(review)
    return dimension.items if dimension else ()


def _judge(
    context: Context,
    key: str,
    assumption: Assumption,
    noted: int | None,
    items: tuple[AssumptionScore, ...],
    dimension: ReviewDimension | None,
) -> Assumption:
    if assumption.validate_with is None:
        assumption = structs.replace(assumption, validate_with=_command(context, assumption.text))
    ids = {assumption.id, context.id("A-", assumption.text)}
    scores = [i.score for i in items if (i.id in ids or normalize_text(i.text) == key) and i.score is not None]
    if noted is not None:
        scores.append(noted)
    if scores:
        return structs.replace(assumption, score=min(scores), score_basis="item")
    if not items and dimension is not None and dimension.score is not None and not context.strict_assumptions:
        return structs.replace(assumption, score=dimension.score, score_basis="dimension")
    return assumption


def _command(context: Context, text: str) -> str | None:
    """Return the first acceptance command that names a path of the assumption."""
    words = {word.strip("`'\".,;:()").split("::")[0] for word in text.split()}
    paths = {word for word in words if "/" in word or "." in word.strip(".")}
    for command in context.acceptance:
        named = {token.split("::")[0] for token in command.split()}
        if any(
            p == t or (p and t.startswith(p + "/")) or p.startswith(t.rstrip("/") + "/") for p in paths for t in named
        ):
            return command
    return None
