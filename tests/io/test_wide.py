"""Texts that one character would make large: narrowed where they would be, and left alone where they would not."""

from __future__ import annotations

import json

import msgspec
import pytest

from passdown.io.wide import LONG, MAX_TEXT, narrowed

WAVE = "\N{WAVING HAND SIGN}"


def text_of(line: bytes) -> str:
    text = msgspec.json.decode(narrowed(line))["text"]
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(
    ("wide", "left", "escaped"),
    [(WAVE, "?", False), (WAVE, "?", True), ("\u0141", "?", False), ("\u4e2d", "?", True), ("é", "é", True)],
)
def test_what_is_beyond_latin_1_is_replaced(wide: str, left: str, escaped: bool) -> None:
    plain = 'a "b" \\u4e2d \\\\'
    line = json.dumps({"id": WAVE, "text": f"{wide}{plain}" + "x" * (MAX_TEXT // 2)}, ensure_ascii=escaped).encode()
    text = text_of(line)
    assert text.startswith((left + plain, left * 2 + plain))  # of an escape there are two
    assert set(text[-100:]) == {"x"}
    assert msgspec.json.decode(narrowed(line))["id"] == WAVE


@pytest.mark.parametrize("escaped", [False, True])
def test_a_text_written_in_wide_characters_is_left_alone(escaped: bool) -> None:
    line = json.dumps({"text": "\u4e2d" * 2_100_000}, ensure_ascii=escaped).encode()
    assert len(line) > LONG
    assert narrowed(line) is line


def test_wide_characters_beside_a_picture_are_left_alone() -> None:
    line = json.dumps({"text": f"Look {WAVE}", "picture": "A" * MAX_TEXT}, ensure_ascii=False).encode()
    assert narrowed(line) is line


def test_what_is_no_json_is_left_as_it_is() -> None:
    line = b'{"text": "' + b"\xff" * LONG + b"\\"
    assert narrowed(line) == line
