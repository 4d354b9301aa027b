"""`passdown usage`: what sessions cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from passdown.cli.output import follow, print_findings, print_json, print_table, terminal_width
from passdown.redact.neutralise import one_line

if TYPE_CHECKING:
    from passdown.usage.totals import By

HEADER = ("calls", "fresh", "cache read", "cache write", "output", "hit")
_BARS = "▁▂▃▄▅▆▇█"
_SECTIONS = {"human_words": "messages of people", "decisions": "decisions", "failed_attempts": "failed attempts",
             "tests": "test results"}  # fmt: skip
_WAYS = ["agent", "model", "day", "subagent", "tool", "session"]


@click.command()
@click.option("--session", default="", metavar="ID|FILE", help="One session, with its subagents: its growth, what "
              "filled its context, and when a fresh one would have paid.")  # fmt: skip
@click.option("--chain", is_flag=True, help="The sessions that the active packet and those before it were made of.")
@click.option("--all", "everywhere", is_flag=True, help="The sessions of every repository on this machine.")
@click.option("--agent", default="", metavar="NAME", help="Only this agent's sessions.")
@click.option("--since", default="", metavar="WHEN", help="Only calls from then on: 3d, 12h, 2026-11-20.")
@click.option("--until", default="", metavar="WHEN", help="Only calls before then.")
@click.option("--by", type=click.Choice(_WAYS), help="A row for each agent, model, day, …")
@click.option("--cost", is_flag=True, help="What it cost at list price, by the day of each call (needs the extra "
              "`usage`); subscriptions pay otherwise.")  # fmt: skip
@click.option("--chart", is_flag=True, help="Draw it, too: tokens by day, the cache's part, and one session's context "
              "over its calls.")  # fmt: skip
@click.option("--svg", default="", metavar="FILE", type=click.Path(dir_okay=False), help="Write these charts to an SVG "
              "file.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows of --by (of each session without it) as CSV.")
@click.pass_obj
def usage(
    folder: str,
    session: str,
    chain: bool,
    everywhere: bool,
    agent: str,
    since: str,
    until: str,
    by: Any,
    cost: bool,
    chart: bool,
    svg: str,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Count what the sessions of this repository cost, in tokens, as their own logs say.

    Each response of a model counts once, whatever its log repeats; fresh input, input read from and written to a cache
    and output stand apart, whatever the vendor calls them; a log that contradicts itself is left out and told of. What
    a log does not say is not counted as zero.

    \b
    passdown usage --session ID     one session: how its context grew, and what it would have taken instead
    passdown usage --since 7d --by model
    passdown usage --chain          all sessions that led to the active packet
    """
    if sum((bool(session), chain, everywhere)) > 1:
        raise click.UsageError("--session, --chain and --all are three different questions")
    from passdown.cli.sessions import index_progress
    from passdown.handoff.costs.question import Question, read_usage
    from passdown.handoff.costs.report import report

    way: By | None = by or ("session" if as_csv else None)
    asked = Question(
        session=session, agent=agent, chain=chain, everywhere=everywhere, since=since, until=until, by=way, cost=cost,
    )  # fmt: skip
    with index_progress() as progress:
        found = read_usage(Path(folder), asked, lambda refs: follow(refs, "reading sessions"), progress=progress)
    for note in found.notes:
        click.echo(f"note   {one_line(note, 200)}", err=True)
    if svg:
        from passdown.handoff.costs.chart import write_svg

        write_svg(found, Path(svg))
        click.echo(f"wrote {svg}", err=True)
    told = report(found)
    if as_json:
        print_json(told)
        return
    print_findings(found.findings)
    if as_csv:
        _print_csv(told.get("rows", []), way or "session")
    elif by:
        print_table((by, *HEADER), [_row(row) for row in told.get("rows", [])])
    else:
        for line in _lines(told):
            click.echo(line)
    if chart and not as_csv:
        from passdown.handoff.costs.chart import chart_lines

        for line in ("", *chart_lines(found, terminal_width("stdout") or 80)):
            click.echo(line)


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    names = ("input", "cache_read", "cache_write", "output")
    return (row["key"], str(row["calls"]), *(tokens(row[name]) for name in names), percent(row["hit_rate"]))


def _print_csv(rows: Sequence[dict[str, Any]], way: str) -> None:
    import csv
    import io

    text = io.StringIO()
    names = ("calls", "input", "cache_read", "cache_write", "output", "reasoning", "all_input", "hit_rate")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((way, *names))
    for row in rows:
        # A spreadsheet would run a name that begins like a formula.
        key = f"'{row['key']}" if row["key"].startswith(("=", "+", "-", "@")) else row["key"]
        writer.writerow((key, *("" if row[name] is None else row[name] for name in names)))
    click.echo(text.getvalue(), nl=False)


def tokens(count: int | None) -> str:
    """Write a number of tokens shortly: 940, 12.3k, 19.86M; `-` for one that nobody measured."""
    if count is None:
        return "-"
    if count >= 10**6:
        return f"{count / 10**6:.2f}M"
    return f"{count / 1000:.1f}k" if count >= 10**4 else str(count)


def sparkline(series: Sequence[int], width: int) -> str:
    """Draw a series in one line of at most so many characters, from nothing to its largest."""
    from passdown.usage.growth import thinned

    points = thinned(series, max(1, width))
    largest = max(points, default=0)
    return "".join(_BARS[min(7, 8 * point // largest)] if largest else _BARS[0] for point in points)


def percent(rate: float | None) -> str:
    """Write a rate as 90.7 %."""
    return "-" if rate is None else f"{100 * rate:.1f} %"


def _lines(told: dict[str, Any]) -> Iterator[str]:
    sums, sub = told["totals"], told["subagents"]
    many = told["sessions"]
    yield f"{many} session{'' if many == 1 else 's'}, {told['turns']} turns, {told['tool_calls']} tool calls"
    if not sums["calls"]:
        yield "no tokens are told of there: not by these logs, or not of this time"
        return
    if sums["all_input"] is None:
        yield "input   not in the log"
    else:
        yield (
            f"input   {tokens(sums['all_input'])}: {tokens(sums['input'])} fresh, {tokens(sums['cache_read'])} read "
            f"from cache, {tokens(sums['cache_write'])} written to it"
        )
    reasoning = f", of that {tokens(sums['reasoning'])} reasoning" if sums["reasoning"] else ""
    yield f"output  {tokens(sums['output'])}{reasoning}"
    if sums["hit_rate"] is not None:
        yield f"hit     {percent(sums['hit_rate'])} = {told['convention']}"
    if sub["all_input"]:
        share = (sub["all_input"] + sub["output"]) / max(1, sums["all_input"] + sums["output"])
        yield f"subagents {sub['calls']} calls, {tokens(sub['all_input'])} input: {percent(share)} of all tokens"
    if "nested" in told:
        yield _nested(told["nested"])
    if "cost" in told:
        yield from _cost(told["cost"])
    if told["unmeasured_calls"] and sums["all_input"] is not None:
        yield f"{told['unmeasured_calls']} of the calls have no input in their log: these sums are without it"
    if told["copied_calls"]:
        yield f"{told['copied_calls']} calls copied from another session are not counted again"
    if told["compactions"]:
        yield f"compacted {told['compactions']} time{'' if told['compactions'] == 1 else 's'}{_shortened(told)}"
    for one in told.get("summaries", []):
        yield from _summary(one)
    if "growth" in told:
        yield from _growth(told)


def _summary(one: dict[str, Any]) -> Iterator[str]:
    name = f"summary {one['number']}"
    if not one["readable"]:
        yield f"  {name} is not told by the log"
        return
    if not one["facts"]:
        return
    lost = [part for part in one["sections"] if part["lost"]]
    parts = ", ".join(f"{part['lost']} of {part['facts']} {_SECTIONS[part['section']]}" for part in lost)
    held = f"  {name} holds {one['facts'] - one['lost']} of the {one['facts']} facts that a packet keeps"
    yield f"{held}; lost: {parts}" if lost else held
    for part in lost:
        yield f"    {part['examples'][0]}"


def _cost(cost: dict[str, Any]) -> Iterator[str]:
    yield f"cost    ${float(cost['usd']):,.2f} at list price for {cost['calls']} calls ({cost['prices']})"
    for name, times in list(cost["calls_without_price"].items())[:5]:
        yield f"  no price is known for {name}: {times} calls are not in it"


def _nested(nested: dict[str, Any]) -> str:
    times, totals = len(nested["started"]), nested["totals"]
    often = f"agents started by the agent: {times}"
    if totals is None:
        return f"{often}, their sessions not found here: what they cost is not in these sums"
    return (
        f"{often}, {len(nested['sessions'])} of their sessions found: {tokens(totals['all_input'])} input in "
        f"{totals['calls']} calls, {percent(nested['share'])} of all tokens"
    )


def _shortened(told: dict[str, Any]) -> str:
    whole = [one for one in told.get("shortened", []) if not one.get("micro")]
    sizes = [
        f"{tokens(one.get('tokens_before'))} → {tokens(one.get('tokens_after') or one['next_prompt'])}"
        for one in whole[:8]
    ]
    return f": {', '.join(sizes)}" if sizes else ""


def _growth(told: dict[str, Any]) -> Iterator[str]:
    growth = told["growth"]
    if growth["first"]:
        yield (
            f"context {tokens(growth['first'])} at first, {tokens(growth['largest'])} at its largest, "
            f"{tokens(growth['last'])} at last"
        )
        yield f"  {sparkline(growth['series'], min(80, terminal_width('stdout') or 80) - 2)}"
    for jump in growth["jumps"]:
        step = jump["step"]
        after = f"after {step['tool']}: {step['words']}" if step else "with no tool call before it"
        yield f"  jump  {tokens(jump['before'])} → {tokens(jump['after'])} at call {jump['call']}, {after}".rstrip(": ")
    filled = sorted(_filled(told["filled"]), key=lambda item: -item[1])
    if whole := sum(size for _, size in filled):
        shown = [f"{name} {percent(size / whole)}" for name, size in filled[:5] if size]
        yield f"filled  {', '.join(shown)} (of {tokens(whole)} characters)"
    for again in told["filled"].get("repeats", [])[:3]:
        yield f"  read {again['times']} times: {again['path']} ({tokens(again['size'])} characters more than once)"
    if even := growth["break_even"]:
        yield (
            f"fresh   a new session after call {even['after_call']} would have taken {tokens(even['instead'])} instead "
            f"of {tokens(even['actual'])} for the same calls; from {tokens(even['context'])} it pays after "
            f"{even['pays_after']} more calls, {even['pays_after_priced']} at the price of cached tokens"
        )


def _filled(filled: dict[str, Any]) -> Iterator[tuple[str, int]]:
    yield from filled.get("tools", {}).items()
    names = {"people": "people", "put_in": "put in by programs", "answers": "answers", "summaries": "summaries"}
    for name, shown in names.items():
        yield shown, filled.get(name, 0)
