"""Jumps of a context, and the fresh session that would have paid: made series whose best point is known."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.cli.usage import sparkline
from passdown.model.session import Compaction, ToolCall, ToolResult, Usage, UserMessage
from passdown.usage.calls import Account, read_account
from passdown.usage.growth import PACKET, break_even, growth_of, thinned


def account(contexts: list[int], tools: dict[int, list[tuple[str, int]]] | None = None) -> Account:
    """A session of so many contexts; `tools` are the calls, with the sizes of their results, of an answer."""
    events: list[object] = []
    for number, context in enumerate(contexts):
        events.append(Usage(response_id=f"r{number}", context=context, input=context, offset=number))
        for index, (tool, size) in enumerate((tools or {}).get(number, [])):
            key = f"t{number}.{index}"
            events.append(
                ToolCall(call_id=key, tool=tool, action="run", command=f"{tool} it", response_id=f"r{number}")
            )
            events.append(ToolResult(call_id=key, outcome="ok", text="x" * size))
    return read_account(events)  # type: ignore[arg-type]


def test_jumps_name_the_tool_call_that_brought_most() -> None:
    tools = {1: [("grep", 10), ("cat", 5000), ("ls", 20)], 2: [("make", 1)]}
    growth = growth_of(account([30_000, 31_000, 90_000, 92_000, 250_000], tools))
    assert [(jump.call, jump.before, jump.after) for jump in growth.jumps] == [
        (3, 31_000, 90_000),
        (5, 92_000, 250_000),
    ]
    assert growth.jumps[0].step is not None
    assert (growth.jumps[0].step.tool, growth.jumps[0].step.size) == ("cat", 5000)
    assert growth.jumps[1].step is None
    assert (growth.first, growth.largest, growth.last) == (30_000, 250_000, 250_000)


def test_a_thinned_series_keeps_its_peaks() -> None:
    assert thinned([1, 2, 3], 5) == [1, 2, 3]
    series = [10] * 1000
    series[517] = 99
    points = thinned(series, 40)
    assert (len(points), max(points), points.count(10)) == (40, 99, 39)
    assert thinned([], 3) == []


@pytest.mark.parametrize("width", [1, 7, 80, 300])
def test_the_chart_fits_and_rises_with_the_context(width: int) -> None:
    drawn = sparkline([0, 100, 200, 300, 400, 500, 600, 700, 800] * 20, width)
    assert 1 <= len(drawn) <= width
    assert "█" in drawn and set(drawn) <= set("▁▂▃▄▅▆▇█")
    assert sparkline([5, 10], 10) == "▅█"
    assert sparkline([], 10) == ""


def test_slow_growth_and_compactions_are_no_jumps() -> None:
    assert growth_of(account([100_000, 120_000, 140_000, 160_000, 20_000, 44_000])).jumps == ()
    assert growth_of(account([])).first == 0


def test_a_subagents_context_is_its_own() -> None:
    events = [Usage(context=10_000), Usage(context=400_000, agent_id="sub"), Usage(context=11_000)]
    growth = growth_of(read_account(events))
    assert (growth.largest, growth.jumps) == (11_000, ())


@pytest.mark.parametrize("jump_at", [3, 10, 25])
def test_the_best_point_is_right_after_the_jump(jump_at: int) -> None:
    contexts = [35_000] * jump_at + [490_000] * 30
    found = break_even(contexts)
    assert found is not None
    assert found.after_call == jump_at + 1
    assert found.context == 490_000
    fresh = 35_000 + PACKET
    assert found.saved == 29 * (490_000 - fresh) - 490_000 - fresh
    assert found.actual == sum(contexts)
    assert found.pays_after == 2  # (490,000 + 45,000) / 445,000, rounded up
    assert found.pays_after_priced == 3  # (49,000 + 56,250) / 44,500, rounded up


def test_of_two_jumps_the_one_that_is_carried_longer_counts() -> None:
    early = break_even([35_000] * 5 + [490_000] * 40 + [600_000] * 5)
    late = break_even([35_000] * 5 + [490_000] * 2 + [1_020_000] * 40)
    assert early is not None and late is not None
    assert (early.after_call, late.after_call) == (6, 8)


@pytest.mark.parametrize(
    "contexts", [[], [50_000], [35_000] * 50, [35_000, 36_000, 38_000, 40_000], [35_000] * 9 + [490_000]]
)
def test_where_nothing_would_have_been_saved_nothing_is_advised(contexts: list[int]) -> None:
    assert break_even(contexts) is None


@given(steps=st.lists(st.tuples(st.integers(0, 60_000), st.booleans()), min_size=2, max_size=60))
@settings(deadline=None, max_examples=60)
def test_no_other_point_saves_more(steps: list[tuple[int, bool]]) -> None:
    contexts = [20_000]
    for grown, compacted in steps:
        contexts.append(25_000 if compacted and contexts[-1] > 150_000 else contexts[-1] + grown)
    found = break_even(contexts)
    best = max(instead_of(contexts, at) for at in range(len(contexts)))
    assert (found.saved if found is not None else 0) == max(0, best)


def instead_of(contexts: list[int], at: int) -> int:
    """What a fresh session after call `at` saves, played through call by call."""
    fresh = contexts[0] + PACKET
    spent = sum(contexts[: at + 1]) + contexts[at] + fresh
    for before, now in zip(contexts[at:], contexts[at + 1 :], strict=False):
        fresh += max(0, now - before)
        spent += min(now, fresh)
    return sum(contexts) - spent


def test_a_long_session_is_searched_in_little_time() -> None:
    contexts = [20_000 + 40 * number for number in range(12_345)]
    found = break_even(contexts)
    assert found is not None
    assert abs(found.saved - max(instead_of(contexts, at) for at in range(0, 12_345, 500))) < found.saved // 100


def test_what_filled_the_context() -> None:
    image = "data:image/png;base64," + "A" * 500
    events = [
        UserMessage(text="x" * 10), UserMessage(text="y" * 7, origin="hook"), UserMessage(text="z" * 99, origin="queued"),
        ToolCall(call_id="a", tool="Read", action="read", paths=("big.py",)),
        ToolResult(call_id="a", outcome="ok", text="b" * 1000),
        ToolCall(call_id="b", tool="Read", action="read", paths=("big.py",)),
        ToolResult(call_id="b", outcome="ok", text="b" * 900),
        ToolCall(call_id="c", tool="Bash", action="run", command="shot"),
        ToolResult(call_id="c", outcome="ok", text=f"here {image} there"),
        ToolResult(call_id="?", outcome="ok", text="lost"),
        Compaction(summary="s" * 40, trigger="auto", tokens_before=9, tokens_after=2),
        ToolResult(call_id="d", outcome="ok", text="sub" * 100, agent_id="sub"),
        ToolResult(call_id="d", outcome="ok", text="copied", copied=True),
    ]  # fmt: skip
    found = read_account(events)  # type: ignore[arg-type]
    filled = found.filled
    assert filled.tools == {"Read": 1900, "Bash": len(image) + 11, "?": 4}
    assert (filled.people, filled.put_in, filled.summaries, filled.data_urls) == (10, 7, 40, len(image))
    assert [(repeat.path, repeat.times, repeat.size) for repeat in filled.repeats] == [("big.py", 2, 900)]
    assert [(c.tokens_before, c.tokens_after, c.trigger) for c in found.compactions] == [(9, 2, "auto")]
