"""Rows that do not fit the typed records: other known types, older shapes, and what nobody knows."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.agents.codex.header import Meta
from passdown.agents.codex.records import IGNORED_EVENTS, IGNORED_ROWS, MetaRow, Row

_ITEM_TYPES = frozenset({
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
    "local_shell_call", "web_search_call", "ghost_snapshot",
})  # fmt: skip
_ROW_TYPES = frozenset({
    "session_meta", "turn_context", "response_item", "event_msg", "compacted", "token_usage_record", "world_state",
})  # fmt: skip


def loose_row(data: bytes) -> Row | str:
    """Return the row in its typed form, or its type: as it is when it may be ignored, `?type` when it is unknown,
    `?!type` when a known type has an unexpected shape.

    Raises `msgspec.DecodeError` when it is not JSON.
    """
    row = msgspec.json.decode(data)
    if not isinstance(row, dict):
        return f"?!{type(row).__name__}"
    kind, payload = row.get("type"), row.get("payload")
    if kind is None and row.get("record_type") == "state":
        return "state"
    if kind is None and isinstance(row.get("id"), str) and "timestamp" in row and "payload" not in row:
        return _typed({"timestamp": row["timestamp"], "type": "session_meta", "payload": row}, "session_meta")
    if kind is not None and not isinstance(kind, str):
        return "?!row"
    if kind in IGNORED_ROWS:
        return str(kind)
    if kind in _ITEM_TYPES and "payload" not in row:
        return _item(row.get("timestamp"), row)
    if kind is None:
        return "?"
    if kind not in _ROW_TYPES:
        return f"?{kind}"
    if isinstance(payload, dict):
        if kind == "event_msg" and str(payload.get("type")) in IGNORED_EVENTS:
            return f"event_msg/{payload['type']}"
        if kind == "response_item":
            return _item(row.get("timestamp"), payload)
        return _typed(row, f"{kind}/{payload.get('type')}" if kind == "event_msg" else kind)
    return f"?!{kind}"


def _item(timestamp: Any, payload: dict[str, Any]) -> Row | str:
    if "type" not in payload and isinstance(payload.get("role"), str):
        payload = {**payload, "type": "message"}
    row = {"timestamp": timestamp, "type": "response_item", "payload": payload}
    return _typed(row, f"response_item/{payload.get('type')}")


def _typed(row: dict[str, Any], name: str) -> Row | str:
    try:
        typed: Row = msgspec.convert(row, Row)
    except msgspec.ValidationError as error:
        if row["type"] == "session_meta":
            known = {key: value for key, value in row["payload"].items() if isinstance(value, str)}
            return MetaRow(payload=msgspec.convert(known, Meta), timestamp=row.get("timestamp"))
        return f"?{name}" if "Invalid value" in str(error) else f"?!{name}"
    return typed
