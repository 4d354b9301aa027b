"""The review report (lesson 39), with scores for single assumptions as our extension."""

from __future__ import annotations

from typing import Any, Literal

from passdown.model.pattern import lazy_pattern
from passdown.model.workbench import AssumptionScore, Review, ReviewDimension
from passdown.workbench.document import MalformedError, Notes, kind_of, quoted
from passdown.workbench.shapes import clean, commit_of, integer, record_of, scaled, text_of

Verdict = Literal["", "pass", "soft_fail", "hard_fail"]

_ID = lazy_pattern(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
_HIGHEST_TOTAL = 200  # tenths: ten dimensions of 2
_DIMENSIONS = 5  # with fewer the scores do not add up to a total


def read_review(value: Any, notes: Notes) -> Review:
    """Return the report, reporting scores that are none and a verdict that its own scores do not bear out."""
    record = record_of(value)
    dimensions = _dimensions(record.get("dimensions"), notes)
    review = Review(
        task_id=text_of(record, "task_id", notes).strip(),
        total=_total(record, notes),
        verdict=_verdict(record, notes),
        dimensions=dimensions,
        assumption_scores=_scores(record.get("assumption_scores"), "assumption_scores", notes),
        head_commit=commit_of(record, "head_commit", notes),
        path=notes.path,
    )
    _compare(review, notes)
    return review


def verdict_of(review: Review) -> Verdict:
    """Return the verdict that follows from the scores: any 0 or a total under 5 fails hard, 7 and more passes.

    Empty when there is neither a total nor a score for each of the five dimensions.
    """
    total = review.total if review.total is not None else _sum(review)
    if any(dimension.score == 0 for dimension in review.dimensions) or (total is not None and total < 50):
        return "hard_fail"
    if total is None:
        return ""
    return "pass" if total >= 70 else "soft_fail"


def _sum(review: Review) -> int | None:
    scores = [dimension.score for dimension in review.dimensions if dimension.score is not None]
    return sum(scores) * 10 if _DIMENSIONS <= len(scores) == len(review.dimensions) else None


def _compare(review: Review, notes: Notes) -> None:
    added = _sum(review)
    if review.total is not None and added is not None and added != review.total:
        notes.warn("review.total_mismatch", f"the scores add up to {added // 10}, not to the total it gives")
    computed = verdict_of(review)
    if review.verdict and computed and review.verdict != computed:
        notes.warn("review.verdict_mismatch", f"says {review.verdict}, but its scores mean {computed}")


def _total(record: dict[str, Any], notes: Notes) -> int | None:
    value = record.get("total")
    if value is None:
        return None
    total = scaled(value, 10)
    if total is None or not 0 <= total <= _HIGHEST_TOTAL:
        notes.warn("review.bad_score", f"the total is no score: {quoted(value)}")
        return None
    return total


def _verdict(record: dict[str, Any], notes: Notes) -> Verdict:
    value = record.get("verdict")
    match value.strip().lower().replace("-", "_").replace(" ", "_") if isinstance(value, str) else value:
        case None | "":
            return ""
        case "pass":
            return "pass"
        case "soft_fail":
            return "soft_fail"
        case "hard_fail":
            return "hard_fail"
    notes.warn("review.unknown_verdict", f"the verdict {quoted(value)} is unknown")
    return ""


def _score(value: Any, what: str, notes: Notes) -> int | None:
    if value is None:
        return None
    score = integer(value)
    if score is None or not 0 <= score <= 2:
        notes.warn("review.bad_score", f"the score of {quoted(what)} is not 0, 1 or 2: {quoted(value)}")
        return None
    return score


def _dimensions(value: Any, notes: Notes) -> tuple[ReviewDimension, ...]:
    if isinstance(value, dict):
        value = [
            {"name": name, **(item if isinstance(item, dict) else {"score": item})} for name, item in value.items()
        ]
    if value is None:
        return ()
    if not isinstance(value, list):
        raise MalformedError("artifact.bad_shape", f"dimensions must be a list, but is {kind_of(value)}")
    dimensions: list[ReviewDimension] = []
    for item in value:
        name = text_of(item, "name", notes) if isinstance(item, dict) else ""
        if not name:
            notes.warn("artifact.bad_item", "a dimension has no name and is left out")
            continue
        dimensions.append(
            ReviewDimension(
                name=name,
                score=_score(item.get("score"), name, notes),
                note=text_of(item, "note", notes),
                items=_scores(item.get("items"), "items", notes),
            )
        )
    return tuple(dimensions)


def _scores(value: Any, name: str, notes: Notes) -> tuple[AssumptionScore, ...]:
    if value is None:
        return ()
    if isinstance(value, dict):
        return tuple(
            AssumptionScore(score=_score(score, key, notes), **_naming(clean(key))) for key, score in value.items()
        )
    if not isinstance(value, list):
        notes.warn("artifact.bad_field", f"{name} must be a list or an object, but is {kind_of(value)}")
        return ()
    scores: list[AssumptionScore] = []
    for item in value:
        record = item if isinstance(item, dict) else {}
        named, text = text_of(record, "id", notes), text_of(record, "text", notes)
        if not named and not text:
            notes.warn("artifact.bad_item", f"an entry of {name} has neither id nor text and is left out")
            continue
        score = _score(record.get("score"), named or text, notes)
        scores.append(AssumptionScore(id=named, text=text, score=score, note=text_of(record, "note", notes)))
    return tuple(scores)


def _naming(key: str) -> dict[str, str]:
    return {"id": key} if _ID.fullmatch(key) else {"text": key}
