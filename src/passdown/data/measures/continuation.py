"""Plan continuation: whether a successor goes on with the plan that was left, and whether it goes in circles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from passdown.data.measures.reconstruction import lcs_f1
from passdown.model.pattern import lazy_pattern

SIMILAR = 0.5
WINDOW = 8
_TOKEN = lazy_pattern(r"\w+")


class PlanStep(NamedTuple):
    """One step of a plan: its canonical key where it has one, else the words it was stated in.

    `derived` steps come from the predecessor's own later actions: for measuring only, never in a view.
    """

    key: str = ""
    text: str = ""
    provenance: Literal["stated", "derived"] = "stated"


Steps = Sequence[PlanStep | str]
"""A plan. A plain string is a canonical key."""


def align_seed(plan: Sequence[str], other: Sequence[str]) -> float:
    """Return the proposal's alignment of two plans: twice the longest common subsequence over both lengths.

    1 when both are empty, 0 when only one is.
    """
    return lcs_f1(plan, other)


def p_pc_seed(plan: Sequence[str], successor: Sequence[str], index: int) -> float:
    """Return the proposal's plan continuation: the alignment with what the plan holds from `index` on."""
    return align_seed(plan[index:], successor)


def remaining(plan: Steps, done: Collection[str]) -> tuple[PlanStep, ...]:
    """Return the steps of a plan that are not done. `done` holds keys, or texts of steps without one."""
    return tuple(step for step in map(_step, plan) if (step.key or step.text) not in done)


def _step(step: PlanStep | str) -> PlanStep:
    return PlanStep(key=step) if isinstance(step, str) else step


def similarity(one: PlanStep, other: PlanStep) -> float:
    """Return how alike two steps are: canonical keys are equal or not, words by their shared tokens."""
    if one.key and other.key:
        return float(one.key == other.key)
    left, right = (frozenset(_TOKEN.findall((step.text or step.key).lower())) for step in (one, other))
    either = left | right
    return len(left & right) / len(either) if either else 0.0


def matched(plan: Steps, other: Steps) -> dict[int, int]:
    """Return a largest one-to-one matching of two plans' steps, equal ones first, near ones before far ones."""
    left, right = list(map(_step, plan)), list(map(_step, other))
    near: list[list[int]] = []
    for at, one in enumerate(left):
        likes = [(-similarity(one, two), abs(at - place), place) for place, two in enumerate(right)]
        near.append([place for minus, _, place in sorted(likes) if -minus >= SIMILAR])
    owner: dict[int, int] = {}
    held: dict[int, int] = {}
    for at, places in enumerate(near):
        equal = next((place for place in places if place not in owner and left[at] == right[place]), None)
        if equal is not None:
            owner[equal], held[at] = at, equal
    for at in range(len(left)):
        if at not in held:
            _augment(at, near, owner, held)
    return dict(sorted(held.items()))


def _augment(start: int, near: list[list[int]], owner: dict[int, int], held: dict[int, int]) -> None:
    """Find a partner for one more step, moving others along a shortest chain where that frees one."""
    came: dict[int, int] = {}
    queue = [start]
    for at in queue:
        for place in near[at]:
            if place in came:
                continue
            came[place] = at
            if place in owner:
                queue.append(owner[place])
                continue
            while True:
                mover = came[place]
                left = held.get(mover, -1)
                owner[place], held[mover] = mover, place
                if mover == start:
                    return
                place = left


def step_f1(plan: Steps, other: Steps) -> float:
    """Return the share of both plans' steps that found a partner; 1 when both are empty."""
    total = len(plan) + len(other)
    return 2 * len(matched(plan, other)) / total if total else 1.0


def p_pc(plan: Steps, other: Steps, edges: Iterable[tuple[int, int]] | None = None) -> float:
    """Return how far a successor's plan continues the remaining one, in 0..1.

    `edges` are pairs of places in `plan`, the first of which has to come before the second; each one violated among
    matched steps takes its share away. Without edges the order counts half, by the alignment.
    """
    score = step_f1(plan, other)
    if edges is None:
        ours, theirs = ([step.key or step.text for step in map(_step, one)] for one in (plan, other))
        return (score + align_seed(ours, theirs)) / 2
    pairs = matched(plan, other)
    present = [(pairs[one], pairs[two]) for one, two in edges if one in pairs and two in pairs]
    violated = sum(one > two for one, two in present)
    return score * (1 - violated / len(present)) if present else score


def loop_score(keys: Sequence[str]) -> float | None:
    """Return how much the last eight actions repeat each other: 0 when all differ, None when there are none."""
    last = keys[-WINDOW:]
    return 1 - len(Counter(last)) / len(last) if last else None


def is_pcf(score: float | None, *, solved: bool, loop: float | None) -> bool | None:
    """Say whether plan continuation failed: far from the plan, and not solved or going in circles."""
    if score is None:
        return None
    return score < 0.4 and (not solved or (loop is not None and loop > 0.5))
