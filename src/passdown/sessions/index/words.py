"""Words: how a text is cut up for the full-text search, and how a question becomes one that SQLite understands."""

from __future__ import annotations

import re
import unicodedata
from operator import add

from passdown.errors import UsageError
from passdown.model.pattern import lazy_pattern

LONGEST = 1000
"""Characters of a question that are looked at."""

_MOST = 32
_RUN = lazy_pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts that put no space between words, and Korean, whose particles stick to them."""

_MARKED = lazy_pattern("[\u0e00-\u2fff]")
"""Where scripts stand that have marks by themselves, which belong to the letter before."""

_WIDE = lazy_pattern("[\u3000\uff01-\uff5e]+")

_TERM = lazy_pattern(r'(-?)(?:"([^"]*)"?|([^\s"]+))(\*?)')


def searchable(text: str) -> str:
    """Return a text as it goes into the index: runs of scripts without spaces as pairs of characters.

    Behind the pairs stands the last character by itself, so that every single one begins some word.
    """
    if text.isascii():
        return text
    text = _folded(text)
    if _is_western(text):
        return text
    return _RUN.sub(_pairs if _MARKED.search(text) else _plain_pairs, text)


def _folded(text: str) -> str:
    """Return the text in the form NFKC. Wide punctuation is all that keeps most Chinese text from being in it."""
    if not unicodedata.is_normalized("NFKC", text):
        text = _WIDE.sub(lambda wide: unicodedata.normalize("NFKC", wide[0]), text)
    return unicodedata.normalize("NFKC", text)


def _is_western(text: str) -> bool:
    """Say, as fast as a text is copied, that none of its characters is of the scripts that are cut into pairs."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def _pairs(run: re.Match[str]) -> str:
    letters = _letters(run[0])
    return f" {' '.join(map(add, letters, letters[1:]))} {letters[-1:]} "


def _plain_pairs(run: re.Match[str]) -> str:
    letters = run[0]
    return f" {' '.join(map(add, letters, letters[1:]))} {letters[-1]} "


def _letters(run: str) -> str:
    if min(run) >= "\u3000":  # no script with marks that stand by themselves
        return run
    return "".join(character for character in run if unicodedata.category(character) != "Mn")


def question(words: str) -> str:
    """Return the FTS5 expression for what a person typed: words, "phrases", beginnings*, and -words to leave out.

    Whatever else stands in it is text to look for, never syntax. Raises `UsageError` when there is no word in it.
    """
    wanted: list[str] = []
    unwanted: list[str] = []
    for minus, quoted, word, star in _TERM.findall(words.replace("\0", " ")[:LONGEST]):
        beginning = bool(star) or word.endswith("*")
        term = _term(quoted or word.rstrip("*"), beginning=beginning)
        if term:
            (unwanted if minus else wanted).append(term)
    if not wanted:
        raise UsageError("there is no word to look for", next_step='For example: passdown sessions search "rate limit"')
    asked = " AND ".join(wanted[:_MOST])
    return f"({asked}) NOT ({' OR '.join(unwanted[:_MOST])})" if unwanted else asked


def _term(text: str, *, beginning: bool) -> str:
    if not any(character.isalnum() for character in text):
        return ""
    text = unicodedata.normalize("NFKC", text)
    runs = list(_RUN.finditer(text))
    cut = searchable(text).rstrip()
    if runs and not any(character.isalnum() for character in text[runs[-1].end() :]):
        # The run may go on in the text: its last character then is the first of a pair.
        if len(_letters(runs[-1][0])) > 1:
            cut = cut.rpartition(" ")[0]
        else:
            beginning = True
    phrase = cut.replace('"', " ").strip()
    return f'"{phrase}"{"*" if beginning else ""}'


def terms(words: str) -> list[str]:
    """Return the words and phrases that a question looks for, folded."""
    found = _TERM.findall(words[:LONGEST])
    return [plain(quoted or word.rstrip("*")) for minus, quoted, word, _ in found if not minus and (quoted or word)]


def plain(text: str) -> str:
    """Return a text folded as the search folds it: width, case and accents do not count."""
    text = unicodedata.normalize("NFKC", text)
    kept = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return kept.casefold()
