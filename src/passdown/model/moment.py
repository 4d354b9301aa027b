"""Moments: milliseconds since the Unix epoch inside, RFC 3339 UTC with whole seconds outside."""

from __future__ import annotations

from datetime import UTC, datetime

_LATEST = 253_402_300_799_000


def to_rfc3339(moment: int | None) -> str | None:
    """Write a moment (milliseconds) as `2026-11-20T17:42:10Z`; None for None and for what no calendar holds."""
    if moment is None or not 0 <= moment <= _LATEST:
        return None
    return datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def to_milliseconds(text: str | None) -> int | None:
    """Read an RFC 3339 moment into milliseconds; None when it is none. Without a zone it is taken as UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
