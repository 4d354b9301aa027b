"""Charts of what sessions cost, as plain text for any terminal: told apart by their filling, never by colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from passdown.usage.growth import thinned
from passdown.usage.totals import Totals

NARROWEST, WIDEST = 34, 120
MOST_DAYS = 31
"""Days that are drawn, the last ones."""

PARTS = ("cache_read", "cache_write", "input", "output")
NAMES = {"cache_read": "read from cache", "cache_write": "written to it", "input": "fresh", "output": "output"}

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_FILLS = {"cache_read": "░", "cache_write": "▒", "input": "▓", "output": "█"}
_ROWS = 6
_AXIS = 7


class Charts(Struct, frozen=True, kw_only=True):
    """What is drawn: the main agent's prompts call by call (of one session), the sums of each day, and of all."""

    title: str
    contexts: tuple[int, ...] = ()
    calls: int = 0
    days: tuple[tuple[str, Totals], ...] = ()
    totals: Totals = Totals()

    @property
    def shown_days(self) -> tuple[tuple[str, Totals], ...]:
        """The last days, those without a date left out."""
        return tuple(day for day in self.days if day[0][:1].isdigit())[-MOST_DAYS:]


def short(count: int) -> str:
    """Write a number of tokens in at most six characters: 940, 12.3k, 19.9M, 1.25G."""
    for unit, scale in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= 9_995 * scale // 10_000 and count >= 10_000:
            value = count / scale
            return (
                f"{value:.2f}{unit}"
                if value < 9.995
                else f"{value:.1f}{unit}"
                if value < 99.95
                else f"{value:.0f}{unit}"
            )
    return str(count)


def text_charts(charts: Charts, width: int) -> Iterator[str]:
    """Yield the lines of all charts there is something for, none longer than `width`."""
    width = max(NARROWEST, min(WIDEST, width))
    blocks = (_context(charts, width), _days(charts, width), _split(charts.totals, width))
    first = True
    for block in blocks:
        lines = list(block)
        if lines and not first:
            yield ""
        first = first and not lines
        yield from lines


def _context(charts: Charts, width: int) -> Iterator[str]:
    points = thinned(charts.contexts, width - _AXIS - 2)
    largest = max(points, default=0)
    if not largest:
        return
    yield "context per call"
    for row in range(_ROWS, 0, -1):
        label = short(largest) if row == _ROWS else short(largest // 2) if row == _ROWS // 2 else ""
        # The row of half the height has its label at its upper edge.
        bars = "".join(_EIGHTHS[max(0, min(8, 8 * _ROWS * point // largest - 8 * (row - 1)))] for point in points)
        yield f"{label:>{_AXIS}} │{bars}".rstrip()
    last = f"call {charts.calls}" if charts.calls > 1 else ""
    yield f"{'0':>{_AXIS}} └{'─' * len(points)}"
    yield f"{'':{_AXIS}}  1{last:>{max(0, len(points) - 1)}}".rstrip()


def _days(charts: Charts, width: int) -> Iterator[str]:
    days = charts.shown_days
    largest = max((totals.tokens for _, totals in days), default=0)
    if not largest:
        return
    yield "tokens per day (UTC)"
    room = width - 10 - 1 - 1 - _AXIS
    for day, totals in days:
        bar = _bar(totals, max(1, -(-room * totals.tokens // largest)) if totals.tokens else 0)
        yield f"{day} {bar:{room}} {short(totals.tokens):>{_AXIS}}"
    left = len(charts.days) - len(days)
    if left:
        yield f"and {left} day{'' if left == 1 else 's'} before or without a date"


def _split(totals: Totals, width: int) -> Iterator[str]:
    if not totals.tokens:
        return
    yield "where the tokens went"
    yield _bar(totals, width)
    names = max(map(len, NAMES.values()))
    for part in PARTS:
        count = getattr(totals, part)
        share = f"{100 * count / totals.tokens:.1f} %"
        yield f"{_FILLS[part]} {NAMES[part]:{names}} {short(count):>{_AXIS}} {share:>8}"


def _bar(totals: Totals, length: int) -> str:
    """Return a bar of so many characters in which each part has its share, what is there at least one where it fits."""
    counts = [getattr(totals, part) for part in PARTS]
    return "".join(
        _FILLS[part] * cells for part, cells in zip(PARTS, shares(counts, length), strict=True)
    )  # fmt: skip


def shares(counts: Sequence[int], length: int) -> list[int]:
    """Return how many of `length` cells each count has: by largest remainder, one at least while there is room."""
    whole = sum(counts)
    if not whole or length <= 0:
        return [0] * len(counts)
    cells = [length * count // whole for count in counts]
    rest = sorted(range(len(counts)), key=lambda at: (-(length * counts[at] % whole), at))
    for at in rest[: length - sum(cells)]:
        cells[at] += 1
    for at, count in enumerate(counts):
        widest = max(range(len(cells)), key=lambda index: cells[index])
        if count and not cells[at] and cells[widest] > 1:
            cells[at], cells[widest] = 1, cells[widest] - 1
    return cells
