"""The handoff resilience score: what a point scores, what many do, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 2000
SMALLEST = 5
"""Points that a stratum needs before it counts."""


class Weights(NamedTuple):
    """What each of the three terms weighs. To be fixed before there are results."""

    reconstruction: float = 1 / 3
    inference: float = 1 / 3
    continuation: float = 1 / 3


EQUAL = Weights()


def process(
    e_cr: float | None, p_si: float | None, p_pc: float | None, weights: Weights = EQUAL
) -> float | None:  # fmt: skip
    """Return the score of one handoff in 0..1. Weights are shared out over what is defined; None for fewer than two."""
    terms = ((None if e_cr is None else 1 - e_cr, weights[0]), (p_si, weights[1]), (p_pc, weights[2]))
    defined = [(term, weight) for term, weight in terms if term is not None]
    total = math.fsum(weight for _, weight in defined)
    if len(defined) < 2 or total <= 0:
        return None
    return math.fsum(term * weight for term, weight in defined) / total


class Scored(Struct, frozen=True, kw_only=True):
    """The score of one run of one handoff, and what it belongs to."""

    score: float | None
    repo: str
    trajectory_id: str = ""
    k: int = 0
    view: str = ""
    kind: str = ""
    level: str = ""

    @property
    def stratum(self) -> tuple[str, str, str]:
        """View, kind of point and level."""
        return self.view, self.kind, self.level


class Stratum(NamedTuple):
    """The mean of one stratum. It is left out of the score when it holds too few points."""

    mean: float
    n: int
    counted: bool


def strata(runs: Sequence[Scored], smallest: int = SMALLEST) -> dict[tuple[str, str, str], Stratum]:
    """Return the means of all strata, those that are too small for the score among them."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        if run.score is not None:
            found.setdefault(run.stratum, []).append(run.score)
    return {
        name: Stratum(math.fsum(scores) / len(scores), len(scores), len(scores) >= smallest)
        for name, scores in sorted(found.items())
    }


def hrs(runs: Sequence[Scored], smallest: int = SMALLEST) -> float | None:
    """Return the mean over the means of the strata, so that the mix of points cannot move it; None for no stratum."""
    means = [one.mean for one in strata(runs, smallest).values() if one.counted]
    return math.fsum(means) / len(means) if means else None


def hrs_seed(scores: Sequence[float | None]) -> float | None:
    """Return the proposal's form, the plain mean over all points."""
    defined = [score for score in scores if score is not None]
    return math.fsum(defined) / len(defined) if defined else None


def retention(takeover: float, uninterrupted: float) -> float | None:
    """Return the share of the uninterrupted solve rate that a takeover keeps, at most 1; None without a base."""
    return min(1.0, takeover / uninterrupted) if uninterrupted > 0 else None


def hrs_composite(score: float | None, kept: float | None) -> float | None:
    """Return the geometric mean of the score and the retention: a run that fails its task cannot score well."""
    return None if score is None or kept is None else math.sqrt(score * kept)


class Interval(Struct, frozen=True, kw_only=True):
    """An estimate with its percentile interval, and how much it rests on. Resamples without a value are left out."""

    estimate: float | None
    low: float | None
    high: float | None
    n_points: int
    n_traj: int
    n_repos: int
    resamples: int = 0


def hrs_interval(
    runs: Sequence[Scored], *, smallest: int = SMALLEST, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> Interval:
    """Return the score with its interval from a bootstrap over repositories. The strata are those of all runs."""
    counted = [name for name, one in strata(runs, smallest).items() if one.counted]
    used = [run for run in runs if run.score is not None and run.stratum in counted]
    return _interval(used, hrs(runs, smallest), counted, resamples, seed, level)


def mean_interval(
    runs: Sequence[Scored], *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> Interval:  # fmt: skip
    """Return the plain mean with its interval from a bootstrap over repositories."""
    used = [run for run in runs if run.score is not None]
    return _interval(used, hrs_seed([run.score for run in used]), None, resamples, seed, level)


def paired(arm: Sequence[Scored], base: Sequence[Scored]) -> tuple[Scored, ...]:
    """Return the differences `arm - base` on the points that both arms hold. Several runs of a point are averaged."""
    left, right = _by_point(arm), _by_point(base)
    differences: list[Scored] = []
    for name in sorted(left.keys() & right.keys()):
        one, other = hrs_seed([run.score for run in left[name]]), hrs_seed([run.score for run in right[name]])
        if one is not None and other is not None:
            of = left[name][0]
            differences.append(
                Scored(score=one - other, repo=of.repo, trajectory_id=of.trajectory_id, k=of.k, kind=of.kind)
            )
    return tuple(differences)


def _by_point(runs: Sequence[Scored]) -> dict[tuple[str, int], list[Scored]]:
    found: dict[tuple[str, int], list[Scored]] = {}
    for run in runs:
        if run.score is not None:
            found.setdefault((run.trajectory_id, run.k), []).append(run)
    return found


def _interval(
    used: Sequence[Scored], estimate: float | None, counted: Sequence[tuple[str, str, str]] | None,
    resamples: int, seed: int, level: float,
) -> Interval:  # fmt: skip
    import numpy as np

    repos = sorted({run.repo for run in used})
    place = {repo: at for at, repo in enumerate(repos)}
    columns = {name: at for at, name in enumerate(counted)} if counted is not None else {}
    sums = np.zeros((len(repos), max(1, len(columns))))
    sizes = np.zeros_like(sums)
    for run in sorted(used, key=lambda one: (one.repo, one.stratum, one.trajectory_id, one.k, one.score or 0.0)):
        at = place[run.repo], columns.get(run.stratum, 0)
        sums[at] += run.score or 0.0
        sizes[at] += 1
    values = _resampled(sums, sizes, resamples, seed) if repos else np.empty(0)
    return _summary(estimate, used, values, level)


def _resampled(sums: NDArray[np.float64], sizes: NDArray[np.float64], many: int, seed: int) -> NDArray[np.float64]:
    """Draw repositories with replacement, and return the mean over strata that each draw holds."""
    import numpy as np

    count = len(sums)
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=many)
    sums, sizes = draws @ sums, draws @ sizes
    held = sizes > 0
    means = np.divide(sums, sizes, out=np.zeros_like(sums), where=held)
    strata_held = held.sum(axis=1)
    return np.asarray((means.sum(axis=1)[strata_held > 0]) / strata_held[strata_held > 0], dtype=np.float64)


def bootstrap(
    runs: Sequence[Scored], statistic: Callable[[Sequence[Scored]], float | None], *,
    resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95,
) -> Interval:  # fmt: skip
    """Return any statistic with its interval from a bootstrap over repositories (a median, a rate, a rank)."""
    import numpy as np

    groups: dict[str, list[Scored]] = {}
    for run in sorted(runs, key=lambda one: (one.repo, one.stratum, one.trajectory_id, one.k, one.score or 0.0)):
        groups.setdefault(run.repo, []).append(run)
    clusters = list(groups.values())
    rng = np.random.default_rng(seed)
    values: list[float] = []
    for _ in range(resamples if clusters else 0):
        drawn = [run for at in rng.integers(len(clusters), size=len(clusters)) for run in clusters[at]]
        value = statistic(drawn)
        if value is not None:
            values.append(value)
    return _summary(statistic(runs), runs, np.asarray(values), level)


def _summary(
    estimate: float | None, used: Sequence[Scored], values: NDArray[np.float64], level: float
) -> Interval:  # fmt: skip
    import numpy as np

    low = high = None
    if values.size and estimate is not None:
        low, high = (float(edge) for edge in np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    return Interval(
        estimate=estimate, low=low, high=high, n_points=len({(run.trajectory_id, run.k) for run in used}),
        n_traj=len({run.trajectory_id for run in used}), n_repos=len({run.repo for run in used}),
        resamples=int(values.size),
    )  # fmt: skip
