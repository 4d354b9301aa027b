"""What calls cost at list price, from the table of package `genai-prices`: offline, by the day of each call.

What the table does not know has no price: it is counted, never priced at zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct, field

from passdown.errors import UsageError
from passdown.usage.calls import Call

_DAY = 86_400_000
_SMALL, _MIDDLE, _LARGE = 1_000, 100_000, 900_000
"""Prompts of these sizes tell whether a model's prices depend on the size: asking for each call is slow."""


class Cost(Struct, frozen=True, kw_only=True):
    """The price of some calls in US dollars, and the calls without one by model. `table` names the prices used."""

    dollars: Decimal = Decimal(0)
    priced: int = 0
    unpriced: dict[str, int] = field(default_factory=dict)
    table: str = ""


class _Units(Struct, frozen=True):
    """A model's prices of one token: fresh input, read from the cache, written to it, and output."""

    fresh: Decimal
    read: Decimal
    write: Decimal
    output: Decimal


def cost_of(calls: Iterable[Call]) -> Cost:
    """Return what calls cost. Raises `UsageError` where the package is not installed."""
    table = _table()
    dollars, priced = Decimal(0), 0
    unpriced: dict[str, int] = {}
    for call in calls:
        price = _price(call)
        if price is None:
            name = call.model or "(no name)"
            unpriced[name] = unpriced.get(name, 0) + 1
        else:
            dollars += price
            priced += 1
    return Cost(
        dollars=dollars, priced=priced, table=table,
        unpriced=dict(sorted(unpriced.items(), key=lambda item: (-item[1], item[0]))),
    )  # fmt: skip


def _table() -> str:
    try:
        import genai_prices
    except ImportError as error:
        raise UsageError(
            "there are no prices: package genai-prices is not installed",
            next_step="pip install 'passdown[usage]'",
        ) from error
    return f"genai-prices {genai_prices.__version__}"


def _price(call: Call) -> Decimal | None:
    if not call.prompt:  # no log says what the input was: output alone would be half a price
        return None
    name = call.model.rpartition("/")[2]
    day = None if call.at is None else call.at // _DAY
    units = _units(name, day, _MIDDLE if call.prompt <= _MIDDLE else _LARGE)
    if units is None:
        return _asked(name, day, call.prompt, call.cache_read, call.cache_write, call.output)
    return (
        units.fresh * call.input + units.read * call.cache_read + units.write * call.cache_write
        + units.output * call.output
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _units(model: str, day: int | None, largest: int) -> _Units | None:
    """Return a model's prices on a day for prompts up to `largest`; None where they differ, or are not known."""
    prices = []
    for size in (_SMALL, largest):
        asked = (
            _asked(model, day, size, 0, 0, 0), _asked(model, day, size, size, 0, 0),
            _asked(model, day, size, 0, size, 0), _asked(model, day, size, 0, 0, size),
        )  # fmt: skip
        known = [price / size for price in asked if price is not None]
        if len(known) < len(asked):
            return None
        prices.append(_Units(known[0], known[1], known[2], known[3] - known[0]))
    return prices[0] if prices[0] == prices[1] else None


@lru_cache(maxsize=4096)
def _asked(model: str, day: int | None, prompt: int, read: int, write: int, output: int) -> Decimal | None:
    from genai_prices import Usage, calc_price

    moment = None if day is None else datetime.fromtimestamp(day * _DAY // 1000, UTC)
    try:
        spent = Usage(input_tokens=prompt, cache_read_tokens=read, cache_write_tokens=write, output_tokens=output)
        return calc_price(spent, model, genai_request_timestamp=moment).total_price
    except (LookupError, ValueError):  # a model that is not in the table; numbers that it refuses
        return None
