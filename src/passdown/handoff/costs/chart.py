"""The charts of what `passdown usage` read: as lines for a terminal, or as an SVG file."""

from __future__ import annotations

from pathlib import Path

from passdown.handoff.costs.reading import Usage
from passdown.io.files import write_files
from passdown.redact.neutralise import one_line
from passdown.usage.charts import Charts, text_charts
from passdown.usage.svg import svg_charts

_OF = {"all": "of this machine", "chain": "of this chain of handoffs", "repository": "of this repository"}


def charts_of(usage: Usage) -> Charts:
    """Return what there is to be drawn."""
    one = usage.one
    if one is not None:
        title = f"Tokens of session {one_line(one.account.session_id, 60)} ({one.account.agent})"
    else:
        title = f"Tokens {_OF[usage.scope]}: {usage.sessions} session{'' if usage.sessions == 1 else 's'}"
    contexts = tuple(call.context for call in one.account.main) if one is not None else ()
    return Charts(
        title=title, contexts=contexts, calls=len(contexts), days=tuple(usage.days.items()), totals=usage.totals
    )  # fmt: skip


def chart_lines(usage: Usage, width: int) -> list[str]:
    """Return the charts as plain text, no line longer than `width`."""
    return list(text_charts(charts_of(usage), width))


def write_svg(usage: Usage, path: Path) -> None:
    """Write the charts as an SVG file. Raises `UnsafeError` where it would go through a link or to no plain file."""
    write_files([(path, svg_charts(charts_of(usage)).encode())])
