"""How alike two observations of the same command are, once what differs from one run to the next is left out."""

from __future__ import annotations

from difflib import SequenceMatcher

from passdown.evidence.output import bare_output
from passdown.evidence.reports import read_report
from passdown.model.pattern import lazy_pattern

ALIKE = 0.9
"""From here on two observations tell the same."""

_MOST = 4000
_STAMP = lazy_pattern(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +\d{1,2}"
    r"(?:,? +\d{4})?(?: +\d\d:\d\d(?::\d\d)?(?: \d{4})?)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
)
_TOOK = lazy_pattern(r"\b\d+(?:\.\d+)?\s?(?:ms|[µu]s|ns|s|secs?|seconds?|minutes?|min)\b|\b\d+m\d+(?:\.\d+)?s\b")
_ADDRESS = lazy_pattern(r"\b0x[0-9a-fA-F]{6,16}\b")
_PLACE = lazy_pattern(r"/(?:private/)?(?:tmp|var/folders/\w+/\w+/T|var/tmp)/[\w.+/-]*")
_LIBRARY = lazy_pattern(r"(?:/[^\s\"':/]+)*/lib/python3?(?:\.\d+)?/")
_ID = lazy_pattern(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_PROCESS = lazy_pattern(r"(?i)\b(pid|process|port)([ :=]+)\d{2,7}\b")
_WORD = lazy_pattern(r"\w+|[^\w\s]+")


def settled(text: str) -> str:
    """Return an observation without times, addresses, places for temporary files, and the ends of lines."""
    text = bare_output(text)
    for pattern, name in ((_ID, "<id>"), (_STAMP, "<time>"), (_TOOK, "<took>"), (_ADDRESS, "<address>"),
                          (_PLACE, "<place>"), (_LIBRARY, "<library>/")):  # fmt: skip
        text = pattern.sub(name, text)
    text = _PROCESS.sub(r"\1\2<number>", text)
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def likeness(recorded: str, now: str, *, ordered: bool = True) -> float:
    """Return how alike two observations are, from 0 to 1: twice the words in common by all words, in order.

    Of long ones the beginnings and the ends are compared. The lines of a walk through folders are not `ordered`: they
    come as the file system has them.
    """
    one, other = settled(recorded), settled(now)
    if not ordered:
        one, other = ("\n".join(sorted(text.split("\n"))) for text in (one, other))
    if one == other:
        return 1.0
    return SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio()


def same_tests(recorded: str, now: str) -> bool:
    """Say whether two outputs of a test runner tell of the same failures and the same number of tests.

    In a long output that is one word of many, and all that matters.
    """
    one, other = read_report(settled(recorded)), read_report(settled(now))
    return (one.ran, one.failed, set(one.failing)) == (other.ran, other.failed, set(other.failing))


def _words(text: str) -> list[str]:
    words: list[str] = _WORD.findall(text)
    return words if len(words) <= _MOST else [*words[: _MOST // 2], *words[-_MOST // 2 :]]
