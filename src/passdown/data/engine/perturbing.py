"""The stage that perturbs: of every cut some views and snapshots, drawn from the curriculum's levels and its grid."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import msgspec

from passdown.data.engine.admitting import Judge, Verdicts, judge_of
from passdown.data.engine.pipeline import PerturbTable
from passdown.data.engine.shards import Row
from passdown.data.engine.stage import Batch, Stage, Work
from passdown.data.engine.stages import again, cuts_in
from passdown.data.filters.result import dropped
from passdown.data.perturb.curriculum import LEVELS, Cell, grid
from passdown.data.perturb.table import OPERATORS, perturb
from passdown.data.prefix import cut as cut_off
from passdown.data.records import Cut, Cuts, Perturbed, Reject
from passdown.data.replay.blobs import BlobStore
from passdown.data.views.shared import Shared
from passdown.data.views.trace import text_of
from passdown.errors import UsageError

GRID = "grid"
_STRENGTHS = (0.25, 0.5, 0.75)
_TRIES = 4
"""Cells that are tried for each variant that is wanted: many operators have nothing to work on at a given cut."""


def perturbing_stage(settings: PerturbTable, blobs: Path, seed: int) -> Stage:
    """Return the stage that perturbs. Raises `UsageError` for a level that is none."""
    known = [*(each.name for each in LEVELS if any(cell.ops for cell in each.cells)), GRID]
    for name in settings.levels:
        if name not in known:
            raise UsageError(f"{name[:20]!r} is no level", next_step=f"One of: {', '.join(known)}.")
    parameters = {**msgspec.to_builtins(settings), "seed": seed}
    return Stage(
        name="perturb", maker="passdown.data.engine.perturbing:perturbing", version=4, parameters=parameters,
        places={"blobs": str(blobs)},
    )  # fmt: skip


def perturbing(levels: list[str], per_cut: int, seed: int, blobs: str) -> Work:
    """Make the work of `perturb`."""
    store = BlobStore(Path(blobs))
    verdicts: Verdicts = {}

    def work(batch: Batch) -> Iterator[Row | Reject]:
        for row in batch:
            cuts = cuts_in(row)
            judge = judge_of(cuts.trajectory, verdicts)
            made: list[Cut] = []
            shared = Shared(cuts.trajectory.root)
            for cut in cuts.cuts:
                found = _variants(cuts, _with_texts(cuts, cut, shared), levels, per_cut, seed, store, judge)
                made.append(msgspec.structs.replace(cut, perturbed=tuple(found.made)))
                yield from found.refused
                yield from _counted(found.failed, cuts)
            yield again(row, msgspec.structs.replace(cuts, cuts=tuple(made)), "perturbed")

    return work


class _Found(NamedTuple):
    """What became of the cells that were tried: states, why others did not apply, which were not admitted."""

    made: list[Perturbed]
    failed: Counter[str]
    refused: list[Reject]


def _variants(
    cuts: Cuts, cut: Cut, levels: list[str], per_cut: int, seed: int, store: BlobStore, judge: Judge | None
) -> _Found:
    """Apply cells in the order of their hash until there are enough states that are admitted, or not to be judged."""
    prefix = cut_off(cuts.trajectory, cut.point.k)
    base = judge.base if judge is not None else None
    tried = _Found([], Counter(), [])
    for name, cell in drawn(cuts, cut, levels, seed)[: per_cut * _TRIES]:
        if len(tried.made) == per_cut:
            break
        view = next(view for view in cut.views if view.name == cell.view)
        found = perturb(cell.uses, cut.snapshot, view, seed, blobs=store, prefix=prefix, base=base, level=name)
        if isinstance(found, Reject):
            tried.failed[found.reason] += 1
            continue
        judged = judge.judged(found, cut, store) if judge is not None else found
        if isinstance(judged, Reject):
            tried.refused.append(msgspec.structs.replace(judged, provenance=cuts.trajectory.provenance))
        else:
            tried.made.append(judged)
    return tried


def drawn(cuts: Cuts, cut: Cut, levels: list[str], seed: int) -> list[tuple[str, Cell]]:
    """Return the cells that fit this cut with the level each is of, in an order that only the seed decides.

    The levels and the grid take turns, one cell of each at a time: otherwise the level with the most cells would be
    tried most, and what it makes would say how many combinations of operators there are.
    """
    names = {view.name for view in cut.views}
    mark = f"{seed}|{cuts.trajectory.trajectory_id}|{cut.point.k}"

    def mixed(cells: list[tuple[str, Cell]]) -> list[tuple[str, Cell]]:
        return sorted(cells, key=lambda one: hashlib.sha256(f"{mark}|{one[0]}|{one[1].key}".encode()).digest())

    fitting = [
        [(each.name, cell) for cell in each.cells if cell.ops and cell.point == cut.point.kind and cell.view in names]
        for each in LEVELS if each.name in levels
    ]  # fmt: skip
    single = tuple((row.name,) for row in OPERATORS)
    free = [("", cell) for cell in grid([cut.point.kind], sorted(names), single, _STRENGTHS) if GRID in levels]
    return [one for turn in zip_longest(*map(mixed, fitting), mixed(free)) for one in turn if one is not None]


def _with_texts(cuts: Cuts, cut: Cut, shared: Shared) -> Cut:
    """Return the cut with the texts of its views, of which a trace was kept without."""
    if all(view.text for view in cut.views):
        return cut
    text = text_of(cut_off(cuts.trajectory, cut.point.k), shared)
    views = (view if view.text else msgspec.structs.replace(view, text=text) for view in cut.views)
    return msgspec.structs.replace(cut, views=tuple(views))


def _counted(failed: Counter[str], cuts: Cuts) -> Iterator[Reject]:
    for reason, count in sorted(failed.items()):
        yield dropped("perturb", cuts.trajectory, f"not applicable: {reason}", f"{count} times")
