"""What holds of the measures whatever they are given."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.measures.continuation import align_seed, loop_score, matched, p_pc
from passdown.data.measures.cost import cost
from passdown.data.measures.inference import brier, count, macro_f1, p_si
from passdown.data.measures.reconstruction import e_cr, e_cr_seed, lcs_f1, longest_common, multiset_f1
from passdown.data.measures.score import EQUAL, Scored, hrs, hrs_interval, mean_interval, process
from passdown.data.measures.training import Observed, advantages, halving_schedule, observation_loss

runs = st.lists(st.sampled_from(["READ a/x", "READ a/x[0:50]", "READ a/y", "EDIT b/z", "TEST", "RUN q"]), max_size=12)
nodes = st.frozensets(st.sampled_from("abcdefgh"))
share = st.floats(0, 1)
scored = st.lists(
    st.builds(
        Scored, score=st.none() | share, repo=st.sampled_from("pqr"), trajectory_id=st.sampled_from("tuv"),
        k=st.integers(1, 5), view=st.sampled_from(["repo", "trace"]), kind=st.sampled_from(["mid", "error"]),
    ), max_size=24,
)  # fmt: skip


def slow_common(one, other):
    """The textbook table."""
    row = [0] * (len(other) + 1)
    for item in one:
        before = row[:]
        for at, against in enumerate(other):
            row[at + 1] = before[at] + 1 if item == against else max(before[at + 1], row[at])
    return row[-1]


@settings(deadline=None)
@given(runs, runs)
def test_the_fast_table_is_the_slow_one(one, other):
    assert longest_common(one, other) == slow_common(one, other)


@settings(deadline=None)
@given(runs, st.lists(runs, max_size=3), st.booleans(), st.none() | st.integers(1, 8))
def test_reconstruction_is_a_share(successor, references, soft, horizon):
    error = e_cr(successor, references, soft=soft, horizon=horizon)
    assert (error is None) == (not references)
    if error is not None:
        assert 0 <= error <= 1
        exact = e_cr(successor, references, horizon=horizon)
        assert exact is not None and error <= exact + 1e-12
    for reference in references:
        assert all(0 <= measure(successor, reference) <= 1 for measure in (multiset_f1, lcs_f1, align_seed))
        seed = e_cr_seed(successor, reference)
        assert seed is None or 0 <= seed <= 1


@settings(deadline=None)
@given(runs, runs)
def test_reconstruction_does_not_care_what_targets_are_called(one, other):
    names = {item: f"READ other{at}" for at, item in enumerate(sorted({*one, *other}))}
    renamed = e_cr([names[item] for item in one], [[names[item] for item in other]])
    assert renamed == e_cr(one, [other]) == e_cr(other, [one])


@settings(deadline=None)
@given(nodes, nodes, nodes)
def test_inference_is_a_share(everything, done, predicted):
    counts = count(done, predicted, everything)
    for value in (counts.recall, counts.precision, counts.f1, counts.true_negatives, counts.p_si):
        assert value is None or 0 <= value <= 1
    assert (counts.p_si is None) == (not everything)


@settings(deadline=None)
@given(nodes, nodes)
def test_saying_that_all_is_done_scores_nothing_unless_it_is(everything, done):
    score = p_si(done, everything, everything)
    if everything:
        assert (score or 0) == (1 if everything <= done else 0)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["done", "in_progress", "todo", "unknown"])),
       st.dictionaries(st.sampled_from("abc"), st.sampled_from(["done", "in_progress", "todo", "unknown"])),
       st.dictionaries(st.sampled_from("abc"), share))  # fmt: skip
def test_label_scores_are_shares(truth, predicted, chances):
    score = macro_f1(truth, predicted)
    assert score is None or 0 <= score <= 1
    error = brier([node for node in truth if truth[node] == "done"], chances)
    assert error is None or 0 <= error <= 1


@settings(deadline=None)
@given(runs, runs, st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=6) | st.none())
def test_plan_continuation_is_a_share(plan, other, edges):
    assert 0 <= p_pc(plan, other, edges) <= 1
    pairs = matched(plan, other)
    assert len(set(pairs.values())) == len(pairs)
    assert len(pairs) == round(multiset_f1(plan, other) * (len(plan) + len(other)) / 2)
    loop = loop_score(plan)
    assert loop is None if not plan else loop is not None and 0 <= loop < 1


@settings(deadline=None)
@given(st.none() | share, st.none() | share, st.none() | share)
def test_a_process_score_is_a_share_or_undefined(error, inference, plan):
    score = process(error, inference, plan)
    assert (score is None) == (sum(term is not None for term in (error, inference, plan)) < 2)
    assert score is None or 0 <= score <= 1
    assert sum(EQUAL) == 1


@settings(deadline=None, max_examples=50)
@given(scored, st.integers())
def test_the_order_of_runs_moves_nothing(found, seed):
    mixed = found[:]
    random.Random(seed).shuffle(mixed)
    assert hrs(mixed, 1) == hrs(found, 1)
    one, other = hrs_interval(found, smallest=1, resamples=50), hrs_interval(mixed, smallest=1, resamples=50)
    assert one == other
    if one.low is not None and one.high is not None:
        assert 0 <= one.low <= one.high <= 1 + 1e-12
    assert mean_interval(found, resamples=50) == mean_interval(mixed, resamples=50)


@settings(deadline=None)
@given(*[st.integers(0, 10**7)] * 4, st.booleans())
def test_cost_is_a_share(steps, reference, tokens, reference_tokens, solved):
    assert 0 <= cost(steps, reference, tokens, reference_tokens, solved=solved) <= 1


@settings(deadline=None)
@given(st.lists(st.floats(-1, 2), max_size=8))
def test_advantages_add_up_to_nothing(rewards):
    found = advantages(rewards)
    assert len(found) == len(rewards)
    assert abs(sum(found)) < 1e-6


@settings(deadline=None)
@given(st.integers(1, 60), st.lists(st.floats(0, 9), min_size=1, max_size=9))
def test_selecting_fewer_tokens_never_weighs_more(body, losses):
    whole = observation_loss([Observed(max(body, len(losses)), tuple(losses))])
    part = observation_loss([Observed(max(body, len(losses)), tuple(losses[1:]))])
    assert part <= whole


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 1000))
def test_a_halving_stays_in_its_budget(arms, budget):
    schedule = halving_schedule(arms, budget)
    assert sum(one.arms * one.pulls for one in schedule) <= budget
    assert [one.arms for one in schedule] == sorted((one.arms for one in schedule), reverse=True)
