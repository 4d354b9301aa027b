"""Tokens: one count per API response out of running totals that repeat."""

from __future__ import annotations

from passdown.agents.codex.events import TokenInfo, Tokens
from passdown.agents.codex.records import UsageRecord

_NONE = Tokens()
_LIMIT = 1 << 50


Spent = tuple[int, int, int, int, int, int]
"""What one response used: fresh input, read from the cache, written to it, output, reasoning, the whole prompt."""


class Meter:
    """Follows a session's running total. A row that leaves it where it was is no new response.

    `token_usage_record` (0.150 and later) and the `token_count` that follows it carry the same total, so whichever
    comes first counts and the other one is a repeat.
    """

    def __init__(self) -> None:
        self.total: Tokens | None = None
        self.response_id = ""

    def count(self, info: TokenInfo) -> Spent | None:
        """Return what a `token_count` adds, None for a repeat."""
        total, last = info.total, info.last
        if total is None:
            if last is None:
                return _spent(Tokens(input=info.prompt or 0, output=info.completion or 0))
            return _spent(last)
        before, self.total = self.total, total
        if total == before:
            return None
        if before is None:
            return _spent(last or total)
        whole, cached = total.input - before.input, total.cached - before.cached
        written, output = total.cache_write - before.cache_write, total.output - before.output
        reasoning = total.reasoning - before.reasoning
        if whole < 0 or cached < 0 or written < 0 or output < 0 or reasoning < 0:
            return _spent(last or _NONE)
        if cached + written <= whole < _LIMIT and reasoning <= output < _LIMIT and last and 0 < last.input < _LIMIT:
            return whole - cached - written, cached, written, output, reasoning, last.input
        return _spent(Tokens(whole, cached, written, output, reasoning), last)

    def record(self, record: UsageRecord) -> Spent | None:
        """Return what a `token_usage_record` adds, None for a repeat."""
        repeat = (record.total is not None and record.total == self.total) or (
            record.response_id and record.response_id == self.response_id
        )
        if not repeat:
            self.total = record.total or _plus(self.total or _NONE, record.usage or _NONE)
        self.response_id = record.response_id or ""
        return None if repeat or record.usage is None else _spent(record.usage)


def _plus(total: Tokens, step: Tokens) -> Tokens:
    return Tokens(
        input=total.input + step.input,
        cached=total.cached + step.cached,
        cache_write=total.cache_write + step.cache_write,
        output=total.output + step.output,
        reasoning=total.reasoning + step.reasoning,
    )


def _spent(tokens: Tokens, last: Tokens | None = None) -> Spent | None:
    whole, output = _bound(tokens.input), _bound(tokens.output)
    if not whole and not output:
        return None
    # More cached than input is passed on as it stands: whoever sums it up must be able to see that it makes no sense.
    cached, written = _bound(tokens.cached), _bound(tokens.cache_write)
    context = _bound(last.input) if last else whole
    fresh = max(0, whole - cached - written)
    return fresh, cached, written, output, min(_bound(tokens.reasoning), output), context or whole


def _bound(value: int) -> int:
    return max(0, min(value, _LIMIT))
