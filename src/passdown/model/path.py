"""Repository paths as text: git knows bytes, a packet knows Unicode, and nothing may be lost between them."""

from __future__ import annotations

import re

from passdown.errors import FormatError
from passdown.model.pattern import lazy_pattern

_STRAY = lazy_pattern("[\udc80-\udcff]")
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_ESCAPE = lazy_pattern(r"\\(?:(\\)|x([89a-f][0-9a-f]))?")


def decode_path(raw: bytes) -> str:
    """Return a path as text: UTF-8, stray bytes written `\\xNN`, a backslash doubled. `encode_path` undoes it."""
    text = raw.decode("utf-8", "surrogateescape").replace("\\", "\\\\")
    return _STRAY.sub(lambda match: f"\\x{ord(match[0]) - 0xDC00:02x}", text)


def decode_paths(listing: bytes) -> list[str]:
    """Return the paths of a NUL-terminated list as `decode_path` would, many at once."""
    try:
        text = listing.decode()
    except UnicodeDecodeError:
        return [decode_path(raw) for raw in listing.split(b"\0") if raw]
    return [path for path in text.replace("\\", "\\\\").split("\0") if path]


def encode_path(text: str) -> bytes:
    """Return the bytes of a path that `decode_path` wrote.

    Raises `FormatError` for an escape that it never writes (a lone backslash, `\\x41`) and for a lone surrogate.
    """
    if _SURROGATE.search(text):
        raise FormatError(
            "a path holds a lone surrogate", where=ascii(text), next_step="Name the path as git lists it."
        )
    return _ESCAPE.sub(_byte, text).encode("utf-8", "surrogateescape")


def _byte(match: re.Match[str]) -> str:
    if match[1]:
        return "\\"
    if match[2]:
        return chr(0xDC00 + int(match[2], 16))
    raise FormatError(
        "a path holds a backslash that escapes nothing", where=match.string, next_step="Double the backslash."
    )
