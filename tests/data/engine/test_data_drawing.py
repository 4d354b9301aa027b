"""Which cells are tried at a cut, and in which order."""

from __future__ import annotations

from collections import Counter

from passdown.data.engine.perturbing import GRID, drawn
from passdown.data.perturb.curriculum import KINDS
from passdown.data.records import Cut, Cuts, Point, Provenance, Trajectory, View


def levels_at(kind: str, asked: list[str], run: str = "t") -> list[str]:
    trajectory = Trajectory(trajectory_id=run, provenance=Provenance(source="made"), steps=())
    views = tuple(
        View(name=name, trajectory_id=run, k=1, text="") for name in ("repo", "trace", "summary", "structured")
    )
    cut = Cut(point=Point(trajectory_id=run, k=1, kind=kind), views=views)  # type: ignore[arg-type]
    return [name for name, _ in drawn(Cuts(trajectory=trajectory), cut, asked, 0)]


def test_levels_and_grid_take_turns_whatever_number_of_cells_they_have() -> None:
    everything = ["L2", "L3", "L4", GRID]
    for run in map(str, range(5)):
        tried = levels_at("error", everything, run)
        assert tried[:6] == ["L3", "L4", "", "L3", "L4", ""]
        assert Counter(tried)["L4"] > 2 * Counter(tried)["L3"], "L4 has far more cells"
        assert levels_at("mid", everything, run)[:3] == ["L2", "L4", ""]
    for kind in KINDS:
        assert set(levels_at(kind, ["L3"])) == ({"L3"} if kind == "error" else set())
        assert set(levels_at(kind, [GRID])) == {""}
