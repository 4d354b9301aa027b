"""How many tests a runner's output says were left out."""

from __future__ import annotations

from passdown.model.pattern import lazy_pattern

MAX_READ = 20_000
"""Characters at the end of an output that are looked at."""

_COUNT = lazy_pattern(
    r"\b(\d+) (?:tests? )?(?:skipped|ignored|pending|todo|disabled|excluded)\b"
    r"|\b(?:[Ss]kipped|Ignored|todo)\b[:= ] {0,12}(\d+)\b"
)
_PYTEST = lazy_pattern(r"(?m)^=*\s*(?:\d+ [a-z]+(?:, )?)+ in [\d.]+s?.*$")


def skipped_in(text: str) -> int:
    """Return the number that the summary lines of an output name; 0 when they name none."""
    text = text[-MAX_READ:]
    if pytest := _PYTEST.findall(text):
        text = pytest[-1]
    return sum(int((found[1] or found[2])[:9]) for found in _COUNT.finditer(text))
