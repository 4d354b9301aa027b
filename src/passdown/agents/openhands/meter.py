"""Tokens: one count per API response, from the conversation's state or from the running totals among its events."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.agents.openhands.records import STATS, Stats, Tokens
from passdown.io.log import BAD, count, whole
from passdown.model.session import Usage

_Totals = tuple[int, int, int, int, int]


class Meter:
    """Knows what each response cost. Running totals count only where the state does not say it."""

    def __init__(self, stats: Stats | None) -> None:
        self._known: dict[str, Tokens] = {}
        self._totals: dict[str, _Totals] = {}
        for metrics in (stats.usage_to_metrics if stats is not None else {}).values():
            for tokens in metrics.token_usages or ():
                if tokens.response_id:
                    self._known[tokens.response_id] = tokens
        self._by_response = bool(self._known)
        self._given: set[str] = set()

    def of(self, response: str, base: dict[str, Any]) -> list[Usage]:
        """Return what a response cost, the first time it is asked for."""
        if not response or response in self._given or response not in self._known:
            return []
        self._given.add(response)
        return [self._usage(self._known[response], response, base)]

    def model_of(self, response: str) -> str:
        """Return the model that gave a response, empty when the state does not say."""
        known = self._known.get(response)
        return (known.model if known is not None else "") or ""

    def rest(self) -> list[Usage]:
        """Return what the responses cost that no event names: those of condensers and the like."""
        left = [(name, tokens) for name, tokens in self._known.items() if name not in self._given]
        return [self._usage(tokens, name, {"agent_id": "side"}) for name, tokens in left]

    def totals(self, value: msgspec.Raw, base: dict[str, Any]) -> list[Usage]:
        """Return what was spent since the last totals, one count for each use of a model that grew."""
        if self._by_response:
            return []
        try:
            stats = STATS.decode(value)
        except BAD:
            return []
        found = []
        for use, metrics in stats.usage_to_metrics.items():
            tokens = metrics.accumulated_token_usage
            if tokens is None:
                continue
            now = _numbers(tokens)
            grown = [new - old for new, old in zip(now, self._totals.get(use, (0,) * 5), strict=True)]
            self._totals[use] = now
            if min(grown) >= 0 and any(grown):
                prompt, answer, read, written, thought = grown
                model = metrics.model_name or tokens.model or ""
                side = {} if use in ("default", "agent") else {"agent_id": use[:80]}
                found.append(
                    Usage(
                        model=model, input=max(0, prompt - read - written), cache_read=read, cache_write=written,
                        output=answer, reasoning=thought, context=prompt, **base | side,
                    )
                )  # fmt: skip
        return found

    def _usage(self, tokens: Tokens, response: str, base: dict[str, Any]) -> Usage:
        prompt, answer, read, written, thought = _numbers(tokens)
        return Usage(
            response_id=response, model=tokens.model or "", input=max(0, prompt - read - written), cache_read=read,
            cache_write=written, output=answer, reasoning=thought, context=prompt,
            window=whole(tokens.context_window) or None, **base,
        )  # fmt: skip


def _numbers(tokens: Tokens) -> _Totals:
    return (
        count(tokens.prompt_tokens), count(tokens.completion_tokens), count(tokens.cache_read_tokens),
        count(tokens.cache_write_tokens), count(tokens.reasoning_tokens),
    )  # fmt: skip
