"""Filters: every gate, copies and near copies, evaluations, licences, and the split by repository."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from passdown.data.filters.decontaminate import Case, Evaluation, decontaminate, read_evaluation
from passdown.data.filters.exact import unique
from passdown.data.filters.licence import TERMS, permitted, terms_of
from passdown.data.filters.minhash import Entry, entry, near_duplicates, near_unique, signature, similarity
from passdown.data.filters.quality import Limits, gate
from passdown.data.filters.shingles import shingles
from passdown.data.filters.split import group_of, side_of, split
from passdown.data.records import Outcome, Provenance, Reject, Trajectory
from passdown.errors import FormatError

Begin = Callable[..., Any]


def parted(found: Iterable[Trajectory | Reject]) -> tuple[list[Trajectory], list[Reject]]:
    held = list(found)
    return [x for x in held if isinstance(x, Trajectory)], [x for x in held if isinstance(x, Reject)]


def placed(run: Trajectory, row: int, **changes: Any) -> Trajectory:
    provenance = structs.replace(run.provenance, file="made.jsonl", row=row)
    return structs.replace(run, provenance=provenance, **changes)


def explored(script: Begin, count: int, *, start: int = 0, repo: str = "some/repo", task: str = "Fix it") -> Trajectory:
    run = script().asks(task)
    for number in range(start, start + count):
        run = run.runs(f"cat src/file{number}.py", f"content {number}")
    made: Trajectory = run.runs("python -m pytest -q", "1 passed").trajectory(repo=repo)
    return made


def test_a_good_run_passes_every_gate(small_trajectory: Trajectory) -> None:
    assert parted(gate([small_trajectory])) == ([small_trajectory], [])


def test_every_gate_says_why(script: Begin, small_trajectory: Trajectory) -> None:
    talk = script().asks("Hello?").says("Hello.").asks("More?").says("No.").asks("Well?").says("Yes.").trajectory()
    looks = script().asks("What is here?").runs("ls").runs("cat a.py").runs("cat b.py").trajectory()
    broken = structs.replace(small_trajectory, outcome=Outcome(exit="exit_error"))
    cases = {
        "too_short": script().asks("Hi").runs("ls").trajectory(),
        "no_repo_action": talk,
        "no_edit_no_test": looks,
        "harness_error": broken,
    }
    for reason, run in cases.items():
        kept, [reject] = parted(gate([run]))
        assert (kept, reject.reason, reject.trajectory_id) == ([], reason, run.trajectory_id)
    assert parted(gate([small_trajectory], Limits(most_turns=3)))[1][0].reason == "too_long"
    assert parted(gate([small_trajectory], Limits(most_characters=50)))[1][0].reason == "too_long"
    for status in ("submitted (exit_error)", "exit_context", "exit_cost", "max_iterations_reached", ""):
        assert not parted(gate([structs.replace(small_trajectory, outcome=Outcome(exit=status))]))[1], status


def test_a_run_that_cannot_be_read_is_dropped(small_trajectory: Trajectory) -> None:
    from passdown.model.session import Unknown

    step = small_trajectory.steps[1]
    lost = structs.replace(step, events=(*step.events, *(Unknown(reason="torn_line") for _ in range(20))))
    run = structs.replace(small_trajectory, steps=(small_trajectory.steps[0], lost, *small_trajectory.steps[2:]))
    assert parted(gate([run]))[1][0].reason == "unreadable"


def test_of_copies_the_best_described_is_kept_in_any_order(small_trajectory: Trajectory, script: Begin) -> None:
    bare = structs.replace(small_trajectory, outcome=Outcome(), provenance=Provenance(source="other"))
    copies = [placed(bare, 1), placed(small_trajectory, 2), placed(small_trajectory, 3), placed(explored(script, 4), 4)]
    for order in itertools.permutations(copies):
        kept, rejects = parted(unique(order))
        assert {one.provenance.row for one in kept} == {2, 4}
        assert {reject.reason for reject in rejects} == {"duplicate"}
        assert parted(unique(kept)) == (kept, [])


def test_near_duplicates_are_found_within_a_repository_only(script: Begin) -> None:
    one = placed(explored(script, 40), 1)
    close = placed(explored(script, 41), 2)
    far = placed(explored(script, 40, start=25), 3)
    elsewhere = placed(explored(script, 40, repo="other/repo"), 4)
    runs = [one, close, far, elsewhere]
    for order in itertools.permutations(runs):
        kept, [reject] = parted(near_unique(order))
        assert {run.provenance.row for run in kept} == {2, 3, 4}  # the longer of the two
        assert (reject.reason, reject.trajectory_id) == ("near_duplicate", one.trajectory_id)
        assert parted(near_unique(kept))[1] == []


def test_two_attempts_at_one_long_issue_are_no_copies(script: Begin) -> None:
    issue = " ".join(f"word{number}" for number in range(600))
    runs = [placed(explored(script, 12, start=start, task=issue), start) for start in (0, 40)]
    assert len(parted(near_unique(runs))[0]) == 2


def test_a_run_without_anything_to_compare_is_nobodys_copy(script: Begin) -> None:
    runs = [placed(script().trajectory(), number) for number in range(3)]
    assert len(parted(near_unique(runs))[0]) == 3


small_sets = st.integers(0, 400).flatmap(
    lambda shared: st.tuples(st.just(shared), st.integers(0, 300), st.integers(0, 300), st.integers(0, 2**32))
)


@settings(deadline=None, max_examples=60)
@given(small_sets)
def test_signatures_tell_the_true_similarity(sizes: tuple[int, int, int, int]) -> None:
    shared, left, right, seed = sizes
    drawn = np.random.default_rng(seed).integers(0, 2**64, shared + left + right, dtype=np.uint64)
    one = np.unique(drawn[: shared + left])
    other = np.unique(np.concatenate([drawn[:shared], drawn[shared + left :]]))
    if not len(one) or not len(other):
        return
    true = len(np.intersect1d(one, other)) / len(np.union1d(one, other))
    # five standard deviations of a mean of 128 draws, and what 32 bits can collide
    assert abs(similarity(signature(one), signature(other)) - true) <= 5 * np.sqrt(true * (1 - true) / 128) + 0.02


def test_a_signature_is_the_same_whatever_the_order_and_on_every_machine() -> None:
    values = np.arange(1, 10_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    expected = signature(values)
    assert (signature(values[::-1]) == expected).all()
    assert expected[:3].tolist() == [55976, 378632, 105616]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=14), st.randoms(use_true_random=False))
def test_dropping_near_duplicates_is_idempotent_and_knows_no_order(families: list[int], chance: random.Random) -> None:
    entries = []
    for number, family in enumerate(families):
        values = np.arange(100, dtype=np.uint64) + np.uint64(1000 * family)
        values[0] = 10**6 + number
        rank = (False, False, False, -number, str(number))
        entries.append(Entry(key=str(number), group="g", rank=rank, signature=signature(values).tobytes()))
    gone = near_duplicates(entries)
    shuffled = list(entries)
    chance.shuffle(shuffled)
    assert near_duplicates(shuffled) == gone
    kept = [found for found in entries if found.key not in gone]
    assert near_duplicates(kept) == {}
    assert len(kept) == len(set(families))
    assert set(gone.values()) <= {found.key for found in kept}


def test_shingles_hold_actions_and_words(script: Begin, small_trajectory: Trajectory) -> None:
    assert len(shingles(script().trajectory())) == 0
    assert len(shingles(script().asks("two words").trajectory())) == 1
    assert entry(small_trajectory) == entry(small_trajectory)


PATCH = "--- a/x.py\n+++ b/x.py\n@@ -1 +1,4 @@\n-return value\n+if value is None:\n+    return default_value\n+return value.strip()\n"
ISSUE = "When the value is None the function strip fails with an attribute error instead of the default that I gave it"


def test_what_an_evaluation_is_made_of_is_left_out(small_trajectory: Trajectory, tmp_path: Path) -> None:
    listed = tmp_path / "eval.jsonl"
    listed.write_text(
        json.dumps({"instance_id": "Some__Repo-1", "repo": "some/repo", "base_commit": "0123456789abcdef" + "0" * 24,
                    "problem_statement": ISSUE, "patch": PATCH, "version": 3}) + "\n\n" + json.dumps({"repo": 7}) + "\n"
    )  # fmt: skip
    evaluation = read_evaluation(listed)
    clean = structs.replace(small_trajectory, repo="some/repo")
    cases = {
        "same_instance": structs.replace(clean, instance_id="some__repo-1"),
        "same_commit": structs.replace(clean, base_commit="01234567"),
        "same_issue": structs.replace(clean, task_text=f"Please:\n> {ISSUE.upper()}!\nThank you."),
        "same_patch": structs.replace(
            clean, outcome=Outcome(patch=PATCH.replace("+", "+  ").replace("+  +  +  ", "+++"))
        ),
    }
    for reason, run in cases.items():
        kept, [reject] = parted(decontaminate([run], evaluation))
        assert (kept, reject.reason, reject.detail) == ([], reason, "Some__Repo-1")
    near = [
        clean,
        structs.replace(clean, base_commit="0123"),
        structs.replace(clean, repo="other/repo", base_commit="01234567"),
        structs.replace(clean, task_text="When the value is None the function fails"),
        structs.replace(
            clean, outcome=Outcome(patch="--- a/x\n+++ b/x\n+return value.strip()\n+import os, sys\n+import re as r\n")
        ),
    ]
    assert parted(decontaminate(near, evaluation)) == (near, [])


def test_a_line_that_is_no_object_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "eval.jsonl").write_text('{"instance_id": "a"}\n[1]\n')
    with pytest.raises(FormatError, match=r"eval\.jsonl:2"):
        read_evaluation(tmp_path / "eval.jsonl")


def test_an_empty_evaluation_leaves_out_nothing(small_trajectory: Trajectory) -> None:
    assert parted(decontaminate([small_trajectory], Evaluation([Case()])))[1] == []


@pytest.mark.parametrize(
    ("licence", "terms"),
    [
        ("MIT", "permissive"), ("mit", "permissive"), ("Apache-2.0 OR GPL-3.0-only", "permissive"),
        ("MIT AND GPL-2.0-or-later", "copyleft"), ("CC-BY-4.0", "attribution"), ("CC-BY-NC-4.0", "restricted"),
        ("(MIT OR Apache-2.0)", "permissive"), ("Apache-2.0 WITH LLVM-exception", "permissive"), ("", "unknown"),
        ("Proprietary", "unknown"),
    ],
)  # fmt: skip
def test_a_licence_has_terms(licence: str, terms: str) -> None:
    assert terms_of(licence) == terms


def test_only_what_may_be_shipped_is_kept(small_trajectory: Trajectory) -> None:
    runs = [structs.replace(small_trajectory, provenance=Provenance(source="s", licence=name)) for name in (*TERMS, "")]
    kept, rejects = parted(permitted(runs))
    assert {TERMS[run.provenance.licence] for run in kept} == {"permissive", "attribution"}
    assert {reject.reason for reject in rejects} == {"licence_copyleft", "licence_restricted", "licence_unknown"}
    assert len(kept) + len(rejects) == len(runs)


names = st.text(st.characters(codec="utf-8", exclude_characters="/?"), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(st.lists(names, min_size=1, max_size=20), st.integers(0, 5), st.floats(0, 0.45), st.floats(0, 0.45))
def test_a_repository_is_on_one_side(repos: list[str], seed: int, validation: float, test: float) -> None:
    base = Trajectory(trajectory_id="t", provenance=Provenance(source="s"), steps=())
    runs = [structs.replace(base, trajectory_id=str(n), repo=f"owner/{name}") for n, name in enumerate(repos + repos)]
    found, _ = parted(split(runs, seed=seed, validation=validation, test=test))
    sides: dict[str, set[str]] = {}
    for run in found:
        sides.setdefault(group_of(run), set()).add(run.split)
    assert all(len(side) == 1 for side in sides.values())
    again, _ = parted(split(reversed(runs), seed=seed, validation=validation, test=test))
    assert {run.trajectory_id: run.split for run in again} == {run.trajectory_id: run.split for run in found}


def test_the_shares_are_kept_over_many_repositories() -> None:
    sides = [side_of(f"owner/name{number}", seed=1, validation=0.1, test=0.2) for number in range(5000)]
    assert 0.17 < sides.count("test") / 5000 < 0.23
    assert 0.08 < sides.count("validation") / 5000 < 0.12
    with pytest.raises(ValueError, match="nothing to train on"):
        side_of("a", validation=0.5, test=0.5)


def test_what_names_no_repository_is_never_held_out(small_trajectory: Trajectory) -> None:
    unknown = structs.replace(small_trajectory, repo="", root="/testbed")
    assert group_of(unknown) == "?made"
    assert side_of(group_of(unknown), validation=0.0, test=0.99) == "train"
    assert group_of(structs.replace(unknown, root="/home/dev/Inkwell/")) == "inkwell"
    assert group_of(structs.replace(unknown, repo="Some/Repo.git")) == "some/repo"
    side = side_of("some/repo", test=0.5)
    assert all(side_of(f"{owner}/repo", test=0.5) == side for owner in ("fork", "other"))


def test_the_seed_that_the_guide_names_holds_out_two_programs_of_the_worlds() -> None:
    from passdown.data.worlds.table import KERNELS

    by_default = {side_of(f"worlds/{kernel}") for kernel in KERNELS}
    assert by_default == {"train"}
    sides = {kernel: side_of(f"worlds/{kernel}", seed=9) for kernel in KERNELS}
    assert {kernel: side for kernel, side in sides.items() if side != "train"} == {
        "caches": "test", "eventlog": "validation",
    }  # fmt: skip
