"""Text that hides, moves or reorders is made plain; text that people write stays."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.redact.neutralise import neutralise, one_line

VISIBLE_FORMAT = {
    code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf" and code in
    {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;196mred\x1b[m", "red"),
        ("\x1b[2J\x1b[H\x1b[?25lx", "x"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;c2VjcmV0\x07", ""),
        ("\x1bP1$r0m\x1b\\x", "x"),
        ("\x1b]unterminated stays visible", "]unterminated stays visible"),
        ("\x1bc\x1b(Bx\x1b7", "x"),
        ("\x1b\x1b[0m[31mx", "[31mx"),
        ("a\x08b\x00c\x7fd\x9fe", "abcde"),
        ("10%\r20%\r\ndone", "10%\n20%\ndone"),
        ("a\x0bb\x0cc\x85d\u2028e\u2029f", "a b c d e f"),
        ("\ud83d alone", "\ufffd alone"),
        ("\ufffe\ufdd0", "\ufffd\ufffd"),
        ("access\u202egnp.exe", "accessgnp.exe"),
        ("\u2066a\u2069\u200e\u200f\u061c", "a"),
        ("ze\u200bro\ufeffwi\u2060dth\u00ad", "zerowidth"),
        ("tag\U000e0041\U000e007f", "tag"),
        ("vs\ufe0fs\U000e0101", "vss"),
        ("fill\u3164\u115f\uffa0", "fill"),
        ("a\u200db", "ab"),
        ("1\u200d2", "12"),
        ("☺\ufe0f\ufe0f\ufe0f", "☺\ufe0f"),
        ("1\ufe0f2", "12"),
    ],
)
def test_made_plain(text: str, plain: str) -> None:
    assert neutralise(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "plain\n\ttabbed",
        "naïve café, Grüße, 日本語, 한국어, русский, עברית, العربية",
        "👩\u200d👩\u200d👧 family, ❤\ufe0f\u200d🔥, 👍🏽, 1\ufe0f\u20e3, ☺\ufe0e, 🏳\ufe0f\u200d🌈",
        "می\u200cخواهم",
        "क्\u200dष and ක්\u200dෂ",
        "e\u0301 combining",
        "“quotes” — dash … ‘x’ \u00a0 nbsp",
        "\ue0b0 private use",
    ],
)
def test_left_alone(text: str) -> None:
    assert neutralise(text) == text


def test_no_invisible_character_survives_on_its_own() -> None:
    for code in range(0x110000):
        character = chr(code)
        hidden = unicodedata.category(character) in ("Cf", "Cc", "Cs", "Zl", "Zp") and code not in VISIBLE_FORMAT
        if hidden and character not in "\n\t":
            assert character not in neutralise(f"a{character}b"), hex(code)


ALPHABET = st.sampled_from(
    [*"ab \n\t\r1[]m;?\\P", "\x1b", "\x9b", "\x07", "\x9c", "\u200d", "\ufe0f", "😀", "❤", "م", "\u200c", "\ud800"]
)


@settings(deadline=None, max_examples=400)
@given(st.lists(ALPHABET, max_size=40).map("".join) | st.text(max_size=100))
def test_twice_is_once_and_nothing_moves(text: str) -> None:
    once = neutralise(text)
    assert neutralise(once) == once
    assert not any(c in once for c in "\x1b\x9b\r\x00\u202e\u200b\u2028")
    once.encode()


@settings(deadline=None)
@given(st.text(max_size=80), st.integers(0, 40))
def test_one_line_is_one_line_within_its_cap(text: str, cap: int) -> None:
    line = one_line(text, cap)
    assert len(line) <= cap
    assert len(line.splitlines()) <= 1
    assert "  " not in line
    assert one_line(line, cap) == line


def test_one_line() -> None:
    assert one_line("  a\n\n b\t\x1b[1mc ", 40) == "a b c"
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
    assert one_line("abcd efg", 6) == "abcd…"
    assert one_line("abc", 0) == ""


def test_the_quick_look_misses_no_character() -> None:
    from passdown.redact.neutralise import _cleaned

    wrong = [code for code in range(0x110000) if neutralise(f"a{chr(code)}b") != _cleaned(f"a{chr(code)}b")]
    assert wrong == []
