"""Every pattern that is only tried where certain words stand: whatever it matches holds one of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passdown.evidence import classify, output, reports

EXACT = [
    *reports._FAILING,
    *reports._SUMMARY,
    ((" failing",), reports._MOCHA),
    (reports._BROKEN_WORDS, reports._BROKEN),
    (reports._GO_EMPTY_WORDS, reports._GO_EMPTY),
    (classify._FAILURE_WORDS, classify._FAILURE),
    (classify._GIT_WORDS, classify._GIT_FAILURE),
    (("not found",), classify._NOT_FOUND),
]
LOWERED = [
    *(row for row in output._PATTERNS if row[0] != output._PLACED),
    (reports._NONE_RAN_WORDS, reports._NONE_RAN),
    (classify._ANNOUNCED_WORDS, classify._ANNOUNCED),
]


@pytest.mark.parametrize(("words", "pattern"), EXACT)
def test_a_match_holds_a_word(words: tuple[str, ...], pattern: str) -> None:
    _check(words, pattern, lowered=False)


@pytest.mark.parametrize(("words", "pattern"), LOWERED)
def test_a_match_holds_a_word_in_lower_case(words: tuple[str, ...], pattern: str) -> None:
    _check(words, pattern, lowered=True)


def _check(words: tuple[str, ...], pattern: str, *, lowered: bool) -> None:
    compiled = re.compile(pattern, 0 if lowered else re.MULTILINE)

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.from_regex(compiled, alphabet=st.characters(max_codepoint=0x2E7F, exclude_categories=["Cs"])))
    def holds(text: str) -> None:
        found = compiled.search(text)
        assert found is not None
        match = found[0].lower() if lowered else found[0]
        assert any(word in match for word in words)

    holds()


def test_a_match_of_a_place_holds_one() -> None:
    (pattern,) = (pattern for words, pattern in output._PATTERNS if words == output._PLACED)
    place = re.compile(output._PLACE)

    @settings(max_examples=40, deadline=None, database=None)
    @given(st.from_regex(pattern))
    def holds(text: str) -> None:
        assert place.search(text)

    holds()


def test_words_are_looked_for_line_by_line() -> None:
    pattern = output.compiled(r"(?m)^error: \d+$")
    text = "an error\nerror: x\nerror: 12\nthe end"
    assert output.any_line(pattern, ("error",), text)
    assert not output.any_line(pattern, ("error",), text.replace("12", ""))
    assert not output.any_line(pattern, ("fatal",), text)
