"""How many tokens a text costs, estimated the same way everywhere."""

from __future__ import annotations


def estimate_tokens(text: str) -> int:
    """Return an estimate: one token for four ASCII bytes, one for every other character. Deterministic, not exact."""
    ascii_bytes = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return -(-ascii_bytes // 4) + len(text) - ascii_bytes
