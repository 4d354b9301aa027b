"""The estimate counts characters the same way, whatever they are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.packet.tokens import estimate_tokens


@settings(deadline=None)
@given(st.text(st.characters()))
def test_ascii_costs_a_quarter_and_everything_else_one(text: str) -> None:
    plain = sum(ord(character) < 128 for character in text)
    assert estimate_tokens(text) == -(-plain // 4) + len(text) - plain


def test_a_lone_surrogate_is_one_token() -> None:
    assert estimate_tokens("ab\ud800") == 2
