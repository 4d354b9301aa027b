"""Text that no model can foretell: times, addresses, hashes, process numbers. To train on it is to train on noise."""

from __future__ import annotations

import re

from passdown.model.pattern import lazy_pattern

CLASSES = {
    "uuid": r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
    "date": r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[ ]?[+-]\d\d:?\d\d)?)?(?!\d)",
    "listing": r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) [ \d]\d (?:\d\d:\d\d(?::\d\d)?|[ ]?\d{4})\b",
    "clock": r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?\b",
    "duration": r"(?<![\w.])\d{1,9}(?:\.\d{1,9})? ?(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?)\b",
    "address": r"\b0x[0-9a-f]{4,16}\b",
    "hash": r"\b(?=[a-f]{0,63}\d)(?=\d{0,63}[a-f])[0-9a-f]{7,64}\b",
    "process": r"\b(?:pid|process)(?: id)?[ =:]{1,2}\d{1,9}\b",
    "port": r"\b(?:127\.0\.0\.1|0\.0\.0\.0|localhost):\d{2,5}\b",
    "temporary": r"/(?:tmp|var/folders)/(?:tmp|pytest-of-|pip-|[\w.-]{0,40}\.)[\w./-]{1,120}",
}
"""Class → expression; letters of either case."""
_ANY = lazy_pattern("|".join(CLASSES.values()), re.IGNORECASE)


def volatile_spans(text: str) -> list[tuple[int, int]]:
    """Return where volatile text stands, as (start, stop), in order and without overlap."""
    return [found.span() for found in _ANY.finditer(text)]
