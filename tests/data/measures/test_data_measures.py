"""Measures on cases that a person can follow."""

from __future__ import annotations

import pytest
from pytest import approx

from passdown.data.measures.continuation import PlanStep, is_pcf, matched, p_pc, remaining, similarity
from passdown.data.measures.cost import Pair, debt_report, note_precision, note_recall, prompt_tokens, reduction
from passdown.data.measures.inference import (
    Counts,
    Deed,
    Protected,
    conflict_rate,
    conflicts,
    is_sif,
    labelled,
    macro_f1,
    skip_rate,
)
from passdown.data.measures.reconstruction import Visit, e_cr, is_crf, rediscovery
from passdown.data.measures.score import Scored, bootstrap, hrs_interval, mean_interval, paired, process, retention
from passdown.data.records import Edge, Fact, Step
from passdown.model.session import Usage


def reads(path, content="", kind="READ"):
    return Visit(key=f"{kind} {path}", kind=kind, path=path, content=content)


def test_soft_match_knows_the_file_and_the_folder():
    assert e_cr(["READ a/x[0:50]"], [["READ a/x[50:100]"]], soft=True) == 0
    assert e_cr(["READ a/x"], [["READ a/y"]], soft=True) == 0.5
    assert e_cr(["READ a/x"], [["EDIT a/x"]], soft=True) == 1
    assert e_cr(["VCS commit"], [["VCS push"]], soft=True) == 1


def test_the_nearest_reference_counts_within_the_horizon():
    assert e_cr(["a", "b"], [["z"], ["a", "b"]]) == 0
    assert e_cr(["a", "b", "z", "z"], [["a", "b", "c"]], horizon=2) == 0


def test_a_repeat_is_avoidable_when_the_view_told():
    prefix = [reads("a", "1"), reads("b", "1")]
    found = rediscovery([reads("a", "1"), reads("b", "1"), reads("c", "1")], prefix, {"READ a"})
    assert (found.avoidable, found.unavoidable) == ((0,), (1,))
    assert (found.r_avoid, found.r_total) == (approx(1 / 3), approx(2 / 3))
    assert rediscovery([reads("a", "1")], prefix).r_avoid == 0


def test_a_changed_target_is_no_repeat():
    assert rediscovery([reads("a", "2")], [reads("a", "1")]).unavoidable == ()
    assert rediscovery([reads("a")], [reads("a"), reads("a", kind="EDIT")]).unavoidable == ()
    assert rediscovery([reads("a")], [reads("a"), reads("b", kind="EDIT")]).unavoidable == (0,)
    test = Visit(key="TEST", kind="TEST")
    assert rediscovery([test], [test, reads("b", kind="EDIT")]).unavoidable == ()
    assert rediscovery([], []).r_avoid is None


def test_the_look_before_an_edit_is_exempt_once():
    edit = reads("a", kind="EDIT")
    assert rediscovery([reads("a"), edit], [reads("a")]).unavoidable == ()
    assert rediscovery([reads("a"), reads("a"), edit], [reads("a")]).unavoidable == (1,)
    assert rediscovery([reads("a"), reads("b", kind="EDIT")], [reads("a")]).unavoidable == (0,)


def test_labels_without_truth_are_left_out():
    truth = {"a": "done", "b": "todo", "c": "unknown", "d": "in_progress"}
    assert labelled(truth, {"a": "done", "c": "done", "d": "unknown"}) == Counts(1, 0, 0, 2)
    assert macro_f1(truth, truth) == 1
    assert macro_f1(truth, {"a": "done", "b": "in_progress", "d": "in_progress"}) == approx((1 + 2 / 3 + 0) / 3)
    assert macro_f1({"c": "unknown"}, {}) is None


def test_few_subtasks_are_pooled():
    pooled = Counts(1, 0, 0, 1).pooled(Counts(0, 1, 1, 0))
    assert pooled == Counts(1, 1, 1, 1)
    assert pooled.p_si == 0


KEPT = Protected(
    added=frozenset({("a.py", "x = 1")}), removed=frozenset({("a.py", "old()")}), packages=frozenset({"attrs"}),
    paths=frozenset({"a.py"}), tests=frozenset({"t"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("deed", "reasons"),
    [
        (Deed(path="a.py", removed=("x = 1",)), ("lines",)),
        (Deed(path="a.py", added=("old()",)), ("lines",)),
        (Deed(path="a.py", removed=("x = 1", "y"), added=("x = 1", "z")), ()),
        (Deed(path="b.py", removed=("x = 1",)), ()),
        (Deed(uninstalled=("attrs",)), ("package",)),
        (Deed(discarded=("a.py",), broke=("t",)), ("discarded", "test")),
        (Deed(path="a.py", removed=("  ",)), ()),
    ],
)
def test_conflicts(deed, reasons):
    assert conflicts(deed, KEPT) == reasons


def test_rates_without_a_base_are_undefined():
    assert conflict_rate([], KEPT) is None
    assert conflict_rate([Deed(uninstalled=("attrs",)), Deed()], KEPT) == 0.5
    assert skip_rate([], []) is None
    assert retention(0.3, 0) is None
    assert retention(0.5, 0.4) == 1


def test_skipped_prerequisites():
    edges = [Edge(before="a", after="b"), Edge(before="x", after="c", weak=True)]
    assert skip_rate([("b", ()), ("c", ()), ("a", ())], edges) == approx(1 / 3)
    assert skip_rate([("b", ("a",))], edges) == 0


def test_stated_steps_match_by_their_words():
    plan = [PlanStep(text="Run the tests of the parser"), PlanStep(key="EDIT src/a.py")]
    assert similarity(plan[0], PlanStep(text="run the parser tests")) == 0.8
    assert similarity(plan[1], PlanStep(key="EDIT src/b.py")) == 0
    assert matched(plan, ["EDIT src/a.py", PlanStep(text="Run the parser tests")]) == {0: 1, 1: 0}
    assert remaining(plan, {"EDIT src/a.py"}) == (plan[0],)


def test_a_matching_is_as_large_as_it_can_be():
    one, other = PlanStep(text="a b c"), PlanStep(text="a b")
    assert len(matched([one, other], [PlanStep(text="a b"), PlanStep(text="b c")])) == 2


def test_order_counts_half_without_edges():
    assert p_pc(["a", "b"], ["b", "a"]) == approx((1 + 0.5) / 2)
    assert p_pc([], []) == 1
    assert p_pc(["a"], []) == 0


def test_failure_events():
    assert is_crf(0.7, None) is True
    assert is_crf(0.7, 0.1, solved_otherwise=True) is False
    assert is_crf(0.1, 0.4) is True
    assert is_crf(None, None) is None
    assert is_sif(0.9, 0, 0.1) is True
    assert is_sif(0.9, 0, None) is False
    assert is_sif(None, None, None) is None
    assert is_pcf(0.3, solved=True, loop=0.6) is True
    assert is_pcf(0.3, solved=True, loop=None) is False
    assert is_pcf(None, solved=False, loop=1) is None


def test_one_term_is_no_score():
    assert process(0.2, None, None) is None
    assert process(0.2, 0.4, None) == approx(0.6)


def test_an_interval_holds_whole_repositories_together():
    runs = [Scored(score=float(at % 2), repo=f"r{at % 2}", trajectory_id=f"t{at}", k=1) for at in range(40)]
    apart = [Scored(score=run.score, repo=f"r{at}", trajectory_id=f"t{at}", k=1) for at, run in enumerate(runs)]
    wide, narrow = mean_interval(runs), mean_interval(apart)
    assert wide.estimate == narrow.estimate == 0.5
    assert (wide.low, wide.high) == (0, 1)
    assert narrow.low is not None and 0.3 < narrow.low < 0.5
    assert (wide.n_points, wide.n_traj, wide.n_repos) == (40, 40, 2)
    assert wide == mean_interval(runs)
    assert mean_interval([]).low is None
    assert hrs_interval(runs).resamples == 2000
    assert bootstrap(runs, lambda drawn: max(run.score or 0 for run in drawn), resamples=20).high == 1


def test_arms_are_compared_on_the_points_they_share():
    arm = [Scored(score=0.8, repo="r", trajectory_id="t", k=1), Scored(score=0.6, repo="r", trajectory_id="t", k=1)]
    base = [Scored(score=0.5, repo="r", trajectory_id="t", k=1), Scored(score=0.5, repo="r", trajectory_id="t", k=2)]
    assert [round(one.score or 0, 6) for one in paired(arm, base)] == [0.2]


def test_a_debt_report_tells_runs_that_gave_up_apart():
    pairs = [
        Pair(10, 20, "r", "a", 1), Pair(12, 24, "r", "b", 1), Pair(1, 20, "q", "c", 1, view_solved=False),
    ]  # fmt: skip
    report = debt_report("events", pairs, cap=100, resamples=50)
    assert report.all_runs == approx(0.5)
    assert report.both_solved == approx(1 - 11 / 22)
    assert (report.n_all, report.n_both, report.cap) == (3, 2, 100)
    assert report.paired.estimate == approx(-0.693147, abs=1e-5)
    assert reduction([]) is None


def test_every_call_pays_its_whole_prompt():
    steps = [Step(idx=0, role="agent", events=(Usage(input=10, cache_read=5), Usage(input=2, cache_write=3)))]
    tokens = prompt_tokens(steps)
    assert tokens is not None
    assert (tokens.cached, tokens.uncached, tokens.total, tokens.calls) == (5, 15, 20, 2)
    assert prompt_tokens([Step(idx=0, role="agent", events=())]) is None


def test_notes_are_judged_on_what_can_be_checked():
    facts = [Fact(type="file_changed", key=name) for name in ("a", "b", "c")]
    assert note_precision(facts, lambda fact: {"a": True, "b": False}.get(fact.key)) == 0.5
    assert note_precision(facts, lambda _: None) is None
    assert note_recall(["a", "z"], ["a", "b"]) == 0.5
    assert note_recall(["a"], []) is None
