"""How many tokens fit into a model's context, and where agents shorten it by themselves. Facts, with their date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

AS_OF = "2026-11-30"
"""When the tables were last checked, against package genai-prices 0.2.3 and what agents log."""

_K, _M = 1_000, 1_000_000


class _Family(NamedTuple):
    """Models whose name begins with `prefix`, and the windows they are sold with, the smallest first."""

    prefix: str
    sizes: tuple[int, ...]


_FAMILIES: tuple[_Family, ...] = (
    _Family("claude-3", (200 * _K,)), _Family("claude-haiku-4", (200 * _K,)),
    _Family("claude-opus-4", (200 * _K, _M)), _Family("claude-sonnet-4", (200 * _K, _M)),
    _Family("claude-opus-5", (_M,)), _Family("claude-sonnet-5", (_M,)), _Family("claude-haiku-5", (_M,)),
    _Family("claude-fable-5", (_M,)), _Family("claude-mythos-5", (_M,)), _Family("claude-", (200 * _K, _M)),
    _Family("gpt-4.1", (_M,)), _Family("gpt-4o", (128 * _K,)), _Family("gpt-4-turbo", (128 * _K,)),
    _Family("gpt-5", (258_400, 400 * _K, 1_050_000)), _Family("gpt-6", (258_400, 1_050_000)),
    _Family("gpt-oss", (131_072,)), _Family("o1", (200 * _K,)), _Family("o3", (200 * _K,)), _Family("o4", (200 * _K,)),
    _Family("codex-mini", (200 * _K,)),
    _Family("gemini-1.5", (_M, 2 * _M)), _Family("gemini-2", (_M,)), _Family("gemini-3", (_M,)),
    _Family("gemini-4", (_M,)),
    _Family("kimi-k2-0711", (131_072,)), _Family("kimi-k2", (262_144,)), _Family("kimi-k3", (1_048_576,)),
    _Family("grok-code", (256 * _K,)), _Family("grok-4-fast", (2 * _M,)), _Family("grok-4-1-fast", (2 * _M,)),
    _Family("grok-4-0709", (256 * _K,)), _Family("grok-4.5", (500 * _K,)), _Family("grok-4.6", (500 * _K,)),
    _Family("grok-4.7", (500 * _K,)), _Family("grok-3", (131_072,)),
    _Family("devstral", (131_072, 262_144)), _Family("codestral", (256 * _K,)),
    _Family("deepseek-v3", (128 * _K,)), _Family("deepseek-v4", (_M,)), _Family("glm-5", (_M,)),
)  # fmt: skip
"""The first that fits counts. Codex leaves 258,400 tokens of a larger window to a session unless told otherwise."""

COMPACTS_AT: dict[str, float] = {
    "claude_code": 0.75, "codex": 0.9, "gemini": 0.5, "qwen": 0.7, "copilot": 0.8, "opencode": 0.84, "pi": 0.91,
}  # fmt: skip
"""The part of the window at which an agent shortens its context by itself: the lowest that is reported of it."""

_COMPACT_VARIABLE = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"


def least_window(model: str) -> int | None:
    """Return the smallest context window the model is sold with, None for one that is not known.

    A provider's name before the model's (`anthropic/claude-…`) is passed over.
    """
    return window_of(model)


def window_of(model: str, *, seen: int = 0) -> int | None:
    """Return the smallest window the model is sold with that holds the `seen` tokens of one call, None if unknown."""
    name = model.rpartition("/")[2].lower()
    if name.endswith("[1m]"):
        return _M
    sizes = next((family.sizes for family in _FAMILIES if name.startswith(family.prefix)), ())
    return next((size for size in sizes if size >= seen), None)


def own_window(model: str, own: Mapping[str, int]) -> int | None:
    """Return the window that `own` gives the model by the longest beginning of its name, None where it has none."""
    names = (model.lower(), model.rpartition("/")[2].lower())
    fitting = [key for key in own if any(name.startswith(key.lower()) for name in names)]
    return own[max(fitting, key=len)] if fitting else None


def compacts_at(agent: str, environ: Mapping[str, str]) -> float | None:
    """Return the part of the window at which the agent shortens its context by itself, None where nobody can tell."""
    usual = COMPACTS_AT.get(agent)
    told = environ.get(_COMPACT_VARIABLE, "") if agent == "claude_code" else ""
    if usual is not None and told.isascii() and told.isdigit() and 0 < int(told[:4]) <= 100:
        return int(told) / 100
    return usual
