"""Text made harmless to look at: nothing in it moves the cursor, hides itself or reorders its neighbours.

The rules, in order:

- terminal sequences (CSI, OSC, DCS, APC, PM, SOS, two-character escapes; 7 and 8 bit) go away, with their payload when
  they are terminated within 4,096 characters of one line, without it otherwise, so that an open one hides nothing;
- a carriage return, alone or before a line feed, becomes a line feed; vertical tab, form feed, next line, line
  separator and paragraph separator become a space; every other control but line feed and tab goes away;
- lone surrogates and noncharacters become U+FFFD;
- direction marks, overrides and isolates go away, and so does every other character that draws nothing (zero-width
  spaces and joiners, soft hyphen, invisible operators, fillers, variation selectors, tags, annotation and shorthand
  marks), except where it shapes what is seen: a joiner between two emoji, or a joiner or non-joiner between two letters
  of a script that needs it (Arabic, Syriac, N'Ko, Mongolian and the scripts of South and South-East Asia), and one
  text or emoji selector after a symbol (after a digit in a keycap).
"""

from __future__ import annotations

import re
from functools import lru_cache

from passdown.model.pattern import lazy_pattern

_STRING_END = r"(?:\x1b\\|\x07|\x9c)"
_SEQUENCE = lazy_pattern(
    rf"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{{0,4096}}{_STRING_END}"
    rf"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]{{0,4096}}{_STRING_END}"
    r"|(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]?"
    r"|\x1b[ -/]{0,16}[0-Z\\^-~]?"
)
_SYMBOL = r"©®‼⁉™ℹ↔-⇿⌀-⏿Ⓜ▀-◿☀-➿⤀-⥿⬀-⯿〰〽㊗㊙\U0001F000-\U0001FAFF"
_JOINING = (
    r"\u0600-\u08FF\u0900-\u0DFF\u0E00-\u0FFF\u1000-\u109F\u1780-\u17B3\u17B6-\u17FF\u1820-\u18AF\u1900-\u1AFF"
    r"\u1B00-\u1BFF\u1C00-\u1C4F\uA800-\uA82F\uA840-\uA87F\uA8E0-\uA9DF\uAA00-\uAA7F\uABC0-\uABFF\uFB50-\uFDCF"
    r"\uFDF0-\uFDFF\uFE70-\uFEFC\U00010A00-\U00010A5F\U00011000-\U000116CF"
)
_UNSEEN = lazy_pattern(
    rf"(?:(?<=[{_SYMBOL}])|(?<=[{_SYMBOL}]\uFE0F))\u200D(?=[{_SYMBOL}])"  # the first four lines are what stays
    rf"|(?<=[{_JOINING}])[\u200C\u200D](?=[{_JOINING}])"
    rf"|(?<=[{_SYMBOL}])[\uFE0E\uFE0F]"
    r"|(?<=[#*0-9])\uFE0F(?=\u20E3)"
    r"|(?P<space>[\x0B\x0C\x85\u2028\u2029])"
    r"|(?P<broken>[\uD800-\uDFFF\uFDD0-\uFDEF\uFFFE\uFFFF])"
    r"|(?P<gone>[\x00-\x08\x0E-\x1F\x7F-\x84\x86-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F"
    r"\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U0001107F\U00013430-\U0001345F"
    r"\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF])"
)
_LOOSE_END = " \u200c\u200d"
_PRINTABLE_BUT_UNSEEN = (
    ("\u034f", "\u034f"), ("\u115f", "\u1160"), ("\u17b4", "\u17b5"), ("\u180b", "\u180f"), ("\u3164", "\u3164"),
    ("\ufe00", "\ufe0f"), ("\uffa0", "\uffa0"), ("\U0001107f", "\U0001107f"), ("\U00013430", "\U0001345f"),
    ("\U000e0000", "\U000e0fff"),
)  # fmt: skip
"""First and last of each range. An expression for them takes longer to make than most runs have use for it."""


def neutralise(text: str) -> str:
    """Return the text without terminal sequences, controls (but line feed and tab) and invisible characters.

    Visible characters are never changed; doing it twice changes nothing.
    """
    return text if _is_plain(text) else _cleaned(text)


def _is_plain(text: str) -> bool:
    """Say at little cost that there is nothing to do; the tables behind `_cleaned` are dear to build."""
    if not text.isprintable() and not text.replace("\n", "").replace("\t", "").isprintable():
        return False
    return text.isascii() or not any(map(_draws_nothing, set(text)))


@lru_cache(maxsize=4096)
def _draws_nothing(character: str) -> bool:
    return any(first <= character <= last for first, last in _PRINTABLE_BUT_UNSEEN)


def _cleaned(text: str) -> str:
    text = _SEQUENCE.sub("", text)
    return _UNSEEN.sub(_unseen, text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, cap: int) -> str:
    """Return the text on one line, whitespace collapsed, at most `cap` characters, the last one `…` when cut."""
    line = " ".join(neutralise(text).split())
    if len(line) <= cap:
        return line
    return f"{line[: cap - 1].rstrip(_LOOSE_END)}…" if cap > 0 else ""


def _unseen(found: re.Match[str]) -> str:
    if found["space"]:
        return " "
    if found["broken"]:
        return "\ufffd"
    return "" if found["gone"] else found.group()
