"""The Anthropic Messages API, as Claude Code speaks it: `POST /v1/messages`, streamed or not."""

from __future__ import annotations

import json
import uuid
from typing import Any

from script import Body, Event, Reply, pieces

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}


def is_for(path: str) -> bool:
    """Say whether a path is this protocol's."""
    return path.endswith("/messages")


def is_streamed(path: str, body: Body) -> bool:
    """Say whether the answer is to come as a stream."""
    del path
    return bool(body.get("stream"))


def results(body: Body) -> int:
    """Count the tool results in the conversation."""
    contents = [message.get("content") for message in body.get("messages", [])]
    return sum(
        part.get("type") == "tool_result" for content in contents if isinstance(content, list) for part in content
    )


def offers_tools(body: Body) -> bool:
    """Say whether the model may call tools."""
    return bool(body.get("tools"))


def last_words(body: Body) -> Any:
    """Return what was said last."""
    return body.get("messages", [])[-1:]


def whole(body: Body, reply: Reply) -> Body:
    """Return the message in one piece."""
    usage = _usage(reply)
    return {**_message(body, usage), "content": _blocks(reply), "stop_reason": _reason(reply), "usage": usage}


def events(body: Body, reply: Reply) -> list[Event]:
    """Return the message as the events of a stream."""
    usage = _usage(reply)
    told: list[Event] = [("message_start", {"message": _message(body, {**usage, "output_tokens": 1})})]
    for index, block in enumerate(_blocks(reply)):
        spoken = block["type"] == "text"
        empty = {**block, "text": ""} if spoken else {**block, "input": {}}
        told.append(("content_block_start", {"index": index, "content_block": empty}))
        for piece in pieces(block["text"] if spoken else json.dumps(block["input"])):
            delta = (
                {"type": "text_delta", "text": piece} if spoken else {"type": "input_json_delta", "partial_json": piece}
            )
            told.append(("content_block_delta", {"index": index, "delta": delta}))
        told.append(("content_block_stop", {"index": index}))
    told.append(("message_delta", {"delta": {"stop_reason": _reason(reply), "stop_sequence": None}, "usage": usage}))
    told.append(("message_stop", {}))
    return [(name, {"type": name, **data}) for name, data in told]


def refusal(status: int, kind: str, message: str) -> Body:
    """Return the body of an error."""
    return {"type": "error", "error": {"type": kind or _KINDS.get(status, "api_error"), "message": message}}


def _message(body: Body, usage: Body) -> Body:
    return {"id": f"msg_{uuid.uuid4().hex[:24]}", "type": "message", "role": "assistant", "model": body.get("model", ""),
            "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip


def _blocks(reply: Reply) -> list[Body]:
    said: list[Body] = [{"type": "text", "text": reply.text}] if reply.text else []
    calls = [{"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": call.name, "input": call.args}
             for call in reply.calls]  # fmt: skip
    return said + calls


def _reason(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _usage(reply: Reply) -> Body:
    return {"input_tokens": reply.input - reply.cached, "cache_read_input_tokens": reply.cached,
            "cache_creation_input_tokens": 0, "output_tokens": reply.output, "service_tier": "standard"}  # fmt: skip
