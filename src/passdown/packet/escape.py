"""Text put into Markdown so that it stays text: no heading, link, image, HTML, table or fence can come out of it."""

from __future__ import annotations

import re
from functools import lru_cache

from passdown.model.pattern import lazy_pattern
from passdown.redact.neutralise import neutralise, one_line

_PARTS = lazy_pattern(
    r"(?P<code>(?<![\\`])`[^`\n]+`(?!`))"
    r"|(?P<address>(?:(?:https?|ftp|file|mailto|javascript|data|vbscript|tel|xmpp):|[a-z][a-z0-9+.-]{0,20}://|www\.)"
    r"[^\s`<>]+)"
    r"|(?P<mention>[\w.+/-]*@[\w-][\w@/.-]*)"
    r"|(?P<issue>[\w./-]*#\d+|\bGH-\d+)",
    re.IGNORECASE,
)
_MARKS = (
    "`", "@", "#", "://", "http:", "https:", "ftp:", "file:", "mailto:", "javascript:", "data:", "vbscript:", "tel:",
    "xmpp:", "www.", "gh-",
)  # fmt: skip
"""What `_PARTS` finds holds one of these, in small letters: most lines hold none, and the search is dear."""
_OPENING = lazy_pattern(r"(?:[#>+=|~:-]|\d{1,9}(?=[.)]))")
_TICKS = lazy_pattern("`+")
_MAYBE = lazy_pattern(r"[*`\[\]|\\<&_~$]")
"""What `_active` has to look at; no other character is."""
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@lru_cache(maxsize=512)
def inline(text: str, cap: int = 300) -> str:
    """Return one line of Markdown that reads as the text. Code spans that are complete stay code.

    Addresses, mentions and issue numbers become code, so that no renderer makes a link of them.
    """
    line = one_line(text, cap)
    small = line.lower()
    if line.isascii() and not any(mark in small for mark in _MARKS):
        return _plain(line, at_start=True)
    parts: list[str] = []
    position = 0
    for match in _PARTS.finditer(line):
        shown = _part(match)
        if shown is not None:
            between = line[position : match.start()]
            gap = " " if position and not between else ""
            parts += [gap, _plain(between, at_start=not position), shown]
            position = match.end()
    parts.append(_plain(line[position:], at_start=not position))
    return "".join(parts)


def _part(match: re.Match[str]) -> str | None:
    if match["code"] is not None:
        return code(match["code"][1:-1]) if match["code"].strip("` ") else None
    return code(match.group())


def code(text: str, cap: int = 512) -> str:
    """Return the text as a code span whose fence is longer than any run of backticks inside."""
    line = one_line(text, cap)
    if not line:
        return ""
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(text: str) -> list[str]:
    """Return the text as the lines of a fenced block whose fence is longer than any run of backticks inside."""
    body = neutralise(text).strip("\n")
    fence = "`" * max(3, _longest_run(body) + 1)
    return [f"{fence}text", *body.split("\n"), fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _plain(text: str, *, at_start: bool) -> str:
    out: list[str] = []
    if at_start and (opening := _OPENING.match(text)):
        marker = opening.group()
        out.append(f"{marker}\\{text[len(marker)]}" if marker[0].isdigit() else f"\\{marker}")
        text = text[len(marker) + marker[0].isdigit() :]
    position = 0
    for match in _MAYBE.finditer(text):
        at = match.start()
        if _active(text[at], text[at - 1 : at], text[at + 1 : at + 2]):
            out += [text[position:at], "\\"]
            position = at
    return "".join([*out, text[position:]])


def _active(character: str, before: str, after: str) -> bool:
    """Say whether a character could be read as Markdown where it stands."""
    if character in "*`[]|":
        return True
    if character == "\\":
        return not after or after in _PUNCTUATION
    if character == "<":
        return not after or after.isalpha() or after in "/!?"
    if character == "&":
        return not after or after.isalnum() or after == "#"
    if character == "_":
        return not (before.isalnum() and after.isalnum())
    if character in "~$":
        return after == character or before == character
    return False
