"""How full a context is: boundaries, windows, the agents' own compaction."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passdown.agents.windows import COMPACTS_AT, compacts_at, least_window, own_window, window_of
from passdown.config import Budget
from passdown.errors import UsageError
from passdown.model.session import Compaction, Usage
from passdown.usage.bands import Bands, bands_of, level_of
from passdown.usage.gauge import read_gauge


@given(context=st.integers(0, 3_000_000), window=st.integers(1, 2_000_000))
@settings(deadline=None)
def test_every_context_is_in_exactly_one_band(context: int, window: int) -> None:
    level = level_of(context, window, Bands())
    if 2 * context < window:
        assert level.band == "go_on"
    elif 10 * context > 7 * window:
        assert level.band == "wrap_up"
    else:
        assert level.band == "prepare"
    assert level.exit_code == {"go_on": 0, "prepare": 10, "wrap_up": 11}[level.band]


def test_more_context_never_means_less_to_do() -> None:
    codes = [level_of(context, 200_000, Bands()).exit_code for context in range(0, 220_000, 1_000)]
    assert codes == sorted(codes)
    assert set(codes) == {0, 10, 11}


@pytest.mark.parametrize(
    ("prepare", "wrap_up", "tokens"), [(0.0, 0.7, 1), (0.8, 0.7, 1), (0.5, 1.2, 1), (-1, 0.7, 1), (0.5, 0.7, 0)]
)
def test_boundaries_that_are_none_are_refused(prepare: float, wrap_up: float, tokens: int) -> None:
    with pytest.raises(UsageError, match="no boundaries"):
        bands_of(Budget(prepare=prepare, wrap_up=wrap_up, tokens=tokens))


def test_a_configured_window_without_room_is_refused() -> None:
    with pytest.raises(UsageError, match="'mine' has no window of 0 tokens"):
        bands_of(Budget(windows={"other": 5, "mine": 0}))


@pytest.mark.parametrize("agent", sorted(COMPACTS_AT))
def test_both_boundaries_lie_below_the_agents_own_compaction(agent: str) -> None:
    trigger = compacts_at(agent, {})
    assert trigger is not None
    bands = bands_of(Budget(), trigger)
    assert 0 < bands.prepare < bands.wrap_up < trigger
    assert bands.wrap_up <= 0.7


def test_claude_codes_own_setting_counts() -> None:
    assert compacts_at("claude_code", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "40"}) == 0.4
    assert compacts_at("claude_code", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "all"}) == COMPACTS_AT["claude_code"]
    assert compacts_at("openhands", {}) is None
    bands = bands_of(Budget(), 0.4)
    assert level_of(77_000, 200_000, bands).band == "wrap_up"


@pytest.mark.parametrize(
    ("model", "seen", "window"),
    [("claude-sonnet-4-5", 0, 200_000), ("claude-sonnet-4-5", 200_001, 1_000_000), ("claude-sonnet-4-5[1m]", 0, 1_000_000),
     ("anthropic/claude-3-5-haiku", 0, 200_000), ("claude-3-5-haiku", 300_000, None), ("claude-opus-5-5", 0, 1_000_000),
     ("gpt-5.2-codex", 0, 258_400), ("gemini-2.5-pro", 900_000, 1_000_000), ("somebody-7b", 0, None), ("", 0, None)],
)  # fmt: skip
def test_the_window_is_the_smallest_that_holds_what_was_sent(model: str, seen: int, window: int | None) -> None:
    assert window_of(model, seen=seen) == window


def test_the_least_window_is_what_it_was() -> None:
    assert least_window("claude-opus-4-6") == 200_000
    assert least_window("gpt-5.3-codex") == 258_400
    assert least_window("unheard-of") is None


def test_a_configured_window_goes_by_the_longest_beginning() -> None:
    own = {"qwen": 1, "Qwen3-Coder": 2, "anthropic/claude": 3}
    assert own_window("qwen3-coder-plus", own) == 2
    assert own_window("openrouter/qwen2", own) == 1
    assert own_window("anthropic/claude-x", own) == 3
    assert own_window("claude-x", own) is None


def usage(context: int, **fields: object) -> Usage:
    return Usage(context=context, model=str(fields.pop("model", "m")), **fields)  # type: ignore[arg-type]


def test_the_gauge_reads_the_main_agents_last_prompt() -> None:
    events = [usage(10, at=1), usage(50, at=2), usage(900, agent_id="sub"), usage(0), usage(700, active=False)]
    gauge = read_gauge(events)
    assert (gauge.context, gauge.largest, gauge.at) == (50, 50, 2)


def test_the_gauge_knows_compactions_and_what_the_agent_did_by_itself() -> None:
    auto = Compaction(trigger="auto", tokens_before=150)
    gauge = read_gauge([usage(150), auto])
    assert (gauge.context, gauge.compactions, gauge.compacted_at) == (None, 1, 150)
    gauge = read_gauge([usage(150), auto, usage(20), Compaction(micro=True, trigger="auto", tokens_before=30)])
    assert (gauge.context, gauge.compactions, gauge.compacted_at) == (20, 1, 150)
    manual = Compaction(trigger="manual", tokens_before=50, tokens_after=5)
    assert read_gauge([usage(60), manual]).context == 5
    assert read_gauge([usage(60), manual]).compacted_at is None


def test_another_model_has_another_window() -> None:
    gauge = read_gauge([usage(500_000, model="a", window=1_000_000), usage(90_000, model="b")])
    assert (gauge.model, gauge.largest, gauge.window) == ("b", 90_000, None)
