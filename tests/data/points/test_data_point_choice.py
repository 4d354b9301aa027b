"""The choice among points, and what may not depend on the future."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.points.select import select
from passdown.data.records import Mark, Point, Trajectory
from passdown.data.sources.table import read_source

KINDS = ("milestone", "mid", "error", "review", "delegation")


def point(k, kind, detector="edit_burst"):
    return Point(trajectory_id="t", k=k, kind=kind, marks=(Mark(detector=detector, kind=kind, steps=(k - 1,)),))


some = st.dictionaries(st.integers(1, 60), st.sampled_from(KINDS), max_size=30).map(
    lambda kinds: tuple(point(k, kinds[k]) for k in sorted(kinds))
)


@settings(deadline=None)
@given(some, st.text(max_size=9), st.integers(0, 8))
def test_a_choice_is_a_part_and_always_the_same(points, name, n):
    chosen = select(points, name, n)
    assert len(chosen) == min(n, len(points))
    assert all(one in points for one in chosen)
    assert list(chosen) == sorted(chosen, key=lambda one: one.k)
    assert select(tuple(reversed(points)), name, n) == chosen


@settings(deadline=None)
@given(some, st.text(max_size=9))
def test_every_kind_comes_before_any_comes_twice(points, name):
    counts = Counter(one.kind for one in select(points, name, 4))
    there = Counter(one.kind for one in points)
    if any(count > 1 for count in counts.values()):
        assert set(counts) == set(there)


def test_points_of_one_kind_lie_far_apart():
    points = [point(k, "mid") for k in range(2, 62)]
    chosen = [one.k for one in select(points, "some-run", 4)]
    assert min(later - earlier for earlier, later in pairwise(chosen)) >= 10


def test_different_runs_are_cut_at_different_places():
    points = [point(k, "mid") for k in range(2, 62)]
    assert len({tuple(one.k for one in select(points, f"run-{n}", 2)) for n in range(20)}) > 10


def test_a_mid_state_inside_an_edit_is_preferred():
    points = [point(4, "mid", "open_subtask"), point(9, "mid", "unvalidated_edit")]
    assert [one.k for one in select(points, "t", 1)] == [9]


def ahead(points, until):
    """Return the marks up to a cut that needed no future."""
    return [(p.k, m) for p in points if p.k <= until for m in p.marks if not m.oracle_select]


def shortened(trajectory: Trajectory, k: int) -> Trajectory:
    return msgspec.structs.replace(trajectory, steps=trajectory.steps[:k])


def assert_prefix(trajectory, points_of, cuts):
    whole = points_of(trajectory)
    for k in cuts:
        assert ahead(points_of(shortened(trajectory, k)), k) == ahead(whole, k)


def test_marks_that_need_no_future_are_the_same_without_it(small_trajectory, points_of):
    assert_prefix(small_trajectory, points_of, range(1, len(small_trajectory.steps) + 1))


moves = st.lists(
    st.sampled_from([
        ("cat src/a.py", "x = 1\n", 0), ("pytest -q", "FAILED t.py::test_a - x\n1 failed in 0.1s", 1),
        ("pytest -q", "1 passed in 0.1s", 0), ("sed -i s/1/2/ src/a.py", "", 0), ("sed -i s/2/1/ src/a.py", "", 0),
        ("git checkout -- src/a.py", "", 0), ("git commit -qam x", "", 0), ("echo 1 > src/b.py", "", 0),
        ("rm src/b.py", "", 0), ("gh pr view 7 --comments", "this drops the lock " * 9, 0), ("make", "boom", 2),
        ("cat > fix.py <<'EOF'\nopen('src/a.py', 'w').write('x = 1')\nEOF", "", 0), ("python fix.py", "Fixed", 0),
    ]), max_size=14,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(moves=moves, data=st.data())
def test_no_mark_of_a_random_run_looks_ahead(moves, data, script_class, points_of):
    run = script_class().asks("Mend it.")
    for command, told, code in moves:
        run.runs(command, told, code)
    trajectory = run.trajectory()
    k = data.draw(st.integers(1, len(trajectory.steps)))
    assert_prefix(trajectory, points_of, [k])


@pytest.fixture(scope="module")
def script_class():
    """The class of scripts, for tests that make many."""
    from passdown.data.records import Provenance
    from passdown.data.trajectory import assemble
    from passdown.model.session import SessionStart, ToolCall, ToolResult, UserMessage

    class Run:
        def __init__(self):
            self.events = [SessionStart(session_id="made", agent="chat", cwd="/testbed")]

        def asks(self, text):
            self.events.append(UserMessage(text=text))
            return self

        def runs(self, command, told, code):
            name = f"call-{len(self.events)}"
            self.events.append(ToolCall(call_id=name, tool="bash", action="run", command=command))
            self.events.append(ToolResult(call_id=name, outcome="failed" if code else "ok", exit_code=code, text=told))
            return self

        def trajectory(self):
            return assemble(self.events, Provenance(source="made"))

    return Run


def test_no_mark_of_the_corpus_looks_ahead(corpus: Path, points_of):
    seen = 0
    for name in ("mini-swe-agent/sympy__sympy-19637-solo.traj.json", "swe-agent/smith-pydantic-8316.traj",
                 "claude-code/compact-todo-4f8c1176.jsonl", "codex/bridge-chain-af8e1f-8.jsonl"):  # fmt: skip
        for trajectory in read_source(corpus / name, name=Path(name).name):
            assert isinstance(trajectory, Trajectory)
            assert_prefix(trajectory, points_of, range(2, len(trajectory.steps), 5))
            seen += 1
    assert seen == 4
