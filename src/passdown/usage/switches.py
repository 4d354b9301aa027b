"""Another model in the midst of a session: what is in no cache of its is paid for in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from msgspec import Struct

from passdown.agents.windows import window_of
from passdown.model.finding import Finding
from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import one_line
from passdown.usage.bands import Bands
from passdown.usage.calls import Account, Call

CODE = "model.switched"

Effect = Literal[0, 1, 2]
"""What a call's tools do to whether a packet was just made: leave it as it was (0), make one (1), do other work (2)."""

_MOST = 3
"""Changes of one session that are warned of one by one."""

_NO_MODEL = frozenset({"", "<synthetic>"})
_OWN = lazy_pattern(r"(?:^|[;&|(\n]\s*|/)passdown\s+(?:-C\s+\S+\s+)?(\w[\w-]*)")


class Switch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of the main agent's model between two calls. `uncached` are the input tokens no cache gave it.

    `long` says that the context was beyond half of the window then, `at_boundary` that a packet had just been made.
    """

    call: int
    before: str
    after: str
    context: int
    uncached: int
    window: int | None = None
    at: int | None = None
    long: bool = False
    at_boundary: bool = False


class Turn(NamedTuple):
    """One call of the main agent, as far as changes of its model go; `effect` is what its tools came to."""

    call: int
    at: int | None
    model: str
    context: int
    uncached: int
    window: int | None
    effect: Effect


class Change(Struct, frozen=True, array_like=True):
    """A change of the main agent's model as its log tells it, before a window or a packet made elsewhere is known.

    `wrapped` says that the session itself had just made a packet; one made in one of the `spans` of time counts too.
    """

    call: int
    before: str
    after: str
    context: int
    uncached: int
    window: int | None
    at: int | None
    wrapped: bool
    spans: list[tuple[int, int]]


def find_switches(account: Account, packets_at: Sequence[int] = (), bands: Bands | None = None) -> list[Switch]:
    """Return the changes of the main agent's model. `packets_at` are moments (milliseconds) at which packets were made.

    Just after a packet is where no other work was done since; passdown's own commands are no such work.
    """
    return [switch_of(change, packets_at, bands or Bands()) for change in find_changes(map(_turn, account.main))]


def find_changes(turns: Iterable[Turn]) -> Iterator[Change]:
    """Yield the changes of model among the main agent's calls."""
    model, wrapped, before = "", False, None
    spans: list[tuple[int, int]] = []
    for turn in turns:
        if before is not None:
            if before.effect:
                wrapped = before.effect == 1
                spans = spans if wrapped else []
            _join(spans, (before.at or 0, -1 if turn.at is None else turn.at))
        if turn.model not in _NO_MODEL:
            if model and turn.model != model:
                yield Change(
                    turn.call, model, turn.model, turn.context, turn.uncached, turn.window, turn.at, wrapped,
                    spans.copy(),
                )  # fmt: skip
            model = turn.model
        before = turn


def switch_of(change: Change, packets_at: Sequence[int], bands: Bands) -> Switch:
    """Return a change as it counts here: in a long context or not, at a packet or not."""
    window = change.window or window_of(change.after, seen=change.context)
    return Switch(
        call=change.call, before=change.before, after=change.after, context=change.context, uncached=change.uncached,
        window=window, at=change.at,
        long=change.context > (bands.tokens if window is None else bands.prepare * window),
        at_boundary=change.wrapped
        or any(start <= moment <= end for moment in packets_at for start, end in change.spans),
    )  # fmt: skip


def find_long(changes: Iterable[Change], packets_at: Sequence[int], bands: Bands) -> Iterator[Switch]:
    """Yield those of the changes that may be warned of: in a long context. Of many thousands they are soon told."""
    for change in changes:
        # A larger prompt may tell of a larger window, in which it fills no more than it would the smallest.
        window = change.window or _smallest_window(change.after)
        if change.context > (bands.tokens if window is None else bands.prepare * window):
            switch = switch_of(change, packets_at, bands)
            if switch.long:
                yield switch


@cache
def _smallest_window(model: str) -> int | None:
    return window_of(model)


def effect_of(command: str) -> Effect:
    """Return what a command does to whether a packet was just made."""
    if "passdown" not in command or (own := _OWN.search(command)) is None:
        return 2
    return 1 if own[1] == "wrap" else 0


def _turn(call: Call) -> Turn:
    effect: Effect = 0
    for step in call.steps:
        effect = (effect_of(step.words) if step.action == "run" else 2) or effect
    return Turn(call.number, call.at, call.model, call.context, call.input + call.cache_write, call.window, effect)


def _join(spans: list[tuple[int, int]], span: tuple[int, int]) -> None:
    start, end = span
    if start > end:
        return
    if spans and spans[-1][0] <= start <= spans[-1][1]:
        spans[-1] = (spans[-1][0], max(spans[-1][1], end))
    else:
        spans.append(span)


def switch_findings(switches: Iterable[Switch], session: str = "") -> list[Finding]:
    """Return a warning for each switch in a long context that no packet went before; for many of one session a few."""
    told = [switch for switch in switches if switch.long and not switch.at_boundary]
    fix = "change the model at a session's boundary: `passdown wrap`, then a fresh session"
    details = [
        f"{one_line(switch.before, 60)} → {one_line(switch.after, 60)} at call {switch.call}, in a context "
        f"of {switch.context:,} tokens: {switch.uncached:,} of them in no cache"
        for switch in told[:_MOST]
    ]
    if rest := told[_MOST:]:
        uncached = sum(switch.uncached for switch in rest)
        details.append(f"{len(rest)} more changes of model in long contexts: {uncached:,} tokens in no cache")
    return [Finding(code=CODE, severity="warn", where=session, detail=detail, fix=fix) for detail in details]
