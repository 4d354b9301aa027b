"""Gemini's API, as Gemini CLI speaks it: `POST /v1beta/models/NAME:generateContent` and `:streamGenerateContent`."""

from __future__ import annotations

import uuid
from typing import Any

from script import Body, Event, Reply, pieces

_KINDS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


def is_for(path: str) -> bool:
    """Say whether a path is this protocol's."""
    return path.endswith((":generateContent", ":streamGenerateContent"))


def is_streamed(path: str, body: Body) -> bool:
    """Say whether the answer is to come as a stream."""
    del body
    return path.endswith(":streamGenerateContent")


def results(body: Body) -> int:
    """Count the tool results in the conversation."""
    return sum("functionResponse" in part for turn in body.get("contents", []) for part in turn.get("parts", []))


def offers_tools(body: Body) -> bool:
    """Say whether the model may call tools."""
    return bool(body.get("tools"))


def last_words(body: Body) -> Any:
    """Return what was said last."""
    return body.get("contents", [])[-1:]


def whole(body: Body, reply: Reply) -> Body:
    """Return the answer in one piece."""
    said = [{"text": reply.text}] if reply.text else []
    return _answer(body, reply, [*said, *_calls(reply)], "STOP")


def events(body: Body, reply: Reply) -> list[Event]:
    """Return the answer as the events of a stream, the last of which ends it."""
    parts: list[list[Body]] = [[{"text": piece}] for piece in pieces(reply.text)]
    parts += [[call] for call in _calls(reply)] or ([] if parts else [[]])
    last = len(parts) - 1
    return [("", _answer(body, reply, part, "STOP" if at == last else None)) for at, part in enumerate(parts)]


def refusal(status: int, kind: str, message: str) -> Body:
    """Return the body of an error."""
    del kind
    return {"error": {"code": status, "message": message, "status": _KINDS.get(status, "INTERNAL")}}


def _calls(reply: Reply) -> list[Body]:
    return [{"functionCall": {"name": call.name, "args": call.args}} for call in reply.calls]


def _answer(body: Body, reply: Reply, parts: list[Body], reason: str | None) -> Body:
    candidate: Body = {"index": 0, "content": {"role": "model", "parts": parts}}
    if reason is not None:
        candidate["finishReason"] = reason
    usage = {"promptTokenCount": reply.input, "cachedContentTokenCount": reply.cached,
             "candidatesTokenCount": reply.output, "totalTokenCount": reply.input + reply.output}  # fmt: skip
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": body.get("model", "scripted"),
            "responseId": uuid.uuid4().hex[:16]}  # fmt: skip
