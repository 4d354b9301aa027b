"""How many tokens a text costs, estimated the same way everywhere."""

from __future__ import annotations


def estimate_tokens(text: str) -> int:
    """Return an estimate: one token for four ASCII bytes, one for every other character. Deterministic, not exact."""
    ascii_bytes = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-ascii_bytes // 4) + len(text) - ascii_bytes
