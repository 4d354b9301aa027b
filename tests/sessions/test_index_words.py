"""Words: what a question finds, whatever it is written in, and that nothing in it is taken for syntax."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.errors import UsageError
from passdown.sessions.index.excerpt import excerpt
from passdown.sessions.index.words import question, searchable

TEXTS = {
    "limit": "Please add a rate limit to read_session() in src/app.py",
    "café": "Das Café schließt früh",
    "chinese": "请检查令牌桶的限制，然后提交API接口",
    "japanese": "テストが失敗する理由を調べて、処理法を直す",
    "korean": "데이터베이스를 고쳐 주세요",
    "thai": "กรุณาตรวจสอบการทดสอบที่ล้มเหลว",
    "wide": "ＡＰＩ ｋｅｙ ﾃｽﾄ",
}


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')"
    )
    for number, text in enumerate(TEXTS.values()):
        database.execute("INSERT INTO words(rowid, text) VALUES(?, ?)", (number, searchable(text)))
    return database


def found(database: sqlite3.Connection, words: str) -> set[str]:
    names = list(TEXTS)
    return {
        names[row] for (row,) in database.execute("SELECT rowid FROM words WHERE words MATCH ?", (question(words),))
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rate limit", {"limit"}),
        ("limit rate", {"limit"}),
        ('"rate limit"', {"limit"}),
        ('"limit rate"', set()),
        ("read_session", {"limit"}),
        ("session_read", set()),
        ("src/app.py", {"limit"}),
        ("LIMIT", {"limit"}),
        ("limi", set()),
        ("limi*", {"limit"}),
        ('"rate lim"*', {"limit"}),
        ("limit -rate", set()),
        ("limit -bucket", {"limit"}),
        ("cafe", {"café"}),
        ("CAFÉ", {"café"}),
        ("cafe\u0301", {"café"}),
        ("fruh", {"café"}),
        ("令牌", {"chinese"}),
        ("牌桶", {"chinese"}),
        ("令牌桶的限制", {"chinese"}),
        ("限令", set()),
        ("桶令", set()),
        ("制", {"chinese"}),
        ("令", {"chinese"}),
        ("交API接", {"chinese"}),
        ("提交API接口", {"chinese"}),
        ("失敗", {"japanese"}),
        ("処理法", {"japanese"}),
        ("直す", {"japanese"}),
        ("す", {"japanese"}),
        ("テスト", {"japanese", "wide"}),
        ("데이", {"korean"}),
        ("데이터베이스", {"korean"}),
        ("주세요", {"korean"}),
        ("ทดสอบ", {"thai"}),
        ("ที่", {"thai"}),
        ("API", {"chinese", "wide"}),
        ("ａｐｉ", {"chinese", "wide"}),
    ],
)  # fmt: skip
def test_what_is_found(database: sqlite3.Connection, words: str, expected: set[str]) -> None:
    assert found(database, words) == expected


@pytest.mark.parametrize(
    "words",
    ['limit OR bucket', "limit NOT rate", "text:limit", "limit NEAR(rate, 2)", "^limit", "{text}: limit", "(limit", "limit)",
     '"limit', 'limit"', "limit'; DROP TABLE words; --", "limit AND", "- limit", "* limit", "li*mit", "\0limit", "+limit"],
)  # fmt: skip
def test_syntax_is_text(database: sqlite3.Connection, words: str) -> None:
    found(database, words)
    assert len(TEXTS) == database.execute("SELECT count(*) FROM words WHERE words MATCH 'limit OR cafe OR 令牌 OR 失敗 OR 데이 OR api OR ก*'").fetchone()[0]  # fmt: skip


@pytest.mark.parametrize("words", ["", "  ", "***", "--- ", '""', "-limit", "!?", "\0"])
def test_no_word_is_an_error(words: str) -> None:
    with pytest.raises(UsageError, match="no word"):
        question(words)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=80))
def test_any_question_is_answered_or_refused(words: str) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0)")
    try:
        asked = question(words)
    except UsageError:
        return
    assert (
        database.execute(
            "SELECT rowid FROM words WHERE words MATCH ?", (asked.encode("utf-8", "replace").decode(),)
        ).fetchall()
        == []
    )
    database.close()


@settings(deadline=None, max_examples=200)
@given(st.text("令牌桶限制請テスト失敗데이터ab ,。", min_size=1, max_size=30), st.data())
def test_every_piece_of_a_run_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]
    if not piece.isalnum() or piece.isascii():
        return
    if piece[0].isascii() or piece[-1].isascii():  # words of letters are found whole
        return
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')"
    )
    database.execute("INSERT INTO words(rowid, text) VALUES(1, ?)", (searchable(text),))
    assert database.execute("SELECT rowid FROM words WHERE words MATCH ?", (question(piece),)).fetchall() == [(1,)]
    database.close()


def test_an_excerpt_shows_the_word_on_one_line() -> None:
    text = "first line\n" + "x " * 500 + "the Réal needle\x1b[31m here" + " y" * 500
    shown = excerpt(text, "real needle")
    assert "Réal needle here" in shown
    assert len(shown) <= 142
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "\n" not in excerpt("a\nb", "nothing")
