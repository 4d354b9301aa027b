"""What readers of agents' logs share, as it stands in `passdown.io.log`."""

from __future__ import annotations

from passdown.io.log import (
    BAD,
    HEAD,
    Ends,
    Log,
    Number,
    Record,
    count,
    ends_of,
    mended,
    milliseconds,
    newest_first,
    not_understood,
    safe_id,
    whole,
)

__all__ = [
    "BAD",
    "HEAD",
    "Ends",
    "Log",
    "Number",
    "Record",
    "count",
    "ends_of",
    "mended",
    "milliseconds",
    "newest_first",
    "not_understood",
    "safe_id",
    "whole",
]
