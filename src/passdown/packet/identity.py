"""Which packet is the same packet: a hash of the content, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from passdown.model.digest import sha256
from passdown.model.lineage import EXT_KEY
from passdown.model.packet import UNHASHED_FIELDS, Packet
from passdown.packet.plain import plain_packet


def content_hash(packet: Packet | Mapping[str, Any], *, without: tuple[str, ...] = ()) -> str:
    """Return the SHA-256 of a packet's content, or of its decoded JSON: sorted keys, no whitespace, UTF-8.

    Left out are the fields of `UNHASHED_FIELDS`: where, when and by what it was written, and its place in the chain.
    """
    plain = plain_packet(packet) if isinstance(packet, Packet) else packet
    content = {key: value for key, value in plain.items() if key not in UNHASHED_FIELDS and key not in without}
    return sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def packet_id(packet: Packet | Mapping[str, Any]) -> str:
    """Return the id a packet must have. Given the decoded JSON, also of a later minor version with unknown fields."""
    return content_hash(packet)


def same_content(one: Packet | Mapping[str, Any], other: Packet | Mapping[str, Any]) -> bool:
    """Say whether two packets say the same, one of them perhaps only as a repetition of an older packet."""
    return _without_lineage(one) == _without_lineage(other)


def _without_lineage(packet: Packet | Mapping[str, Any]) -> str:
    plain = dict(plain_packet(packet) if isinstance(packet, Packet) else packet)
    ext = plain.get("ext")
    plain["ext"] = {key: value for key, value in ext.items() if key != EXT_KEY} if isinstance(ext, dict) else {}
    return content_hash(plain)


def derived_session_id(packet: Packet) -> str:
    """Return a session id for a packet that was given none: `s-` and 12 hex digits of its content, never the clock."""
    return "s-" + content_hash(packet, without=("session_id",))[:12]
