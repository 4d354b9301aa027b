"""Text normal form and content-derived ids."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passdown.model.identifier import content_id, normalize_text


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  a \t b\n\nc ", "a b c"),
        ("Done.", "Done"),
        ("Done..", "Done."),
        ("完成。", "完成"),
        ("a .", "a"),
        (".", ""),
        ("", ""),
        ("v1.2", "v1.2"),
        ("cafe\u0301", "caf\u00e9"),
        ("a\u00a0\u3000b", "a b"),
        ("why?", "why?"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalize_text(text) == normal


def test_an_id_is_stable() -> None:
    assert content_id("Q-", "Per user or per key?") == "Q-43c06b038f"


@given(st.text(), st.text(alphabet=" \t\n", max_size=3))
def test_spacing_and_composition_do_not_change_an_id(text: str, space: str) -> None:
    assert content_id("D-", space + text + space) == content_id("D-", text)
    assert re.fullmatch(r"D-[0-9a-f]{10}", content_id("D-", text))


@given(st.text(alphabet=st.characters(categories=["Cs", "Lu"])))
def test_lone_surrogates_are_no_error(text: str) -> None:
    content_id("C-", text)
