"""The charts as one SVG document: it stands alone, follows the reader's theme, and says in words what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from passdown.redact.neutralise import one_line
from passdown.usage.charts import NAMES, PARTS, Charts, short
from passdown.usage.growth import thinned

_WIDTH, _LEFT, _RIGHT = 720, 64, 16
_PLOT = _WIDTH - _LEFT - _RIGHT
_POINTS = 328

_STYLE = """
svg { color-scheme: light dark; background: #ffffff; font: 13px system-ui, sans-serif; }
text { fill: #1f2328; } .dim { fill: #59636e; font-size: 11px; } .head { font-size: 15px; font-weight: 600; }
.axis { stroke: #8c959f; fill: none; } .grid { stroke: #d1d9e0; fill: none; } .area { fill: #0072b2; }
.cache_read { fill: #56b4e9; } .cache_write { fill: #0072b2; } .input { fill: #e69f00; } .output { fill: #6f4e37; }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; } text { fill: #f0f6fc; } .dim { fill: #9198a1; } .axis { stroke: #9198a1; }
.grid { stroke: #3d444d; } .area { fill: #56b4e9; } .output { fill: #d3a588; } .cache_write { fill: #3f8fd0; }
}"""


def svg_charts(charts: Charts) -> str:
    """Return the document. It holds no script, loads nothing, and tells its numbers in its description too."""
    body: list[str] = []
    top = 56
    for block in (_context, _days, _split):
        lines = list(block(charts, top))
        if lines:
            top = int(lines.pop())
            body += lines
    size = f'viewBox="0 0 {_WIDTH} {top}" width="{_WIDTH}" height="{top}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        f'<title id="title">{_text(charts.title)}</title>', f'<desc id="desc">{_text(description(charts))}</desc>',
        f"<style>{_STYLE}</style>", f'<text class="head" x="16" y="28">{_text(charts.title)}</text>',
    ]  # fmt: skip
    return "\n".join([*head, *body, "</svg>", ""])


def description(charts: Charts) -> str:
    """Return in words what the charts show."""
    totals = charts.totals
    said = [f"{totals.tokens:,} tokens in {totals.calls:,} calls: " + ", ".join(
        f"{getattr(totals, part):,} {NAMES[part]}" for part in PARTS) + "."]  # fmt: skip
    if charts.contexts:
        said.append(
            f"Context from {charts.contexts[0]:,} tokens at first, {max(charts.contexts):,} at its largest, "
            f"{charts.contexts[-1]:,} at last, over {charts.calls:,} calls."
        )
    if days := charts.shown_days:
        name, most = max(days, key=lambda day: day[1].tokens)
        among = "All on" if len(days) == 1 else f"{len(days)} days from {days[0][0]} to {days[-1][0]}, most on"
        said.append(f"{among} {name}: {most.tokens:,}.")
    return " ".join(said)


def _context(charts: Charts, top: int) -> Iterator[str]:
    points = thinned(charts.contexts, _POINTS)
    largest = max(points, default=0)
    if not largest:
        return
    height, base = 140, top + 160
    yield f'<text x="16" y="{top}">Context per call</text>'
    yield from _scale(base, height, largest)
    step = _PLOT / len(points)
    path = "".join(
        f"V{_number(base - height * point / largest)}H{_number(_LEFT + (at + 1) * step)}"
        for at, point in enumerate(points)
    )
    yield f'<path class="area" d="M{_LEFT} {base}{path}V{base}Z"/>'
    yield f'<path class="axis" d="M{_LEFT} {base}H{_WIDTH - _RIGHT}"/>'
    yield f'<text class="dim" x="{_LEFT}" y="{base + 16}">1</text>'
    yield f'<text class="dim" x="{_WIDTH - _RIGHT}" y="{base + 16}" text-anchor="end">call {charts.calls}</text>'
    yield str(base + 56)


def _days(charts: Charts, top: int) -> Iterator[str]:
    days = charts.shown_days
    largest = max((totals.tokens for _, totals in days), default=0)
    if not largest:
        return
    height, base = 140, top + 160
    yield f'<text x="16" y="{top}">Tokens per day (UTC)</text>'
    yield from _scale(base, height, largest)
    step = _PLOT / len(days)
    wide = min(40.0, step * 0.8)
    for at, (day, totals) in enumerate(days):
        x, y = _LEFT + at * step + (step - wide) / 2, float(base)
        yield f"<g><title>{_text(day)}: {totals.tokens:,} tokens</title>"
        for part in PARTS:
            tall = height * getattr(totals, part) / largest
            y -= tall
            if tall >= 0.05:
                yield (
                    f'<rect class="{part}" x="{_number(x)}" y="{_number(y)}" width="{_number(wide)}" '
                    f'height="{_number(tall)}"/>'
                )
        yield "</g>"
    yield f'<path class="axis" d="M{_LEFT} {base}H{_WIDTH - _RIGHT}"/>'
    yield f'<text class="dim" x="{_LEFT}" y="{base + 16}">{_text(days[0][0])}</text>'
    if len(days) > 1:
        yield f'<text class="dim" x="{_WIDTH - _RIGHT}" y="{base + 16}" text-anchor="end">{_text(days[-1][0])}</text>'
    yield str(base + 56)


def _split(charts: Charts, top: int) -> Iterator[str]:
    totals = charts.totals
    if not totals.tokens:
        return
    yield f'<text x="16" y="{top}">Where the tokens went</text>'
    x, wide = 16.0, _WIDTH - 32
    for part in PARTS:
        length = wide * getattr(totals, part) / totals.tokens
        if length >= 0.05:
            yield f'<rect class="{part}" x="{_number(x)}" y="{top + 14}" width="{_number(length)}" height="24"/>'
        x += length
    for at, part in enumerate(PARTS):
        count, x_of = getattr(totals, part), 16 + at * (_WIDTH - 32) // 4
        yield f'<rect class="{part}" x="{x_of}" y="{top + 54}" width="12" height="12"/>'
        yield f'<text x="{x_of + 18}" y="{top + 64}">{NAMES[part]}</text>'
        share = f"{short(count)}, {100 * count / totals.tokens:.1f} %"
        yield f'<text class="dim" x="{x_of + 18}" y="{top + 80}">{share}</text>'
    yield str(top + 104)


def _scale(base: int, height: int, largest: int) -> Iterator[str]:
    for part, value in ((1.0, largest), (0.5, largest // 2)):
        y = base - height * part
        yield f'<path class="grid" d="M{_LEFT} {_number(y)}H{_WIDTH - _RIGHT}"/>'
        yield f'<text class="dim" x="{_LEFT - 6}" y="{_number(y + 4)}" text-anchor="end">{short(value)}</text>'


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    return escape(one_line(text, 400))
