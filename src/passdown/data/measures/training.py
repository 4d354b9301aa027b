"""The arithmetic that trainers and searches are tested against: divisors, advantages, the schedule of a halving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

Divisor = Literal["full", "selected", "tokens"]


class Observed(NamedTuple):
    """The observation of one sequence: the tokens of its whole body, and the cross entropies of the selected ones."""

    body: int
    losses: tuple[float, ...]


def observation_loss(sequences: Sequence[Observed], divisor: Divisor = "full") -> float:
    """Return ECHO's loss of environment tokens, a mean over all sequences (one without tokens adds 0).

    `full` divides by the whole body, so that selecting fewer tokens never makes each weigh more. The others are what
    it must not be mistaken for: the mean over `selected` tokens a sequence, and over all `tokens` at once.
    """
    if not sequences:
        return 0.0
    if divisor == "tokens":
        losses = [loss for one in sequences for loss in one.losses]
        return math.fsum(losses) / len(losses) if losses else 0.0
    means = [
        math.fsum(one.losses) / max(1, one.body if divisor == "full" else len(one.losses)) for one in sequences
    ]  # fmt: skip
    return math.fsum(means) / len(sequences)


def advantages(rewards: Sequence[float], epsilon: float = 1e-4) -> tuple[float, ...]:
    """Return GRPO's advantages of one group: rewards over their sample deviation. Equal rewards teach nothing: 0."""
    if not rewards:
        return ()
    mean = math.fsum(rewards) / len(rewards)
    if len(rewards) < 2:
        return (0.0,)
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in rewards) / (len(rewards) - 1))
    return tuple((one - mean) / (deviation + epsilon) for one in rewards)


class Round(NamedTuple):
    """One round of a halving: how many arms are still in, and how often each is pulled."""

    arms: int
    pulls: int


def halving_schedule(arms: int, budget: int) -> tuple[Round, ...]:
    """Return the rounds of sequential halving: the budget is shared out equally over the rounds, then over the arms."""
    if arms < 2:
        return (Round(arms, budget),) if arms == 1 else ()
    rounds = math.ceil(math.log2(arms))
    schedule: list[Round] = []
    for _ in range(rounds):
        schedule.append(Round(arms, budget // (arms * rounds)))
        arms = -(-arms // 2)
    return tuple(schedule)
