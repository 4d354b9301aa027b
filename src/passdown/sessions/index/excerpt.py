"""A line of a text around the words that were looked for."""

from __future__ import annotations

from passdown.redact.neutralise import one_line
from passdown.sessions.index.words import plain, terms

BEFORE, LENGTH = 40, 140


def excerpt(text: str, asked: str) -> str:
    """Return one line of `text` that holds the first of the words asked for, as far as it can be made out."""
    line = one_line(text, 8000)
    folded = plain(line)
    at = min((found for word in terms(asked) if (found := folded.find(word)) >= 0), default=0)
    # Folding may change the length; for where to begin that is near enough.
    start = max(0, at - BEFORE)
    if start:
        space = line.find(" ", start, at)
        start = space + 1 if space >= 0 else start
    shown = line[start : start + LENGTH]
    return f"{'…' if start else ''}{shown}{'…' if start + LENGTH < len(line) else ''}"
