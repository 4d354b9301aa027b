"""Paths between git's bytes and a packet's text."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from passdown.errors import FormatError
from passdown.model.path import decode_path, decode_paths, encode_path


@given(st.binary(max_size=200))
@example(b"\xed\xa0\x80")
@example(b"a\\xff\xff\\")
@settings(deadline=None)
def test_bytes_survive_the_round_trip(raw: bytes) -> None:
    text = decode_path(raw)
    assert encode_path(text) == raw
    text.encode("utf-8")


@given(st.text(max_size=80))
@settings(deadline=None)
def test_text_without_backslash_is_left_alone(text: str) -> None:
    text = text.replace("\\", "").encode("utf-8", "ignore").decode()
    assert decode_path(text.encode()) == text
    assert encode_path(text) == text.encode()


@given(st.text(max_size=60))
@settings(deadline=None)
def test_any_text_encodes_or_is_refused(text: str) -> None:
    try:
        raw = encode_path(text)
    except FormatError:
        return
    assert encode_path(decode_path(raw)) == raw


def test_examples() -> None:
    assert decode_path("文档/说明.md".encode()) == "文档/说明.md"
    assert decode_path(b"caf\xe9.txt") == "caf\\xe9.txt"
    assert decode_path(b"a\\b") == "a\\\\b"


@pytest.mark.parametrize("text", ["a\\b", "\\", "\\x2e\\x2e", "\\xFF", "\ud800", "\udcff"])
def test_what_was_never_written_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        encode_path(text)


@given(st.lists(st.binary(min_size=1, max_size=20).map(lambda raw: raw.replace(b"\0", b"a")), max_size=8))
@example([b"plain", b"back\\slash", "\u00e9\u2028".encode()])
@example([b"plain", b"stray\xff", b"back\\slash"])
@settings(deadline=None)
def test_many_paths_are_decoded_as_one_is(paths: list[bytes]) -> None:
    assert decode_paths(b"".join(path + b"\0" for path in paths)) == [decode_path(path) for path in paths]
