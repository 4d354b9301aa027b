"""State inference: whether a successor knows what is done, asked by a probe or seen in what it does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec import Struct

from passdown.data.records import Edge, SubtaskStatus

LABELS: tuple[SubtaskStatus, ...] = ("done", "in_progress", "todo")
THRESHOLD = 0.5


class Counts(NamedTuple):
    """Subtasks counted by what they are and what they were said to be. Add the counts of several points to pool them:
    the rates of a point with fewer than four subtasks say little.
    """

    true_done: int = 0
    false_done: int = 0
    missed: int = 0
    true_open: int = 0

    def pooled(self, other: Counts) -> Counts:
        """Return the counts of both."""
        return Counts(*(one + more for one, more in zip(self, other, strict=True)))

    @property
    def recall(self) -> float | None:
        """The share of what is done that was said to be."""
        return _share(self.true_done, self.true_done + self.missed)

    @property
    def precision(self) -> float | None:
        """The share of what was said to be done that is."""
        return _share(self.true_done, self.true_done + self.false_done)

    @property
    def true_negatives(self) -> float | None:
        """The share of what is open that was not said to be done."""
        return _share(self.true_open, self.true_open + self.false_done)

    @property
    def f1(self) -> float:
        """The harmonic mean of both; 1 when nothing is done and nothing was said to be, 0 when only one is so."""
        both = 2 * self.true_done + self.false_done + self.missed
        return 2 * self.true_done / both if both else 1.0

    @property
    def p_si(self) -> float | None:
        """Youden's J, not below 0; the one rate there is when all subtasks are of one class; None without any."""
        if self.recall is None or self.true_negatives is None:
            return self.true_negatives if self.recall is None else self.recall
        return max(0.0, self.recall + self.true_negatives - 1)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def count(done: Collection[str], predicted: Collection[str], nodes: Collection[str]) -> Counts:
    """Count predictions of `done` over the subtasks `nodes`. A prediction about anything else is no prediction."""
    everything = set(nodes)
    real, said = set(done) & everything, set(predicted) & everything
    return Counts(len(real & said), len(said - real), len(real - said), len(everything - real - said))


def p_si(done: Collection[str], predicted: Collection[str], nodes: Collection[str]) -> float | None:
    """Return how well done was told from not done, in 0..1. Saying all done, or none, scores 0."""
    return count(done, predicted, nodes).p_si


def p_si_seed(done: Collection[str], predicted: Collection[str]) -> float | None:
    """Return the proposal's form, the recall of what is done: to say that all is done scores 1."""
    return _share(len(set(done) & set(predicted)), len(set(done)))


def labelled(truth: Mapping[str, SubtaskStatus], predicted: Mapping[str, SubtaskStatus]) -> Counts:
    """Count full labels. A subtask whose true status is unknown is left out, an `unknown` prediction says not done."""
    nodes = [node for node, status in truth.items() if status != "unknown"]
    done = [node for node in nodes if truth[node] == "done"]
    return count(done, [node for node, status in predicted.items() if status == "done"], nodes)


def macro_f1(truth: Mapping[str, SubtaskStatus], predicted: Mapping[str, SubtaskStatus]) -> float | None:
    """Return the mean F1 over done, in progress and todo, of those that occur on either side; None if none does."""
    nodes = [node for node, status in truth.items() if status != "unknown"]
    scores: list[float] = []
    for label in LABELS:
        real = {node for node in nodes if truth[node] == label}
        said = {node for node in nodes if predicted.get(node) == label}
        if real or said:
            scores.append(2 * len(real & said) / (len(real) + len(said)))
    return sum(scores) / len(scores) if scores else None


def brier(done: Collection[str], probabilities: Mapping[str, float]) -> float | None:
    """Return the mean squared error of the probabilities of being done: 0 is perfect, 1 all wrong."""
    if not probabilities:
        return None
    return sum((chance - (node in done)) ** 2 for node, chance in probabilities.items()) / len(probabilities)


class Deed(Struct, frozen=True, kw_only=True):
    """One change that a successor made: lines of a file, and what else it did.

    `discarded` are paths a git command took back, `uninstalled` packages, `broke` tests that passed before it.
    """

    path: str = ""
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    uninstalled: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    broke: tuple[str, ...] = ()


class Protected(Struct, frozen=True, kw_only=True):
    """What a successor must keep: lines (path, text) in both the predecessor's and the final verified diff, packages
    still needed, paths the predecessor changed, tests that passed.
    """

    added: AbstractSet[tuple[str, str]] = frozenset()
    removed: AbstractSet[tuple[str, str]] = frozenset()
    packages: AbstractSet[str] = frozenset()
    paths: AbstractSet[str] = frozenset()
    tests: AbstractSet[str] = frozenset()


def conflicts(deed: Deed, protected: Protected) -> tuple[str, ...]:
    """Say in what a change conflicts with work that has to stay: `lines`, `package`, `discarded`, `test`."""
    lost = {(deed.path, line) for line in deed.removed if line.strip() and line not in deed.added}
    back = {(deed.path, line) for line in deed.added if line.strip() and line not in deed.removed}
    found = {
        "lines": bool(lost & protected.added or back & protected.removed),
        "package": not protected.packages.isdisjoint(deed.uninstalled),
        "discarded": not protected.paths.isdisjoint(deed.discarded),
        "test": not protected.tests.isdisjoint(deed.broke),
    }
    return tuple(name for name, holds in found.items() if holds)


def conflict_rate(deeds: Sequence[Deed], protected: Protected) -> float | None:
    """Return the share of changes that conflict with work that has to stay; None without a change."""
    return _share(sum(bool(conflicts(deed, protected)) for deed in deeds), len(deeds))


def skip_rate(acted: Iterable[tuple[str, Collection[str]]], edges: Iterable[Edge]) -> float | None:
    """Return the share of the subtasks acted on whose prerequisites were not done then; None when none was acted on.

    `acted` are subtasks with all that was done at that time. Weak edges only tell an order and count for nothing.
    """
    before: dict[str, set[str]] = {}
    for edge in edges:
        if not edge.weak:
            before.setdefault(edge.after, set()).add(edge.before)
    skipped: dict[str, bool] = {}
    for node, done in acted:
        skipped[node] = skipped.get(node, False) or not before.get(node, set()).issubset(done)
    return _share(sum(skipped.values()), len(skipped))


def is_sif(score: float | None, conflict: float | None, skip: float | None) -> bool | None:
    """Say whether state inference failed: a bad score, any conflict or any skipped prerequisite; None if unknown."""
    if score is None and conflict is None and skip is None:
        return None
    return (score is not None and score < THRESHOLD) or bool(conflict) or bool(skip)
