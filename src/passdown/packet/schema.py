"""The JSON Schema of handoff.json, tightened from the records: caps, one-line patterns, no opaque strings."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.model import evidence, packet
from passdown.model.packet import SCHEMA, SCHEMA_VERSION, Packet
from passdown.packet.caps import LISTS, MAPS, TEXTS, Text

_ONE_LINE = r"^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]*$"
_BLOCK = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]*$"
_HEX = "^([0-9a-f]{7,64})?$"
_OPAQUE = {"pattern": "[A-Za-z0-9+/=_-]{257}"}
"""What a text must not hold: a run of 257 base64 characters. A packet is plain text."""
_OPAQUE_PATH = {"pattern": "[A-Za-z0-9+=_-]{257}"}
"""The same for paths and names, whose parts are at most 255 bytes long."""


def packet_schema() -> dict[str, Any]:
    """Return the schema for writers: every cap, no unknown field. A reader accepts more (see `decode_packet`)."""
    raw = msgspec.json.schema(Packet)
    definitions = {name: _definition(name, body) for name, body in sorted(raw["$defs"].items())}
    top = definitions.pop("Packet")
    top["properties"]["schema"] = {"const": SCHEMA}
    top["properties"]["schema_version"] = {"const": SCHEMA_VERSION}
    top["properties"]["packet_id"] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    top["properties"]["session_id"] = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}
    top["properties"]["ext"] = {"type": "object", "propertyNames": {"pattern": r"^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "Handoff packet, version 1",
        **{key: value for key, value in top.items() if key != "title"},
        "$defs": definitions,
    }


def _definition(name: str, body: dict[str, Any]) -> dict[str, Any]:
    record = getattr(packet, name, None) or getattr(evidence, name)
    encoded = {field.encode_name: field.name for field in msgspec.structs.fields(record)}
    properties = {
        key: _tighten(value, name, encoded.get(key, key)) for key, value in body.get("properties", {}).items()
    }
    return {**body, "properties": properties, "additionalProperties": False}


def _tighten(value: dict[str, Any], owner: str, field: str) -> dict[str, Any]:
    """Return a property with the caps of its list, mapping and texts."""
    rule = TEXTS.get(owner, {}).get(field)
    name = field if owner == "Packet" else f"{owner}.{field}"
    tightened: dict[str, Any] = _texts(value, rule)
    if tightened.get("type") == "array" and name in LISTS:
        tightened = {**tightened, "maxItems": LISTS[name]}
    if tightened.get("type") == "object" and name in MAPS:
        tightened = {**tightened, "maxProperties": MAPS[name]}
    return tightened


def _texts(value: Any, rule: Text | None) -> Any:
    if not isinstance(value, dict):
        return value
    if value.get("type") == "string" and rule is not None:
        return {**value, **_text(rule)}
    if value.get("type") == "integer":
        return value
    tightened = dict(value)
    for key in ("items", "additionalProperties"):
        if key in tightened:
            tightened[key] = _texts(tightened[key], rule)
    if "anyOf" in tightened:
        tightened["anyOf"] = [_texts(option, rule) for option in tightened["anyOf"]]
    return tightened


def _text(rule: Text) -> dict[str, Any]:
    if rule.kind == "hash":
        return {"maxLength": rule.cap, "pattern": _HEX}
    return {
        "maxLength": rule.cap,
        "pattern": _BLOCK if rule.kind == "block" else _ONE_LINE,
        "not": _OPAQUE_PATH if rule.kind == "exact" else _OPAQUE,
    }
