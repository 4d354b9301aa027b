"""Standard input and output as the protocol's two streams: one message a line, bounded, and nothing else on either.

The SDK's own transport reads lines of any length and drops what is no message without a word, so that the client waits
for ever. Here each such line is answered. What this process or a child of it prints goes to standard error.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from passdown.model.pattern import lazy_pattern

LIMIT = 4 << 20
"""Longest line that is read as a message, in bytes; what is longer is skipped and answered."""

PATIENCE = 20.0
"""Seconds that calls under way may take after the client has closed its end."""

_CHUNK = 1 << 16
_EDGE = 512
_NUMBER = rb'(-?[0-9]{1,15}|"[A-Za-z0-9._:-]{1,128}")'
_AT_END = lazy_pattern(rb'[,{]\s*"id"\s*:\s*' + _NUMBER + rb"\s*\}\s*$")
_AT_START = lazy_pattern(
    rb'^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,64}"\s*,\s*){0,2}"id"\s*:\s*' + _NUMBER + rb"\s*[,}]"
)

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def open_wire() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Serve the protocol's streams over standard input and output until the client closes its end."""
    wire = _Wire(*_claim())
    into, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, out_of = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.read, into)
        tasks.start_soon(wire.write, out_of)
        yield incoming, outgoing


def _claim() -> tuple[int, int]:
    """Keep the two streams under numbers of their own: 0 is empty now, and 1 is standard error."""
    source, sink = (fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3) for number in (0, 1))
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error
        os.dup2(0, 1)
    sys.stdout = sys.stderr
    return source, sink


class _Wire:
    """The two ends, and the requests that wait for their answer."""

    def __init__(self, source: int, sink: int) -> None:
        self.source, self.sink = source, sink
        self.open: set[str | int] = set()
        self.answered = anyio.Event()
        self.one_writer = anyio.Lock()

    async def read(self, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with into:
            buffer = bytearray()
            skipped = False
            while chunk := await self._more():
                *whole, rest = (bytes(buffer) + chunk).split(b"\n") if b"\n" in chunk else (chunk,)
                if not whole:
                    buffer += rest
                elif skipped:
                    await self._refuse(bytes(buffer) + whole[0][-_EDGE:], f"a message is at most {LIMIT} bytes long")
                    whole, buffer, skipped = whole[1:], bytearray(rest), False
                else:
                    buffer = bytearray(rest)
                for line in whole:
                    await self._take(line, into)
                if len(buffer) > LIMIT or skipped:
                    skipped = True
                    buffer = buffer[:_EDGE] + buffer[-_EDGE:]
            if buffer and not skipped:
                await self._take(bytes(buffer), into)
            with anyio.move_on_after(PATIENCE):
                while self.open:
                    await self.answered.wait()

    async def _more(self) -> bytes:
        with suppress(PermissionError):  # a file: there is always more, or an end
            await anyio.wait_readable(self.source)
        try:
            return os.read(self.source, _CHUNK)
        except OSError:
            return b""

    async def _take(self, line: bytes, into: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            is_json = error.errors(include_input=False, include_url=False)[0]["type"] != "json_invalid"
            code = INVALID_REQUEST if is_json else PARSE_ERROR
            await self._refuse(line, "this is no message of the protocol" if is_json else "this is no JSON", code)
            return
        self._keep(message)
        await into.send(SessionMessage(message))

    def _keep(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self.open.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, name: object) -> None:
        if isinstance(name, str | int):
            self.open.discard(name)
        self.answered.set()
        self.answered = anyio.Event()

    async def _refuse(self, line: bytes, why: str, code: int = INVALID_REQUEST) -> None:
        found = _AT_END.search(line[-_EDGE:]) or _AT_START.search(line[:_EDGE])
        name = found[1].decode() if found else ""
        error = ErrorData(code=code, message=f"passdown: {why}")
        await self._send(
            JSONRPCError(
                jsonrpc="2.0", id=name.strip('"') if name[:1] == '"' else int(name) if name else None, error=error
            )
        )

    async def write(self, out_of: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with out_of:
            async for message in out_of:
                await self._send(message.message)
                if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                    self._settle(message.message.id)

    async def _send(self, message: JSONRPCMessage) -> None:
        data = message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8", "replace") + b"\n"
        async with self.one_writer:
            await anyio.to_thread.run_sync(self._write_all, data)

    def _write_all(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(self.sink, left) :]
