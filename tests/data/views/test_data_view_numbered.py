"""Tokens as numbers are the tokens that the gates look at, and what is remembered by parts is what a whole text gives."""

from __future__ import annotations

import random

import pytest

from passdown.data.scrubber import Grown, Scrubber, paragraphs
from passdown.data.views.leaks import words_in
from passdown.data.views.numbered import PIECE, Paragraphs

SIGNS = "ab_9 \n\t`*\\.,[]é\u2003\u00a0\U0001f600\ud800漢\x00\x1c"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def chance_text(chance: random.Random, most: int) -> str:
    """Return a text of few signs, so that tokens, empty lines and brackets come often."""
    return "".join(chance.choices(SIGNS, k=chance.randrange(most)))


def numbers_agree(numbered: Paragraphs, texts: list[str]) -> bool:
    """Say whether every text has a number for each token, and different tokens have different ones."""
    number_of: dict[str, int] = {}
    for text, numbers in zip(texts, numbered.of_texts(texts), strict=True):
        words = words_in(text)
        if len(words) != len(numbers):
            return False
        for word, number in zip(words, numbers.tolist(), strict=True):
            if number_of.setdefault(word, number) != number:
                return False
    return len(set(number_of.values())) == len(number_of)


def test_every_token_has_its_number() -> None:
    chance = random.Random(3)
    texts = [chance_text(chance, 60) for _ in range(800)]
    texts += ["", "[1 | agent | action]\nls -la\n\n[2 | x]", "one\n\ntwo\n\none", "x" * 3000]
    assert numbers_agree(Paragraphs(), texts)


def test_a_long_text_is_looked_at_in_pieces() -> None:
    chance = random.Random(4)
    texts = ["".join(chance.choices(SIGNS, k=3 * PIECE + 7)), "word " * PIECE, "x" * (PIECE + 20) + " y"]
    numbered = Paragraphs()
    assert numbers_agree(numbered, texts)
    assert numbered.sure


@pytest.mark.parametrize("length", [2 * PIECE, 2 * PIECE + 1, 5 * PIECE])
def test_a_word_without_end_is_told(length: int) -> None:
    numbered = Paragraphs()
    numbered.of_texts(["y" * length + " z"])
    assert not numbered.sure


def test_the_tokens_of_lines_say_which_line_they_are_in() -> None:
    lines = ["a = b", "", "  ", "return [c]", "d"]
    tokens, owners = Paragraphs().of_lines(lines)
    assert owners.tolist() == [0, 0, 0, 3, 3, 3, 3, 4]
    assert len(tokens) == len(owners)
    assert [len(part) for part in Paragraphs().of_lines([])] == [0, 0]


def test_a_redactor_leaves_what_it_would_return_unchanged() -> None:
    chance = random.Random(5)
    lines = ["x = 1", "", "", f"export TOKEN={SECRET}", "/testbed/src/a.py: y", "[3 | agent | action]", "ls /testbed"]
    key = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7v" * 4 + "\n-----END RSA " + "PRIVATE KEY-----"
    scrubber, other = Scrubber({}), Scrubber({"/home/someone": "~"})
    notes = Scrubber({"/home/someone": "~", "/testbed": "."}, other)
    texts = ["\n".join(chance.choices(lines, k=chance.randrange(1, 9))) for _ in range(200)]
    texts += [f"{text}\n{key}" for text in texts[:9]]
    notes.learn(texts[::2])
    for text in texts:
        assert scrubber.leaves(text) == (Scrubber({}).text(text) == text)
        assert notes.text(text) == Scrubber({"/home/someone": "~", "/testbed": "."}).text(text), "with another's help"
    assert {scrubber.leaves(text) for text in texts} == {True, False}


def test_paragraphs_hold_every_line() -> None:
    text = "[1 | user | message]\nMend it.\n\nNow.\n\n[2 | x]\n\n\nend"
    assert paragraphs(text) == ["[1 | user | message]", "Mend it.", "Now.", "[2 | x]", "", "\nend"]


def test_of_a_text_that_grew_only_the_rest_is_new() -> None:
    grown = Grown()
    assert grown.new_from("\none") == 0
    assert grown.keep("one\ntwo\n")
    assert not grown.keep("one\ntwo\n")
    assert not grown.keep("other")
    assert [grown.new_from(text) for text in ("one\ntwo\nthree", "one\ntwo", "one\ntwo more", "o\none\ntwo\n")] == [
        7,
        0,
        0,
        0,
    ]
    assert grown.keep("one\ntwo\nthree")
    assert grown.new_from("one\ntwo\nthree\n\nfour") == 13


def test_a_secret_is_seen_in_what_a_text_has_grown_by() -> None:
    scrubber = Scrubber({})
    assert scrubber.leaves("one\n\ntwo\n")
    assert scrubber.leaves("one\n\ntwo\n\nthree\n")
    assert not scrubber.leaves(f"one\n\ntwo\n\nthree\n\nTOKEN={SECRET}\n")
    assert not scrubber.leaves(f"one\n\ntwo\n\nthree\n\nTOKEN={SECRET}\n\nfour\n")
    assert scrubber.leaves("one\n\ntwo\n\nthree\n\nfour\n")
