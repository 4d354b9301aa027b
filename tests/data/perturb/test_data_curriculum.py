"""The curriculum: what its levels hold, and the laws of how cells are drawn."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.perturb.curriculum import (
    CAP,
    FLOOR,
    KINDS,
    LEVELS,
    Cell,
    adjusted,
    combinations_for,
    draw,
    grid,
    in_band,
    level,
    success_rates,
    weights,
)
from passdown.data.perturb.table import NAMES, OPERATORS, Use, operator
from passdown.data.records import Perturbed, Reject
from passdown.errors import UsageError


def test_the_four_levels_are_as_specified() -> None:
    one, two, three, four = (each.cells for each in LEVELS)
    assert one == (Cell(point="milestone", view="structured"),)
    assert {(cell.point, cell.view, cell.strength, len(cell.ops)) for cell in two} == {("mid", "summary", 0.25, 1)}
    assert {(cell.point, cell.view, cell.strength) for cell in three} == {("error", "repo", 0.5)}
    assert {operator(cell.ops[0]).family for cell in three} == {"inconsistency"}
    assert {(cell.view, cell.strength) for cell in four} == {("repo", 0.75)}
    assert {cell.point for cell in four} == set(KINDS)
    assert {len(cell.ops) for cell in four} == {2, 3}


def test_every_operator_of_a_view_is_in_some_combination() -> None:
    for view in ("repo", "trace", "summary", "structured"):
        named = {name for ops in combinations_for(view) for name in ops}
        assert named == {row.name for row in OPERATORS if view in row.views}


def test_most_cells_of_the_levels_apply_to_a_real_cut(work: Any) -> None:
    reasons: Counter[str] = Counter()
    for cell in [cell for each in LEVELS for cell in each.cells if cell.point != "review"]:
        made = work.perturb(*[f"{name}@{strength}" for name, strength in cell.uses], view=cell.view)
        reasons[made.reason if isinstance(made, Reject) else ""] += 1
    assert reasons[""] >= 0.9 * sum(reasons.values()), reasons


@pytest.mark.parametrize("name", NAMES)
def test_the_table_knows_the_views_of_an_operator(work: Any, name: str) -> None:
    for view in ("repo", "trace", "summary", "structured"):
        applies = isinstance(work.perturb(name, view=view), Perturbed)
        assert applies == (view in operator(name).views), view


def test_a_grid_leaves_out_what_cannot_be() -> None:
    cells = grid(["mid"], ["repo", "trace"], [(), ("truncate_trace",), ("half_merge",)], [0.25, 0.5])
    assert len(cells) == 2 + 2 + 4
    assert {cell.view for cell in cells if cell.ops == ("truncate_trace",)} == {"trace"}
    assert cells[0].key == "mid/repo/none"
    assert cells[-1].key == "mid/trace/half_merge@0.5"
    assert cells[-1].uses == (Use("half_merge", 0.5),)
    with pytest.raises(UsageError):
        grid(["mid"], ["repo"], [("nothing",)], [0.5])
    with pytest.raises(UsageError):
        level("L5")


def test_what_is_solved_half_the_time_is_drawn_most() -> None:
    cells = grid(["mid"], ["summary"], [("blur",), ("drop_fact",), ("stale_note",)], [0.25, 0.5])
    rates = dict(zip((cell.key for cell in cells), (0.5, 0.4, 0.3, 0.7, 0.9, 0.0), strict=True))
    shares = weights(cells, rates)
    assert sorted(shares, reverse=True) == pytest.approx(list(shares))
    assert shares[0] / shares[5] == pytest.approx((0.25 + 0.02) / 0.02)
    rates = {cell.key: 0.0 for cell in cells[1:]}
    assert weights(cells, rates)[0] == pytest.approx(CAP)


def test_a_cell_is_made_harder_or_easier_until_it_is_in_the_band() -> None:
    cell = Cell(point="mid", view="summary", ops=("blur",), strength=0.5)
    assert adjusted(cell, 0.5) == cell
    assert adjusted(cell, 0.9).strength == 0.75
    assert adjusted(cell, 0.1).strength == 0.25
    assert adjusted(adjusted(adjusted(cell, 0.0), 0.0), 0.0).strength == 0.0
    assert [in_band(rate) for rate in (0.29, 0.3, 0.7, 0.71)] == [False, True, True, False]


def test_success_rates_of_few_runs_are_careful() -> None:
    cell = Cell(point="mid", view="summary")
    assert success_rates([]) == {}
    assert success_rates([(cell, True)]) == {cell.key: 2 / 3}
    assert success_rates([(cell, False)] * 8) == {cell.key: 0.1}


CELLS = st.lists(
    st.builds(
        Cell,
        point=st.sampled_from(KINDS),
        view=st.sampled_from(["repo", "trace", "summary", "structured"]),
        ops=st.sampled_from([(), ("blur",), ("half_merge", "moved_file")]),
        strength=st.sampled_from([0.25, 0.5]),
    ),
    min_size=1,
    max_size=25,
    unique=True,
)
RATES = st.lists(st.floats(0, 1), min_size=25, max_size=25)


@settings(deadline=None, max_examples=200)
@given(cells=CELLS, rates=RATES)
def test_no_kind_dies_out_and_no_cell_takes_over(cells: list[Cell], rates: list[float]) -> None:
    known = {cell.key: rate for cell, rate in zip(cells, rates, strict=False)}
    cells = list({cell.key: cell for cell in cells}.values())
    shares = weights(cells, known)
    assert sum(shares) == pytest.approx(1)
    assert max(shares) <= max(CAP, 1 / len(cells)) + 1e-9
    for field in ("point", "view"):
        for value in {getattr(cell, field) for cell in cells}:
            mass = sum(share for cell, share in zip(cells, shares, strict=True) if getattr(cell, field) == value)
            assert mass >= FLOOR - 1e-9
    assert shares == weights(cells, known)


@settings(deadline=None, max_examples=100)
@given(cells=CELLS, rates=RATES, count=st.integers(0, 300), seed=st.integers(0, 99))
def test_a_draw_keeps_to_the_weights(cells: list[Cell], rates: list[float], count: int, seed: int) -> None:
    known = {cell.key: rate for cell, rate in zip(cells, rates, strict=False)}
    drawn = draw(cells, count, seed, rates=known)
    assert drawn == draw(list(reversed(cells)), count, seed, rates=known)
    assert len(drawn) == count
    counts = Counter(drawn)
    plain = counts.pop(None, 0)
    assert plain == round(count * 0.2)
    for cell, share in zip(sorted(cells), weights(sorted(cells), known), strict=True):
        exact = share * (count - plain)
        assert math.floor(exact - 1e-6) <= counts[cell] <= math.ceil(exact + 1e-6)


def test_what_cannot_be_drawn_is_refused() -> None:
    cell = Cell(point="mid", view="summary")
    for cells, rates in (((), {}), ((cell, cell), {}), ((cell,), {cell.key: 1.5}), ((cell,), {cell.key: math.nan})):
        with pytest.raises(UsageError):
            weights(cells, rates)
    with pytest.raises(UsageError):
        draw([cell], -1, 1)
    assert draw([cell], 10, 1).count(None) == 2
