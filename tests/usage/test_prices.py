"""What calls cost at list price: from the package's table, by day, and nothing for what it does not know."""

from __future__ import annotations

from decimal import Decimal

import pytest

from passdown.usage.calls import Call
from passdown.usage.prices import cost_of

genai_prices = pytest.importorskip("genai_prices")

DAY = 86_400_000


def call(model: str, **fields: int) -> Call:
    return Call(number=1, model=model, **({"at": 20_000 * DAY} | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro"])
@pytest.mark.parametrize("prompt", [5_000, 99_000, 150_000, 400_000])
def test_it_is_what_the_package_says_of_each_call(model: str, prompt: int) -> None:
    one = call(
        model, input=prompt // 2, cache_read=prompt // 4, cache_write=prompt - prompt // 2 - prompt // 4, output=321
    )
    spent = genai_prices.Usage(
        input_tokens=prompt, cache_read_tokens=one.cache_read, cache_write_tokens=one.cache_write, output_tokens=321
    )
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(20_000 * 86_400, UTC)
    expected = genai_prices.calc_price(spent, model, genai_request_timestamp=moment).total_price
    assert cost_of([one]).dollars == expected > 0


def test_what_has_no_price_is_counted_and_costs_nothing_of_the_sum() -> None:
    calls = [
        call("big-pickle", input=10),
        call("big-pickle", input=10),
        call("", input=5),
        call("claude-haiku-4-5", output=7),
    ]
    cost = cost_of([*calls, call("anthropic/claude-haiku-4-5", input=1_000_000)])
    assert cost.unpriced == {"big-pickle": 2, "(no name)": 1, "claude-haiku-4-5": 1}
    assert (cost.priced, cost.dollars) == (1, Decimal(1))
    assert cost.table == f"genai-prices {genai_prices.__version__}"
