"""The packet as bytes and back."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.errors import FormatError
from passdown.model.packet import SCHEMA_VERSION, Packet
from passdown.packet.plain import plain_packet

READ_LIMIT = 256 << 10
"""Most bytes of a packet that is read; those written here are capped at 24 KB."""

_HOW_ON = "Use a packet written by passdown, or update passdown."


def encode_packet(packet: Packet) -> bytes:
    """Return the packet as it lies on disk: UTF-8, sorted keys, two spaces, a final newline, the same anywhere."""
    return encode_plain(plain_packet(packet))


def encode_plain(plain: dict[str, Any]) -> bytes:
    """Return a packet's decoded JSON as it lies on disk, fields of later minor versions included."""
    return msgspec.json.format(msgspec.json.encode(plain, order="sorted"), indent=2) + b"\n"


def decode_packet(data: bytes) -> Packet:
    """Read a packet. Later minor versions are read too; what stands under `ext` survives.

    Raises `FormatError` for what is no packet: too large, no JSON, a key twice, another major version, a wrong field.
    """
    plain = decode_plain(data)
    try:
        return msgspec.convert(plain, Packet)
    except msgspec.ValidationError as error:
        raise FormatError(f"is no valid packet: {error}", next_step=_HOW_ON) from error


def decode_plain(data: bytes) -> dict[str, Any]:
    """Return the packet's JSON, checked for its major version only. Raises `FormatError` as `decode_packet` does."""
    import json  # only where a packet is read

    if len(data) > READ_LIMIT:
        raise FormatError(f"is larger than {READ_LIMIT} bytes", next_step=_HOW_ON)
    try:
        plain = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise FormatError(f"is not UTF-8 at byte {error.start}", next_step=_HOW_ON) from error
    except json.JSONDecodeError as error:
        raise FormatError(f"is no JSON: {error.msg} at character {error.pos}", next_step=_HOW_ON) from error
    except RecursionError as error:
        raise FormatError("is nested too deeply", next_step=_HOW_ON) from error
    except ValueError as error:
        raise FormatError(f"is no packet: {error}", next_step=_HOW_ON) from error
    if not isinstance(plain, dict):
        raise FormatError("is no JSON object", next_step=_HOW_ON)
    version = plain.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise FormatError(
            f"has schema version {str(version)[:40]}; this passdown reads version {SCHEMA_VERSION}", next_step=_HOW_ON
        )
    return plain


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
        raise ValueError(f"the key {twice[:40]!r} stands twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
