"""The step that writes views: what is kept of them, and what export makes again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from passdown.data.engine.shards import Row
from passdown.data.engine.stages import building, cuts_in, finding_points
from passdown.data.engine.viewing import writing_views
from passdown.data.prefix import cut as cut_off
from passdown.data.records import Reject
from passdown.data.samples.render import Rendered, render
from passdown.data.views.table import build_view
from passdown.packet.tokens import estimate_tokens


@pytest.fixture
def long_run(script: Any) -> Row:
    run = script().asks("`a` must be 3.").runs("cat src/a.py", "a = 1\n" + "# nothing of note\n" * 300)
    for number in range(4):
        run = run.runs(f"sed -i s/{number}/{number + 1}/ src/a.py").runs("python -m pytest -q", "1 failed in 0.1s", 1)
    made = run.runs("sed -i s/4/3/ src/a.py").runs("python -m pytest -q", "1 passed in 0.1s").says("Done.").trajectory()
    return Row(id="1", trajectory_id=made.trajectory_id, record=msgspec.json.encode(made))


@pytest.mark.parametrize("budget", [None, 600])
def test_an_exported_trace_is_the_view_that_passed_the_gates(long_run: Row, tmp_path: Path, budget: int | None) -> None:
    row: Any = long_run
    for work in (
        finding_points(3, str(tmp_path)), writing_views(["trace", "repo"], budget, False, ""),
        building(["rl", "reconstruction"], 100, 0.3, 0),
    ):  # fmt: skip
        [row] = [made for made in work([row]) if not isinstance(made, Reject)]
    cuts = cuts_in(row)
    assert any(view.elided for cut in cuts.cuts for view in cut.views) == (budget is not None)
    traces = [made for made in render(cuts) if isinstance(made, Rendered) and made.view.name == "trace"]
    assert traces
    for made in traces:
        prefix = cut_off(cuts.trajectory, made.sample.k)
        assert made.view.text == build_view("trace", prefix, budget=budget).text
        assert estimate_tokens(made.view.text) == made.view.tokens <= (budget or 1 << 20)
        assert made.prompt[-1].content.startswith(made.view.text[:200])


def test_a_review_that_a_person_brings_is_cut_at(script: Any, tmp_path: Path) -> None:
    run = script().asks("Mend it.").runs("cat src/a.py", "x = 1\n").runs("sed -i s/1/2/ src/a.py").says("Done.")
    made = run.asks("Review comments:\n- the lock is dropped before the channel is closed").says("On it.").trajectory()
    row = Row(id="1", trajectory_id=made.trajectory_id, record=msgspec.json.encode(made))
    [cuts] = [cuts_in(one) for one in finding_points(9, str(tmp_path))([row]) if isinstance(one, Row)]
    assert "turn" in {cut.point.kind for cut in cuts.cuts}
