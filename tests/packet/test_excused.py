"""Tests that a person said to leave alone are no next step; all others are."""

from __future__ import annotations

import pytest

from passdown.model.evidence import Directive, TestFacts
from passdown.packet.build import build_packet
from passdown.packet.stated import says_what_next

UPSTREAM = "test_speaks_version_3 (tests.test_upstream.Upstream.test_speaks_version_3)"


@pytest.mark.parametrize(
    ("said", "failing", "excused"),
    [
        ("Mend src/a.py.\n- tests/test_upstream.py fails for reasons outside; leave it alone.", (UPSTREAM,), True),
        ("Mend src/a.py, and ignore the failing tests in `tests/test_upstream.py`.", ("tests/test_upstream.py::x",), True),
        ("Mend src/a.py; test_speaks_version_3 is expected to fail.", (UPSTREAM,), True),
        ("Mend src/a.py. tests/test_upstream.py: leave it alone.", (UPSTREAM, "tests/test_a.py::test_b"), False),
        ("Make tests/test_upstream.py pass and do not ignore errors in src/a.py.", (UPSTREAM,), False),
        ("Mend src/a.py and leave it alone then.", ("tests/test_a.py::test_b",), False),
        ("tests/test_upstream.py: leave it alone.", (), False),
    ],
)  # fmt: skip
def test_what_a_person_excused_is_not_to_be_mended(  # type: ignore[no-untyped-def]
    make_evidence, make_chain, make_run, said: str, failing: tuple[str, ...], excused: bool
) -> None:
    chain = make_chain("pytest -x", make_run(3, 1))
    tests = TestFacts(commands=("pytest -x",), state="red", failing=failing)
    made = build_packet(make_evidence(chains=(chain,), tests=tests, directives=(Directive(text=said),)))
    assert (made.next_action.source != "derived:failing_test") is excused


@pytest.mark.parametrize(
    "text", ["Keeping a list of what is to do.", "I'll track the parts of this.", "Updating the list."]
)
def test_to_write_down_a_plan_is_no_step(text: str) -> None:
    assert not says_what_next(text)
    assert says_what_next("I'll write a list of the settings into docs/settings.md.")


def test_a_claim_that_all_is_done_is_no_step() -> None:
    assert not says_what_next("That should do it: number the rounds; count lines; escape values.")
