"""The worked numbers of the definitions."""

from __future__ import annotations

import pytest
from pytest import approx

from passdown.data.measures.continuation import align_seed, p_pc, p_pc_seed
from passdown.data.measures.cost import Pair, cost, debt, reduction
from passdown.data.measures.inference import count, p_si, p_si_seed
from passdown.data.measures.reconstruction import e_cr, e_cr_seed, lcs_f1, multiset_f1
from passdown.data.measures.score import Scored, hrs, hrs_composite, hrs_seed, process, strata
from passdown.data.measures.training import Observed, Round, advantages, halving_schedule, observation_loss

R1, R2, E1, E2, T = "READ a", "READ b", "EDIT a", "EDIT b", "TEST t"
GOLD = (R1, E1, T, E2, T)


@pytest.mark.parametrize(
    ("successor", "seed", "by_counts", "by_order", "error"),
    [
        (GOLD, 0, 0, 0, 0),
        (GOLD[::-1], 0, 0, 0.4, 0.2),
        ((R1,) * 5, 0.75, 0.8, 0.8, 0.8),
        ((E1, T), 0.5, 0.4286, 0.4286, 0.4286),
        ((R2, R1, E1, T, E2, T), 0, 0.0909, 0.0909, 0.0909),
        ((), 1, 1, 1, 1),
    ],
    ids=["gold", "reversed", "reads-five-times", "short", "one-more", "nothing"],
)
def test_reconstruction(successor, seed, by_counts, by_order, error):
    assert e_cr_seed(successor, GOLD) == approx(seed, abs=1e-4)
    assert 1 - multiset_f1(successor, GOLD) == approx(by_counts, abs=1e-4)
    assert 1 - lcs_f1(successor, GOLD) == approx(by_order, abs=1e-4)
    assert e_cr(successor, [GOLD]) == approx(error, abs=1e-4)


def test_reconstruction_without_gold():
    assert e_cr_seed((R1,), ()) is None
    assert e_cr((R1,), []) is None
    assert e_cr((), [()]) == 0


@pytest.mark.parametrize(
    ("done", "predicted", "recall", "precision", "f1", "negatives", "score"),
    [
        ("ab", "abcde", 1, 0.4, 0.5714, 0, 0),
        ("ab", "ab", 1, 1, 1, 1, 1),
        ("ab", "a", 0.5, 1, 0.6667, 1, 0.5),
        ("ab", "abc", 1, 0.6667, 0.8, 0.6667, 0.6667),
        ("ab", "", 0, None, 0, 1, 0),
        ("", "", None, None, 1, 1, 1),
        ("", "a", None, 0, 0, 0.8, 0.8),
        ("abcde", "abcde", 1, 1, 1, None, 1),
        ("abcd", "abcde", 1, 0.8, 0.8889, 0, 0),
    ],
)
def test_inference(done, predicted, recall, precision, f1, negatives, score):
    counts = count(done, predicted, "abcde")
    assert counts.recall == (recall if recall is None else approx(recall, abs=1e-4))
    assert counts.recall == p_si_seed(done, predicted)
    assert counts.precision == (precision if precision is None else approx(precision, abs=1e-4))
    assert counts.f1 == approx(f1, abs=1e-4)
    assert counts.true_negatives == (negatives if negatives is None else approx(negatives, abs=1e-4))
    assert p_si(done, predicted, "abcde") == approx(score, abs=1e-4)


def test_alignment():
    plan = tuple("3456")
    assert align_seed(plan, tuple("354x")) == 0.5
    assert align_seed(plan, ()) == 0
    assert align_seed((), ()) == 1
    assert align_seed(plan, plan) == 1
    assert align_seed(plan, plan[::-1]) == 0.25
    assert p_pc_seed(tuple("123456"), tuple("354x"), 2) == 0.5


def test_plan_continuation():
    edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert p_pc(tuple("3456"), tuple("354x"), edges) == 0.75
    assert p_pc(tuple("3456"), tuple("6543"), edges) == 0


def test_process_and_plain_mean():
    assert process(0.4, 0.5714, 0.5) == approx(0.5571, abs=1e-4)
    first, second = process(0.2, 1, 0.5), process(0.6, 0.5, 0.25)
    assert (first, second) == (approx(0.7667, abs=1e-4), approx(0.3833, abs=1e-4))
    assert hrs_seed([first, second]) == approx(0.575)


def test_the_mix_of_points_moves_the_plain_mean_alone():
    runs = [Scored(score=0.9, repo="r", view="structured", k=k) for k in range(3)]
    runs.append(Scored(score=0.3, repo="r", view="repo"))
    assert hrs_seed([run.score for run in runs]) == approx(0.75)
    assert hrs(runs, smallest=1) == approx(0.60)
    assert hrs(runs) is None
    assert [one.counted for one in strata(runs).values()] == [False, False]


def test_composite():
    assert hrs_composite(0.64, 0.81) == approx(0.72)


def test_cost():
    assert cost(20, 10, 400, 100, solved=True) == approx(0.25)
    assert cost(10, 10, 100, 100, solved=True) == 0
    assert cost(80, 10, 800, 100, solved=False) == 1
    assert cost(5, 10, 50, 100, solved=True) == 0


def test_debt():
    assert debt(18, 12) == 0.5
    assert reduction([Pair(12, 20)]) == approx(0.4)


def test_observation_divisors_differ():
    sequences = [Observed(4, (1, 3)), Observed(2, (2, 2))]
    assert observation_loss(sequences) == 1.5
    assert observation_loss(sequences, "selected") == 2
    assert observation_loss(sequences, "tokens") == 2
    longer = [Observed(4, (1, 3)), Observed(2, (2,))]
    assert len({observation_loss(longer, divisor) for divisor in ("full", "selected")}) == 2


def test_advantages():
    assert advantages([1, 0, 0, 1]) == approx((0.86588, -0.86588, -0.86588, 0.86588), abs=1e-5)
    assert advantages([0, 0, 0]) == (0, 0, 0)
    assert observation_loss([Observed(2, (2, 2))]) > 0


def test_halving():
    assert halving_schedule(8, 48) == (Round(8, 2), Round(4, 4), Round(2, 8))
