"""The lexer never loses a character, a line or its time, whatever it is given."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.clean.languages import language_of
from passdown.clean.lexer import lex
from passdown.clean.looks import code_lines
from passdown.repository.added_lines import _hunks

EXTENSIONS = ["py", "js", "ts", "go", "rs", "java", "kt", "swift", "c", "cs", "php", "rb", "sh"]
PIECES = st.sampled_from(
    ["\"", "'", "`", "//", "/*", "*/", "#", "\n", "\\", "x", "<<EOF", "EOF", '"""', "'''", "r#\"", "{", "}", "(", "é", "\t",
     "<<<X", "@\"", "%q(", "=begin", "\n=begin", "$", "/", "=", " "]
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(PIECES, max_size=40).map("".join), st.sampled_from(EXTENSIONS))
def test_nothing_is_lost(text: str, extension: str) -> None:
    language = language_of(f"a.{extension}")
    assert language is not None
    lexed = lex(text, language)
    assert len(lexed.code) == len(text)
    assert [at for at, c in enumerate(text) if c == "\n"] == [at for at, c in enumerate(lexed.code) if c == "\n"]
    assert all(new in (old, " ") for old, new in zip(text, lexed.code, strict=True))
    for comment in lexed.comments:
        assert comment.text in text
        assert 1 <= comment.first <= comment.last <= text.count("\n") + 1


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize(
    "unit", ["<<A ", '"\\', "/*", "'", "`${", "#\n", 'r#"', "=/x", "<<<A\n", '\\"', '"""a', "%q( "]
)
def test_time_is_linear(unit: str, extension: str) -> None:
    language = language_of(f"a.{extension}")
    assert language is not None
    begun = time.process_time()
    lex(unit * (20_000 // len(unit)), language)
    assert time.process_time() - begun < 2


@settings(deadline=None, max_examples=200)
@given(st.lists(st.text(max_size=60), max_size=8), st.sampled_from(["python", "c", "shell", "ruby"]))
def test_any_comment_can_be_judged(lines: list[str], family: str) -> None:
    assert 0 <= code_lines(lines, family) <= max(1, sum(line.count("\n") + 1 for line in lines))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300))
def test_any_diff_can_be_read(data: bytes) -> None:
    for path, (added, removed) in _hunks(data):
        assert path
        assert len(added) + len(removed) <= data.count(b"\n") + 1


def test_deep_python_is_no_crash() -> None:
    assert code_lines(["x = " + "(" * 5000], family="python") == 0
    assert code_lines(["a" + ".b" * 5000 + "()"], family="python") in (0, 1)
