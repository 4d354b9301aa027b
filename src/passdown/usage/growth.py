"""How a context grew: its jumps with the tool call before each, and where a fresh session would have paid.

The formula and its assumptions stand in docs/usage.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import ceil

from msgspec import Struct

from passdown.usage.calls import Account, Call, Step

JUMP_LEAST = 25_000
"""Fewest tokens that a context must grow by in one call to have jumped."""
JUMP_PART = 0.25
"""The part of the context before that it must grow by, too."""

PACKET = 10_000
"""Tokens that a fresh session reads to know what the old one did: the packet, and the files it names."""

CACHED_PRICE = 0.1
WRITE_PRICE = 1.25
"""What a token read from, and one written to a cache costs in tokens at full price, with most vendors."""

_CANDIDATES = 200


class Jump(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call whose context is much larger than the one before. `step` is the tool call that came between, if any."""

    call: int
    before: int
    after: int
    at: int | None = None
    step: Step | None = None


class BreakEven(Struct, frozen=True, kw_only=True):
    """A fresh session begun after the call `after_call` instead of going on.

    `pays_after` is how many further calls it takes until that is cheaper, in tokens; `pays_after_priced` the same with
    cached tokens at their price. `actual` is all input of the session, `instead` what it would have been; `calls` are
    those that came behind.
    """

    after_call: int
    context: int
    fresh: int
    calls: int
    pays_after: int
    pays_after_priced: int
    actual: int
    instead: int

    @property
    def saved(self) -> int:
        """Input tokens that would have been saved."""
        return self.actual - self.instead


class Growth(Struct, frozen=True, kw_only=True):
    """The main agent's context over its calls: as it began, at its largest, at the end."""

    first: int = 0
    largest: int = 0
    last: int = 0
    jumps: tuple[Jump, ...] = ()
    break_even: BreakEven | None = None


def growth_of(account: Account) -> Growth:
    """Return how the main agent's context grew."""
    main = account.main
    if not main:
        return Growth()
    contexts = [call.context for call in main]
    return Growth(
        first=contexts[0], largest=max(contexts), last=contexts[-1], jumps=tuple(find_jumps(main)),
        break_even=break_even([call.context for call in main], numbers=[call.number for call in main]),
    )  # fmt: skip


def thinned(contexts: Sequence[int], most: int) -> list[int]:
    """Return at most so many points of a series, each the largest of those it stands for."""
    if len(contexts) <= most:
        return list(contexts)
    bounds = [len(contexts) * number // most for number in range(most + 1)]
    return [max(contexts[start:end]) for start, end in pairwise(bounds)]


def find_jumps(main: Sequence[Call]) -> list[Jump]:
    """Return the calls whose context jumped, in order. The step before is the one that gave back most."""
    jumps = []
    for before, call in pairwise(main):
        grown = call.context - before.context
        if grown >= JUMP_LEAST and grown >= JUMP_PART * before.context:
            step = max(before.steps, key=lambda step: step.size, default=None)
            jumps.append(Jump(call=call.number, before=before.context, after=call.context, at=call.at, step=step))
    return jumps


def break_even(contexts: Sequence[int], *, packet: int = PACKET, numbers: Sequence[int] = ()) -> BreakEven | None:
    """Return the fresh session that would have saved most, None where none would have saved anything.

    `contexts` are the prompts of a session's calls in order; `numbers` what to call them, from 1 when not given.
    """
    if len(contexts) < 2:
        return None
    # What the work itself put in up to each call: a compaction takes nothing of that back.
    grown = list(accumulate((max(0, now - old) for old, now in pairwise(contexts)), initial=0))
    base = contexts[0] + packet
    best = _best(contexts, grown, base)
    saved = _saved(contexts, grown, base, best)
    if saved <= 0:
        return None
    context, actual = contexts[best], sum(contexts)
    gain = max(1, context - base)
    return BreakEven(
        after_call=numbers[best] if numbers else best + 1, context=context, fresh=base, calls=len(contexts) - best - 1,
        pays_after=ceil((context + base) / gain), actual=actual, instead=actual - saved,
        pays_after_priced=ceil((CACHED_PRICE * context + WRITE_PRICE * base) / (CACHED_PRICE * gain)),
    )  # fmt: skip


def _best(contexts: Sequence[int], grown: Sequence[int], base: int) -> int:
    """Return the call after which a fresh session saves most; in a long session among some, then around the best."""
    stride = max(1, len(contexts) // _CANDIDATES)

    def best_of(candidates: range) -> int:
        return max(candidates, key=lambda index: (_saved(contexts, grown, base, index), -index))

    coarse = best_of(range(0, len(contexts), stride))
    return coarse if stride == 1 else best_of(range(max(0, coarse - stride), min(len(contexts), coarse + stride + 1)))


def _saved(contexts: Sequence[int], grown: Sequence[int], base: int, at: int) -> int:
    """Return the input tokens saved by a fresh session after the call `at`; it costs one more call on each side."""
    start = base - grown[at]
    saved = sum(max(0, contexts[index] - (start + grown[index])) for index in range(at + 1, len(contexts)))
    return saved - contexts[at] - base
