"""How full a context is, and what to do about it: go on, prepare a packet, or wrap up."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from passdown.config import Budget
from passdown.errors import UsageError
from passdown.redact.neutralise import one_line

Band = Literal["go_on", "prepare", "wrap_up", "unknown"]
Phase = Literal["", "new", "nearly_done"]
"""Where the work stands: about to enter a new phase, nearly done with this one, or nobody said."""
Advice = Literal["go_on", "finish", "prepare", "wrap_up"]
"""`finish`: finish what is nearly done, then hand over."""

EXIT_CODES: dict[Advice, int] = {"go_on": 0, "finish": 0, "prepare": 10, "wrap_up": 11}

_BELOW_TRIGGER = 0.95
"""How far below an agent's own compaction nothing new is begun: writing the packet takes calls, too."""


class Bands(Struct, frozen=True, kw_only=True):
    """Where the bands begin, as parts of the window: from `prepare` on, and above `wrap_up`.

    `tokens` is the one boundary where the window is not known.
    """

    prepare: float = 0.5
    wrap_up: float = 0.7
    tokens: int = 100_000


class Level(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How full a context is. `ratio` is None where the window is not known, `context` where nothing was measured."""

    band: Band
    advice: Advice
    context: int | None = None
    window: int | None = None
    ratio: float | None = None
    bands: Bands = Bands()

    @property
    def exit_code(self) -> int:
        """The code that `passdown budget` ends with."""
        return EXIT_CODES[self.advice]


def bands_of(budget: Budget, compacts_at: float | None = None) -> Bands:
    """Return the bands a project wants, both below the part of the window at which the agent compacts by itself.

    Raises `UsageError` for boundaries that are none.
    """
    if not (0 < budget.prepare <= budget.wrap_up <= 1 and budget.tokens > 0):
        raise UsageError(
            f"these are no boundaries: prepare {budget.prepare:g}, wrap up {budget.wrap_up:g}, {budget.tokens} tokens",
            where="budget",
            next_step="Both are parts of the window between 0 and 1, the first no larger than the second.",
        )
    if wrong := next((name for name, tokens in budget.windows.items() if tokens <= 0), None):
        raise UsageError(
            f"{one_line(wrong, 60)!r} has no window of {budget.windows[wrong]} tokens", where="budget.windows"
        )
    highest = 1.0 if compacts_at is None else compacts_at * _BELOW_TRIGGER
    if highest >= budget.wrap_up:
        return Bands(prepare=budget.prepare, wrap_up=budget.wrap_up, tokens=budget.tokens)
    scale = highest / budget.wrap_up
    return Bands(prepare=budget.prepare * scale, wrap_up=highest, tokens=budget.tokens)


def level_of(context: int | None, window: int | None, bands: Bands, phase: Phase = "") -> Level:
    """Return how full a context of so many tokens is, and what to do about it where the work stands.

    A ratio exactly on a boundary belongs to the band between both. Without a window the band is unknown, and one
    boundary in tokens decides.
    """
    if context is None or window is None:
        over = context is not None and context > bands.tokens
        return Level(band="unknown", advice="wrap_up" if over else "go_on", context=context, window=window, bands=bands)
    ratio = context / window
    band: Band = "go_on" if ratio < bands.prepare else "prepare" if ratio <= bands.wrap_up else "wrap_up"
    return Level(
        band=band, advice=_advice(band, phase), context=context, window=window, ratio=ratio, bands=bands
    )  # fmt: skip


def _advice(band: Band, phase: Phase) -> Advice:
    if band == "prepare":
        return "finish" if phase == "nearly_done" else "prepare"
    return "wrap_up" if band == "wrap_up" else "go_on"
