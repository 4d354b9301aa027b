"""The curriculum: a grid of what a handoff can be like, four levels of it as presets, and how samples are drawn.

A cell is a kind of point, a view, operators and their strength. Cells that are neither always nor never solved teach
most: they are drawn most often, while no kind and no view dies out and no cell takes over.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from passdown.data.perturb.table import OPERATORS, Use, operator
from passdown.data.records import PointKind, ViewName
from passdown.errors import UsageError

BAND = (0.3, 0.7)
"""The success rates that a cell should have."""
EPSILON = 0.02
FLOOR = 0.05
"""The least share of a kind, and of a view, among the interrupted samples."""
CAP = 0.4
"""The largest share of one cell, where there are enough cells."""
PLAIN = 0.2
"""The share of samples that are not interrupted at all, to hold what the model can do anyway."""
STEP = 0.25

KINDS: tuple[PointKind, ...] = ("milestone", "mid", "error", "review", "delegation", "turn")
_ON_CHANGES = frozenset({"overwrite_file_section", "conflict_hunk", "half_merge", "revert_one_hunk"})
_FIRST, _LAST = ("stale_note",), ("half_merge", "moved_file")


class Cell(Struct, frozen=True, kw_only=True, order=True):
    """One place of the grid. `strength` is that of every operator of it."""

    point: PointKind
    view: ViewName
    ops: tuple[str, ...] = ()
    strength: float = 0.0

    @property
    def key(self) -> str:
        """Return the cell's name, by which success rates are kept: `error/repo/half_merge+moved_file@0.75`."""
        ops = f"{'+'.join(self.ops)}@{self.strength:g}" if self.ops else "none"
        return f"{self.point}/{self.view}/{ops}"

    @property
    def uses(self) -> tuple[Use, ...]:
        """Return what `perturb` is asked for."""
        return tuple(Use(name, self.strength) for name in self.ops)


def grid(
    points: Iterable[PointKind], views: Iterable[ViewName], ops: Iterable[tuple[str, ...]], strengths: Iterable[float]
) -> tuple[Cell, ...]:
    """Return every combination in which each operator can have something to do in the view.

    Without operators strength means nothing: such a cell is there once. Raises `UsageError` for an unknown operator.
    """
    cells = [
        Cell(point=point, view=view, ops=names, strength=strength if names else 0.0)
        for point, view, names, strength in itertools.product(points, views, ops, strengths)
        if all(view in operator(name).views for name in names)
    ]
    return tuple(dict.fromkeys(cells))


def combinations_for(view: ViewName) -> tuple[tuple[str, ...], ...]:
    """Return pairs and threes of the operators that work on a view: each operator in several, few of all there are.

    No two change the same lines of a file, and they stand in an order in which the later can still work.
    """
    names = [row.name for row in OPERATORS if view in row.views]
    count = len(names)
    found: list[tuple[str, ...]] = []
    for at in range(count):
        for steps in ((1,), (3, 7)):
            chosen = {names[at], *(names[(at + step) % count] for step in steps)}
            if len(chosen) == len(steps) + 1 and len(chosen & _ON_CHANGES) < 2:
                found.append(tuple(sorted(chosen, key=lambda name: (_rank(name), names.index(name)))))
    return tuple(dict.fromkeys(found))


def _rank(name: str) -> int:
    return -1 if name in _FIRST else 1 + _LAST.index(name) if name in _LAST else 0


class Level(Struct, frozen=True):
    """A preset: its name, what it is like, its cells."""

    name: str
    title: str
    cells: tuple[Cell, ...]


def _levels() -> tuple[Level, ...]:
    single = tuple((row.name,) for row in OPERATORS)
    inconsistent = tuple((row.name,) for row in OPERATORS if row.family == "inconsistency")
    return (
        Level("L1", "after a milestone, with the packet", grid(["milestone"], ["structured"], [()], [0])),
        Level("L2", "in the middle, with a summary that one thing is wrong with",
              grid(["mid"], ["summary"], single, [0.25])),
        Level("L3", "in an error, with a tree that does not fit together",
              grid(["error"], ["repo"], inconsistent, [0.5])),
        Level("L4", "anywhere, cold, with two or three things wrong",
              grid(KINDS, ["repo"], combinations_for("repo"), [0.75])),
    )  # fmt: skip


LEVELS: tuple[Level, ...] = _levels()


def level(name: str) -> Level:
    """Return a preset. Raises `UsageError` for a name that is none."""
    found = next((each for each in LEVELS if each.name == name), None)
    if found is None:
        raise UsageError(f"{name[:20]!r} is no level", next_step=f"One of: {', '.join(each.name for each in LEVELS)}.")
    return found


def in_band(rate: float) -> bool:
    """Say whether a success rate is where it should be."""
    return BAND[0] <= rate <= BAND[1]


def adjusted(cell: Cell, rate: float) -> Cell:
    """Return the cell that is a step harder when this one is solved too often, easier when too rarely."""
    if not cell.ops or in_band(rate):
        return cell
    step = STEP if rate > BAND[1] else -STEP
    return structs.replace(cell, strength=min(1.0, max(0.0, cell.strength + step)))


def success_rates(results: Iterable[tuple[Cell, bool]]) -> dict[str, float]:
    """Return the success rate of each cell by its key, as if each had been solved once and not solved once before."""
    counts: dict[str, tuple[int, int]] = {}
    for cell, solved in results:
        good, every = counts.get(cell.key, (0, 0))
        counts[cell.key] = (good + solved, every + 1)
    return {key: (good + 1) / (every + 2) for key, (good, every) in counts.items()}


def weights(cells: Sequence[Cell], rates: Mapping[str, float] | None = None) -> tuple[float, ...]:
    """Return the share of each cell, together 1: by p(1-p), then lifted to the floors and cut at the cap.

    `rates` are success rates by key; a cell without one counts as half solved. Raises `UsageError` without cells, for
    a cell twice, for a rate outside 0..1.
    """
    if not cells or len(set(cells)) < len(cells):
        raise UsageError("the grid has no cells" if not cells else "a cell is there twice", next_step="See `grid`.")
    known = [(rates or {}).get(cell.key, 0.5) for cell in cells]
    if not all(0 <= rate <= 1 for rate in known):
        raise UsageError("a success rate lies in 0..1", next_step="Give the share of runs that solved the task.")
    shares = _shared([rate * (1 - rate) + EPSILON for rate in known])
    return tuple(_capped(_floored(cells, shares)))


def _shared(amounts: Sequence[float]) -> list[float]:
    whole = sum(amounts)
    return [amount / whole for amount in amounts]


def _floored(cells: Sequence[Cell], shares: list[float]) -> list[float]:
    """Mix in as much of an even spread over kinds and views as the floors need, and no more."""
    groups = [[at for at, cell in enumerate(cells) if cell.point == kind] for kind in {cell.point for cell in cells}]
    groups += [[at for at, cell in enumerate(cells) if cell.view == view] for view in {cell.view for cell in cells}]
    groups.sort()
    floor = min(FLOOR, 1 / len(groups))
    even = [0.0] * len(cells)
    for group in groups:
        whole = sum(shares[at] for at in group)
        for at in group:
            even[at] += shares[at] / whole / len(groups)
    mixed = 0.0
    for group in groups:
        has, would = sum(shares[at] for at in group), sum(even[at] for at in group)
        if has < floor < would:
            mixed = max(mixed, (floor - has) / (would - has))
    return [(1 - mixed) * share + mixed * other for share, other in zip(shares, even, strict=True)]


def _capped(shares: list[float]) -> list[float]:
    """Cut what is above the cap and give it to the others, as they stand to each other."""
    cap = max(CAP, 1 / len(shares))
    full: set[int] = set()
    while above := {at for at, share in enumerate(shares) if share > cap and at not in full}:
        full |= above
        rest = sum(share for at, share in enumerate(shares) if at not in full)
        left = 1 - cap * len(full)
        shares = [cap if at in full else share / rest * left for at, share in enumerate(shares)]
    return shares


def draw(
    cells: Sequence[Cell], count: int, seed: int, *, rates: Mapping[str, float] | None = None, plain: float = PLAIN
) -> tuple[Cell | None, ...]:
    """Draw the cells of `count` samples; None is a plain sample that is not interrupted, a share `plain` of all.

    Each cell comes as often as its weight says, rounded up or down. The same arguments give the same draw.
    """
    if count < 0 or not 0 <= plain <= 1:
        raise UsageError("a draw has a count of 0 or more and a plain share in 0..1", next_step="Give other numbers.")
    ordered = sorted(cells)
    words = f"curriculum|{seed}|{count}|{'|'.join(cell.key for cell in ordered)}"
    dice = random.Random(int.from_bytes(hashlib.sha256(words.encode()).digest(), "big"))  # noqa: S311 - no secret
    interrupted = count - round(count * plain)
    drawn: list[Cell | None] = [None] * (count - interrupted)
    ends = list(itertools.accumulate(weights(ordered, rates)))
    offset, at = dice.random(), 0
    for number in range(interrupted):
        while at < len(ordered) - 1 and (number + offset) / interrupted >= ends[at]:
            at += 1
        drawn.append(ordered[at])
    dice.shuffle(drawn)
    return tuple(drawn)
