"""How many tokens fit into a model's context, at least: only for families of models where that is known."""

from __future__ import annotations

_LEAST: tuple[tuple[str, int], ...] = (
    ("claude-", 200_000), ("gpt-4.1", 1_000_000), ("gpt-5", 258_400), ("gemini-2.5", 1_000_000),
    ("gemini-3", 1_000_000),
)  # fmt: skip


def least_window(model: str) -> int | None:
    """Return the smallest context window the model is sold with, None for one that is not known.

    A provider's name before the model's (`anthropic/claude-…`) is passed over.
    """
    name = model.rpartition("/")[2].lower()
    return next((tokens for prefix, tokens in _LEAST if name.startswith(prefix)), None)
