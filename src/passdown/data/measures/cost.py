"""What a takeover cost: against a verified continuation, and against having no notes at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import median
from typing import Literal, NamedTuple

from passdown.data.measures.score import RESAMPLES, Interval, Scored, bootstrap
from passdown.data.records import Fact, Step
from passdown.model.session import Usage

Measure = Literal["events", "prompt_tokens", "wall"]
OCTAVES = 3
"""Doublings over the reference at which a cost is full."""


def cost(steps: int, reference_steps: int, tokens: int, reference_tokens: int, *, solved: bool) -> float:
    """Return the cost of a takeover in 0..1: a quarter each for steps and prompt tokens, half for not being solved.

    The reference is a verified continuation from the same point; to be faster than it costs nothing.
    """
    return 0.25 * _excess(steps, reference_steps) + 0.25 * _excess(tokens, reference_tokens) + (0.0 if solved else 0.5)


def _excess(value: int, reference: int) -> float:
    ratio = value / max(1, reference)
    return min(1.0, max(0.0, math.log2(ratio) / OCTAVES)) if ratio > 0 else 0.0


def debt(value: float, reference: float) -> float:
    """Return how much more a takeover took than the reference, as a share of it; negative when it took less."""
    return value / max(1.0, reference) - 1


class Pair(NamedTuple):
    """One point taken over twice: what it took with a view and what with the repository alone, and who solved it."""

    view: float
    repo_only: float
    repo: str = ""
    trajectory_id: str = ""
    k: int = 0
    view_solved: bool = True
    repo_only_solved: bool = True


def reduction(pairs: Sequence[Pair]) -> float | None:
    """Return the headline: by how much the median with a view lies under the median with the repository alone."""
    if not pairs:
        return None
    base = median(pair.repo_only for pair in pairs)
    return 1 - median(pair.view for pair in pairs) / base if base > 0 else None


def log_ratio(pairs: Sequence[Pair], *, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """Return the median of `ln(view / repo-only)` over points, with its interval from a bootstrap over repositories."""
    runs = [
        Scored(score=math.log(pair.view / pair.repo_only), repo=pair.repo, trajectory_id=pair.trajectory_id, k=pair.k)
        for pair in pairs
        if pair.view > 0 and pair.repo_only > 0
    ]
    return bootstrap(runs, _median, resamples=resamples, seed=seed)


def _median(runs: Sequence[Scored]) -> float | None:
    scores = [run.score for run in runs if run.score is not None]
    return median(scores) if scores else None


class Debt(NamedTuple):
    """The debt of a view in one measure: over all runs, and over the points that both arms solved. `cap` is the limit
    at which a run was stopped, None when there was none.
    """

    measure: Measure
    all_runs: float | None
    both_solved: float | None
    paired: Interval
    n_all: int
    n_both: int
    cap: int | None = None


def debt_report(
    measure: Measure, pairs: Sequence[Pair], *, cap: int | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> Debt:
    """Return the reductions that a view brought. Report both: runs that gave up are cheap."""
    both = [pair for pair in pairs if pair.view_solved and pair.repo_only_solved]
    return Debt(
        measure, reduction(pairs), reduction(both), log_ratio(pairs, resamples=resamples, seed=seed), len(pairs),
        len(both), cap,
    )  # fmt: skip


class PromptTokens(NamedTuple):
    """Prompt tokens over all calls of a run. Every call pays its whole prompt, the cached part at another price."""

    cached: int = 0
    uncached: int = 0
    calls: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.cached + self.uncached


def prompt_tokens(steps: Iterable[Step]) -> PromptTokens | None:
    """Return the cumulative prompt tokens of steps; None where no usage was recorded."""
    calls = [event for step in steps for event in step.events if isinstance(event, Usage)]
    if not calls:
        return None
    cached = sum(call.cache_read for call in calls)
    return PromptTokens(cached, sum(call.input + call.cache_write for call in calls), len(calls))


def note_precision(facts: Sequence[Fact], holds: Callable[[Fact], bool | None]) -> float | None:
    """Return the share of a view's facts that are true at the cut. Those that nobody can check (None) are left out."""
    checked = [found for fact in facts if (found := holds(fact)) is not None]
    return sum(checked) / len(checked) if checked else None


def note_recall(stated: Collection[str], needed: Collection[str]) -> float | None:
    """Return the share of what the verified continuation used (files, tests, decisions) that the view states."""
    wanted = set(needed)
    return len(wanted & set(stated)) / len(wanted) if wanted else None
