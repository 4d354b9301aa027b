"""The OpenAI Responses API, as Codex speaks it: `POST /v1/responses`, streamed or not."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from script import Body, Call, Event, Reply, pieces


def is_for(path: str) -> bool:
    """Say whether a path is this protocol's."""
    return path.endswith(("/responses", "/responses/compact"))


def is_streamed(path: str, body: Body) -> bool:
    """Say whether the answer is to come as a stream."""
    del path
    return bool(body.get("stream"))


def results(body: Body) -> int:
    """Count the tool results in the conversation."""
    return sum(str(item.get("type", "")).endswith("_call_output") for item in _items(body))


def offers_tools(body: Body) -> bool:
    """Say whether the model may call tools: Codex tells of them in an item of the input as well."""
    return bool(body.get("tools")) or any(item.get("type") == "additional_tools" for item in _items(body))


def last_words(body: Body) -> Any:
    """Return what was said last."""
    return _items(body)[-1:] or body.get("input")


def whole(body: Body, reply: Reply) -> Body:
    """Return the response in one piece."""
    return _response(body, reply, _output(reply), "completed")


def events(body: Body, reply: Reply) -> list[Event]:
    """Return the response as the events of a stream."""
    items = _output(reply)
    done = _response(body, reply, items, "completed")
    begun = {**done, "status": "in_progress", "output": [], "usage": None}
    told: list[Event] = [("response.created", {"response": begun}), ("response.in_progress", {"response": begun})]
    for index, item in enumerate(items):
        told += [(name, {"output_index": index, **data}) for name, data in _item_events(item)]
    told.append(("response.completed", {"response": done}))
    return [(name, {"type": name, "sequence_number": number, **data}) for number, (name, data) in enumerate(told)]


def refusal(status: int, kind: str, message: str) -> Body:
    """Return the body of an error."""
    return {"error": {"message": message, "type": kind or "server_error", "code": str(status), "param": None}}


def _items(body: Body) -> list[Body]:
    found = body.get("input")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _output(reply: Reply) -> list[Body]:
    said: list[Body] = []
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        said = [{"type": "message", "id": _name("msg"), "role": "assistant", "status": "completed", "content": [part]}]
    return said + [_call(call) for call in reply.calls]


def _call(call: Call) -> Body:
    common = {"call_id": _name("call"), "name": call.name, "status": "completed"}
    common |= {"namespace": call.namespace} if call.namespace else {}
    if call.source is not None:
        return {"type": "custom_tool_call", "id": _name("ctc"), **common, "input": call.source}
    return {"type": "function_call", "id": _name("fc"), **common, "arguments": json.dumps(call.args)}


def _item_events(item: Body) -> list[Event]:
    about = {"item_id": item["id"]}
    if item["type"] == "message":
        part = item["content"][0]
        place = {**about, "content_index": 0}
        empty = {**item, "status": "in_progress", "content": []}
        middle: list[Event] = [("response.content_part.added", {**place, "part": {**part, "text": ""}})]
        middle += [("response.output_text.delta", {**place, "delta": piece}) for piece in pieces(part["text"])]
        middle.append(("response.output_text.done", {**place, "text": part["text"]}))
        middle.append(("response.content_part.done", {**place, "part": part}))
    else:
        field = "arguments" if item["type"] == "function_call" else "input"
        name = "function_call_arguments" if field == "arguments" else "custom_tool_call_input"
        empty = {**item, "status": "in_progress", field: ""}
        middle = [(f"response.{name}.delta", {**about, "delta": piece}) for piece in pieces(item[field])]
        middle.append((f"response.{name}.done", {**about, field: item[field]}))
    added, done = ("response.output_item.added", {"item": empty}), ("response.output_item.done", {"item": item})
    return [added, *middle, done]


def _response(body: Body, reply: Reply, items: list[Body], status: str) -> Body:
    usage = {"input_tokens": reply.input, "input_tokens_details": {"cached_tokens": reply.cached},
             "output_tokens": reply.output, "output_tokens_details": {"reasoning_tokens": 0},
             "total_tokens": reply.input + reply.output}  # fmt: skip
    return {"id": _name("resp"), "object": "response", "created_at": int(time.time()), "status": status,
            "model": body.get("model", ""), "output": items, "usage": usage, "error": None, "incomplete_details": None,
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}  # fmt: skip


def _name(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:24]}"
