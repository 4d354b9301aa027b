"""The charts, narrow and wide, and as SVG: golden files, made anew by `python tests/usage/test_charts.py`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.usage.charts import NARROWEST, Charts, shares, short, text_charts
from passdown.usage.svg import description, svg_charts
from passdown.usage.totals import Totals

GOLDENS = Path(__file__).parents[1] / "goldens" / "usage"
SVG = "{http://www.w3.org/2000/svg}"


def totals(scale: int) -> Totals:
    return Totals(
        calls=scale, input=1_000 * scale, cache_read=90_000 * scale, cache_write=5_000 * scale, output=700 * scale
    )  # fmt: skip


def session() -> Charts:
    """A session whose context grows, jumps, is compacted and grows again, over two days."""
    contexts = (*range(20_000, 60_000, 1_000), *range(300_000, 420_000, 3_000), *range(40_000, 90_000, 1_250))
    days = (("2026-10-01", totals(80)), ("2026-10-02", totals(40)))
    return Charts(title="Tokens of session 5f1c (codex)", contexts=contexts, calls=120, days=days, totals=totals(120))


def machine() -> Charts:
    """Forty days, some without anything, one without a date; no session alone."""
    days = [("(no time)", totals(1))]
    days += [(f"2026-{9 + day // 30:02}-{1 + day % 30:02}", totals(day * day % 37)) for day in range(40)]
    return Charts(title="Tokens of this machine", days=tuple(days), totals=totals(700))


CHARTS = {"session": session, "machine": machine}


def drawn() -> dict[str, str]:
    found = {}
    for name, charts in CHARTS.items():
        for width in (40, 120):
            found[f"{name}-{width}.txt"] = "\n".join(text_charts(charts(), width)) + "\n"
        found[f"{name}.svg"] = svg_charts(charts())
    return found


@pytest.mark.parametrize("name", sorted(drawn()))
def test_the_goldens(name: str) -> None:
    assert drawn()[name] == (GOLDENS / name).read_text("utf-8")


@given(
    st.lists(st.integers(0, 3_000_000), max_size=500), st.lists(st.integers(0, 10**11), min_size=4, max_size=4),
    st.integers(1, 200),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_no_line_is_too_long_and_every_document_is_well_formed(
    contexts: list[int], counts: list[int], width: int
) -> None:
    fresh, read, written, output = counts
    whole = Totals(calls=len(contexts), input=fresh, cache_read=read, cache_write=written, output=output)
    charts = Charts(
        title='<b>"&\x1b[2J', contexts=tuple(contexts), calls=len(contexts), days=(("2026-10-01", whole),), totals=whole
    )  # fmt: skip
    assert all(len(line) <= max(width, NARROWEST) for line in text_charts(charts, width))
    root = ElementTree.fromstring(svg_charts(charts))
    assert [root[0].tag, root[1].tag] == [f"{SVG}title", f"{SVG}desc"]
    assert root[1].text == description(charts)
    inside = [node for node in root.iter(f"{SVG}rect") if float(node.attrib["x"]) + float(node.attrib["width"]) > 720]
    assert inside == []


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=6), st.integers(0, 130))
def test_shares_fill_the_bar_and_hide_nothing(counts: list[int], length: int) -> None:
    cells = shares(counts, length)
    assert sum(cells) == (length if sum(counts) else 0)
    if length >= len(counts):
        assert all(bool(count) <= bool(cell) for count, cell in zip(counts, cells, strict=True) if sum(counts))


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (9_999, "9999"), (10_000, "10.0k"), (99_949, "99.9k"), (99_951, "100k"), (999_400, "999k"),
     (999_600, "1.00M"), (19_860_000, "19.9M"), (1_250_000_000, "1.25G")],
)  # fmt: skip
def test_short_numbers(count: int, shown: str) -> None:
    assert short(count) == shown


def test_the_document_stands_alone() -> None:
    text = svg_charts(session())
    assert 'role="img"' in text and 'aria-labelledby="title desc"' in text
    assert "prefers-color-scheme: dark" in text
    for word in ("<script", "href", "url(", "@import", "<image", "<foreignObject"):
        assert word not in text
    assert text.count("http") == 1, "the namespace alone"


Call = Callable[..., subprocess.CompletedProcess[bytes]]


def test_the_command_draws_and_writes(passdown: Call, claude_session: Any, tmp_path: Path) -> None:
    session = claude_session(Path("/gone/project"))
    session.human("Begin.")
    for number in range(4):
        session.says(f"Answer {number}.")
    done = passdown(
        "usage", "--session", str(session.path), "--chart", "--svg", str(tmp_path / "u.svg"), folder=tmp_path
    )
    shown = done.stdout.decode()
    assert "context per call" in shown and "tokens per day (UTC)" in shown and "where the tokens went" in shown
    assert all(len(line) <= 80 for line in shown.partition("context per call")[2].splitlines())
    assert ElementTree.parse(tmp_path / "u.svg").getroot().tag == f"{SVG}svg"
    target = tmp_path / "else.svg"
    (tmp_path / "link.svg").symlink_to(target)
    refused = passdown("usage", "--session", str(session.path), "--svg", str(tmp_path / "link.svg"), folder=tmp_path)
    assert refused.returncode == 8 and not target.exists()
    told = passdown("usage", "--all", "--json", "--chart", folder=tmp_path)
    assert json.loads(told.stdout)["totals"]["calls"] == 4


if __name__ == "__main__":
    GOLDENS.mkdir(exist_ok=True)
    for name, text in drawn().items():
        (GOLDENS / name).write_text(text, "utf-8")
