"""OpenAI's Chat Completions, as Pi, OpenCode, Qwen Code, Copilot CLI and OpenHands speak it: `POST /v1/chat/completions`."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from script import Body, Event, Reply, pieces


def is_for(path: str) -> bool:
    """Say whether a path is this protocol's."""
    return path.endswith("/chat/completions")


def is_streamed(path: str, body: Body) -> bool:
    """Say whether the answer is to come as a stream."""
    del path
    return bool(body.get("stream"))


def results(body: Body) -> int:
    """Count the tool results in the conversation."""
    return sum(message.get("role") == "tool" for message in body.get("messages", []))


def offers_tools(body: Body) -> bool:
    """Say whether the model may call tools."""
    return bool(body.get("tools"))


def last_words(body: Body) -> Any:
    """Return what was said last."""
    return body.get("messages", [])[-1:]


def whole(body: Body, reply: Reply) -> Body:
    """Return the completion in one piece."""
    message: Body = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _reason(reply), "logprobs": None}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def events(body: Body, reply: Reply) -> list[Event]:
    """Return the completion as the events of a stream."""
    deltas: list[Body] = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces(reply.text))]
    for index, call in enumerate(_calls(reply)):
        named = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [{"index": index, **named}]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                   for piece in pieces(call["function"]["arguments"])]  # fmt: skip
    head = _head(body, "chat.completion.chunk")
    told: list[Event] = [("", _chunk(head, delta, None)) for delta in deltas]
    told.append(("", _chunk(head, {}, _reason(reply))))
    return [*told, ("", {**head, "choices": [], "usage": _usage(reply)}), ("", "[DONE]")]


def refusal(status: int, kind: str, message: str) -> Body:
    """Return the body of an error."""
    return {"error": {"message": message, "type": kind or "server_error", "code": str(status), "param": None}}


def _head(body: Body, kind: str) -> Body:
    return {"id": f"chatcmpl-{uuid.uuid4().hex[:24]}", "object": kind, "created": int(time.time()),
            "model": body.get("model", ""), "system_fingerprint": "fp_script"}  # fmt: skip


def _chunk(head: Body, delta: Body, reason: str | None) -> Body:
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _calls(reply: Reply) -> list[Body]:
    return [{"id": f"call_{uuid.uuid4().hex[:20]}", "type": "function",
             "function": {"name": call.name, "arguments": json.dumps(call.args)}} for call in reply.calls]  # fmt: skip


def _reason(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply) -> Body:
    return {"prompt_tokens": reply.input, "completion_tokens": reply.output, "total_tokens": reply.input + reply.output,
            "prompt_tokens_details": {"cached_tokens": reply.cached}, "completion_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
