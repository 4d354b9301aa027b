"""The protocol's messages: JSON-RPC 2.0, and the methods of a server that offers tools and resources.

The revisions that begin with a handshake are spoken; a client of the later ones asks for that when it is told that
there is no `server/discover`.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from passdown import __version__
from passdown.mcp.answers import NOTICE, Answer
from passdown.mcp.arguments import schema_of
from passdown.mcp.resources import RESOURCES, TEMPLATE, Content
from passdown.mcp.tools import INSTRUCTIONS, TOOLS, Tool
from passdown.mcp.wire import LIMIT, TooLong
from passdown.model.pattern import lazy_pattern

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that are spoken, oldest first. One that is not known is answered with the newest."""

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL_ERROR, NO_RESOURCE = (
    -32700, -32600, -32601, -32602, -32603, -32002,
)  # fmt: skip

Id = int | str | None

_NUMBER = rb'(-?[0-9]{1,15}|"[A-Za-z0-9._:-]{1,128}")'
_AT_END = lazy_pattern(rb'[,{]\s*"id"\s*:\s*' + _NUMBER + rb"\s*\}\s*$")
_AT_START = lazy_pattern(
    rb'^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,64}"\s*,\s*){0,2}"id"\s*:\s*' + _NUMBER + rb"\s*[,}]"
)


class Frame(Struct, frozen=True):
    """A message as it comes. Without `id` it asks for no answer; without `method` it is itself one."""

    jsonrpc: str
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: dict[str, Any] | UnsetType = UNSET


class Refusal(Struct, frozen=True):
    """The answer to what is no message."""

    message: dict[str, Any]


_DECODER = msgspec.json.Decoder(Frame)


def read_frame(line: bytes | TooLong) -> Frame | Refusal:
    """Return a line as a message, or the answer that says why it is none, with the request's id where that shows."""
    if isinstance(line, TooLong):
        return _refusal(line.start, line.end, INVALID_REQUEST, f"a message is at most {LIMIT} bytes long")
    try:
        frame = _DECODER.decode(line)
    except msgspec.ValidationError as error:
        return _refusal(line, line, INVALID_REQUEST, f"this is no message of the protocol: {str(error)[:200]}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _refusal(line, line, PARSE_ERROR, "this is no JSON")
    except RecursionError:
        return _refusal(line, line, INVALID_REQUEST, "this is nested too deeply")
    if frame.jsonrpc != "2.0":
        return _refusal(line, line, INVALID_REQUEST, "this is not JSON-RPC 2.0")
    return frame


def _refusal(start: bytes, end: bytes, code: int, why: str) -> Refusal:
    found = _AT_END.search(end[-512:]) or _AT_START.search(start[:512])
    name = found[1].decode() if found else "null"
    return Refusal(failed(msgspec.json.decode(name), code, why))


def result(name: Id, value: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request."""
    return {"jsonrpc": "2.0", "id": name, "result": value}


def failed(name: Id, code: int, why: str) -> dict[str, Any]:
    """Return the answer to a request that is wrong."""
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": f"passdown: {why}"}}


def greet(asked: Any) -> dict[str, Any]:
    """Return the answer to the handshake, in the revision that was asked for where it is known."""
    return {
        "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": False}, "resources": {"subscribe": False, "listChanged": False}},
        "serverInfo": {"name": "passdown", "title": "passdown", "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def list_tools() -> dict[str, Any]:
    """Return the tools as they are listed."""
    return {"tools": [_tool(tool) for tool in TOOLS]}


def _tool(tool: Tool) -> dict[str, Any]:
    hints = {"readOnlyHint": tool.looks, "destructiveHint": False, "idempotentHint": tool.same, "openWorldHint": False}
    return {"name": tool.name, "title": tool.title, "description": tool.description,
            "inputSchema": schema_of(tool.arguments), "annotations": hints}  # fmt: skip


def list_resources() -> dict[str, Any]:
    """Return the resources as they are listed."""
    return {"resources": [{"uri": r.uri, "name": r.name, "description": r.description, "mimeType": r.kind}
                          for r in RESOURCES]}  # fmt: skip


def list_templates() -> dict[str, Any]:
    """Return the resource templates as they are listed."""
    row = {"uriTemplate": TEMPLATE.uri, "name": TEMPLATE.name, "description": TEMPLATE.description,
           "mimeType": TEMPLATE.kind}  # fmt: skip
    return {"resourceTemplates": [row]}


def tool_result(answer: Answer) -> dict[str, Any]:
    """Return what a tool answered."""
    content = [{"type": "text", "text": answer.text}]
    return {"content": content, "structuredContent": answer.data, "isError": answer.failed}


def resource_result(uri: str, content: Content) -> dict[str, Any]:
    """Return what a resource holds, with the notice that it is data."""
    row = {"uri": uri, "mimeType": content.kind, "text": content.text, "_meta": {"passdown/notice": NOTICE}}
    return {"contents": [row]}
