"""Admission, both ways, with hidden tests that really run: what can be solved gets in, what cannot stays out."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.data.perturb.admission import admit, rebase
from passdown.data.perturb.hidden_tests import HiddenTests
from passdown.data.perturb.merge import merge3
from passdown.data.perturb.scene import Scene
from passdown.data.perturb.table import NAMES
from passdown.errors import UnsafeError, UsageError

VIEW_OF = {"truncate_trace": "trace"}


@pytest.fixture(scope="module")
def verify(work: Any) -> HiddenTests:
    return HiddenTests([sys.executable, "-m", "unittest", "-q", "hidden_cart"], work.hidden)


def asked(work: Any, perturbed: Any, verify: Any, **other: Any) -> Any:
    given = {"snapshot": work.snapshot, "base": work.base, "fix": work.fixed, "blobs": work.blobs, "verify": verify}
    return admit(perturbed, **{**given, **other})


@pytest.mark.parametrize("name", NAMES)
def test_what_can_still_be_solved_is_admitted(work: Any, verify: HiddenTests, name: str) -> None:
    for strength in ("0", "1"):
        found = asked(work, work.done(f"{name}@{strength}", view=VIEW_OF.get(name, "structured")), verify)
        assert found.admitted, found.reason
        assert [truth.still_solvable for truth in found.perturbed.truths] == [True]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_fix_no_longer_solves_is_refused(work: Any, verify: HiddenTests, name: str) -> None:
    """The same operator, and something in the tree that the fix knows nothing of and that breaks the project."""
    perturbed = work.done(name, view=VIEW_OF.get(name, "structured"))
    scene = Scene(view=perturbed.view, snapshot=perturbed.snapshot, blobs=work.blobs, base=work.base)
    broken = scene.with_files({"src/__init__.py": b"raise ImportError('not here')\n"}).snapshot
    found = asked(work, type(perturbed)(ops=perturbed.ops, view=perturbed.view, snapshot=broken,
                                        truths=perturbed.truths, seed=perturbed.seed), verify)  # fmt: skip
    assert (found.admitted, found.reason) == (False, "the rebased fix does not pass")
    assert [truth.still_solvable for truth in found.perturbed.truths] == [False]
    reject = found.reject()
    assert (reject.reason, reject.detail) == ("admission: the rebased fix does not pass", f"{name} (seed 1)")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_solved_already_is_refused(work: Any, verify: HiddenTests, name: str) -> None:
    """The same operator on a cut that has nothing left to do, and a fix that is already in the tree."""
    perturbed = work.done(name, view=VIEW_OF.get(name, "structured"))
    scene = Scene(view=perturbed.view, snapshot=perturbed.snapshot, blobs=work.blobs, base=work.base)
    solved = scene.with_files(work.fixed).snapshot
    found = asked(work, type(perturbed)(ops=perturbed.ops, view=perturbed.view, snapshot=solved), verify)
    assert (found.admitted, found.reason) == (False, "the state passes without a fix")


def test_a_fix_that_never_passed_admits_nothing(work: Any, verify: HiddenTests) -> None:
    found = asked(work, work.done("drop_fact"), verify, fix={"src/cart.py": b"def total(items): return 0\n"})
    assert (found.admitted, found.reason) == (False, "the fix does not pass on the cut itself")


def test_a_lost_change_is_brought_back_from_the_base_commit(work: Any, verify: HiddenTests) -> None:
    found = asked(work, work.done("overwrite_file_section@1"), verify)
    assert (found.admitted, found.rebased_from) == (True, "base")
    kept = asked(work, work.done("parallel_edit", seed=1), verify)
    assert (kept.admitted, kept.rebased_from) == (True, "cut")


def test_a_file_that_no_fix_changes_is_put_right_by_being_restored(work: Any) -> None:
    pinned = (
        b"    def test_pin(self):\n"
        b"        with open('requirements.txt') as f:\n            self.assertIn('tablib==3.5.0', f.read())\n"
    )
    verify = HiddenTests(
        [sys.executable, "-m", "unittest", "-q", "hidden_cart"],
        {"hidden_cart.py": work.hidden["hidden_cart.py"] + pinned},
    )
    done = work.done("dep_downgrade@1")
    assert asked(work, done, verify).reason == "the rebased fix does not pass"
    restored = {"requirements.txt": work.base["requirements.txt"]}
    found = asked(work, done, verify, restored=restored)
    assert (found.admitted, found.rebased_from) == (True, "restored")
    assert not asked(work, done, verify, restored={"requirements.txt": b"tablib==1.0\n"}).admitted


def test_several_operators_are_admitted_together(work: Any, verify: HiddenTests) -> None:
    done = work.done("parallel_edit@0", "dep_downgrade", "drop_section@0.2", "planted_error")
    assert asked(work, done, verify).admitted


def test_the_hidden_tests_stay_in_their_folder(work: Any) -> None:
    with pytest.raises(UnsafeError):
        HiddenTests([sys.executable, "-c", "pass"], {})({"../out.py": b""})
    with pytest.raises(UsageError):
        HiddenTests([], {})
    assert not HiddenTests([sys.executable, "-c", "import time; time.sleep(9)"], {}, timeout=0.2)({})
    assert not HiddenTests(["no-such-program-here"], {})({})


def test_changes_of_different_lines_are_both_kept() -> None:
    base = "a\nb\nc\nd\ne\n"
    assert merge3(base, "a\nB\nc\nd\ne\n", "a\nb\nc\nD\ne\nf\n") == ("a\nB\nc\nD\ne\nf\n", 0)
    assert merge3(base, "a\nB\nc\nd\ne\n", "a\nX\nc\nd\ne\n") == ("a\nX\nc\nd\ne\n", 1)
    assert merge3(base, "a\nc\nd\ne\n", base) == ("a\nc\nd\ne\n", 0)
    assert merge3("", "x\n", "y\n") == ("y\n", 1)


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=12).map("".join)


@settings(deadline=None, max_examples=200)
@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_a_merge_keeps_its_laws(base: str, ours: str, theirs: str) -> None:
    assert merge3(base, base, theirs) == (theirs, 0)
    assert merge3(base, ours, base) == (ours, 0)
    assert merge3(base, ours, ours) == (ours, 0)
    merged, flipped = merge3(base, ours, theirs), merge3(base, theirs, ours)
    assert merged.conflicts == flipped.conflicts
    if not merged.conflicts:
        assert merged.text == flipped.text


def test_a_fix_deletes_and_brings_back() -> None:
    made = rebase({"a": b"1\n", "b": b"2\n"}, {"b": b"2\n", "c": b"3\n"}, {"b": None, "a": b"4\n"})
    assert made.files == {"a": b"4\n", "c": b"3\n"}
    assert made.conflicts == 1
