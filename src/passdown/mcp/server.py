"""The server: reads messages, answers what is quick at once, and does one call after the other beside that.

It is a loop of its own, without the protocol's package: that takes more than a second to import, and an agent which
does not wait for its servers asks its model meanwhile, without our tools.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from passdown.errors import PassdownError
from passdown.mcp import protocol
from passdown.mcp.asker import agent_called, mark
from passdown.mcp.protocol import Frame, Id, Refusal
from passdown.mcp.resources import read_resource
from passdown.mcp.tools import call_tool
from passdown.mcp.wire import Wire
from passdown.redact.neutralise import one_line

PATIENCE = 20.0
"""Seconds that calls under way may take after the client has closed its end."""

WAITING = 64
"""Most calls that wait; a client that sends more is read no further until one is done."""

_SHOWS_BOTH = ("copilot",)
"""Agents that give their model a tool's text and its structured content: they get the brief in the text alone."""

_QUICK: dict[str, Callable[[], dict[str, Any]]] = {
    "ping": dict,
    "tools/list": protocol.list_tools,
    "resources/list": protocol.list_resources,
    "resources/templates/list": protocol.list_templates,
}


def serve(folder: Path) -> None:
    """Serve the repository around `folder` over standard input and output until the client closes its end.

    A signal ends it at once: every file is written whole or not at all, and the system lets go of the locks.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    service = _Service(folder.resolve())
    worker = threading.Thread(target=service.work, daemon=True)
    worker.start()
    service.read()
    worker.join(PATIENCE)


class _Service:
    """One repository, one client, one call at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wire = Wire()
        self.calls: queue.Queue[tuple[Id, Callable[[], dict[str, Any]]] | None] = queue.Queue(WAITING)
        self.waiting: set[Id] = set()
        self.agent: str | None = None

    def read(self) -> None:
        """Read until the client closes its end, and let what waits be done."""
        for line in self.wire.lines():
            if not isinstance(line, bytes) or line.strip():
                frame = protocol.read_frame(line)
                if isinstance(frame, Refusal):
                    self.wire.send(frame.message)
                elif isinstance(frame.method, str):
                    self._take(frame, frame.method)
        self.calls.put(None)

    def _take(self, frame: Frame, method: str) -> None:
        params = frame.params if isinstance(frame.params, dict) else {}
        if isinstance(frame.id, msgspec.UnsetType):
            if method == "notifications/cancelled" and isinstance(name := params.get("requestId"), int | str):
                self.waiting.discard(name)
            return
        if method == "initialize":
            self._meet(params)
            self.wire.send(protocol.result(frame.id, protocol.greet(params.get("protocolVersion"))))
        elif method in _QUICK:
            self.wire.send(protocol.result(frame.id, _QUICK[method]()))
        elif method in ("tools/call", "resources/read"):
            self._queue(frame.id, self._tool if method == "tools/call" else self._resource, params)
        else:
            what = f"there is no method {one_line(method, 60)!r}"
            self.wire.send(protocol.failed(frame.id, protocol.NO_METHOD, what))

    def _meet(self, params: dict[str, Any]) -> None:
        """Mark the process as its client's, once."""
        if self.agent is None:
            info = params.get("clientInfo")
            name = info.get("name") if isinstance(info, dict) else ""
            name = name if isinstance(name, str) else ""
            self.agent = agent_called(name)
            mark(name, os.environ)

    def _queue(
        self, name: Id, call: Callable[[Id, dict[str, Any]], dict[str, Any]], params: dict[str, Any]
    ) -> None:  # fmt: skip
        self._meet({})
        self.waiting.add(name)
        self.calls.put((name, lambda: call(name, params)))

    def work(self) -> None:
        """Do what waits, one after the other; what was cancelled meanwhile is left out."""
        while (waiting := self.calls.get()) is not None:
            name, call = waiting
            if name not in self.waiting:
                continue
            try:
                message = call()
            except BaseException:  # noqa: BLE001 - the one boundary: a call that breaks is answered, and the next one done
                traceback.print_exc()
                message = protocol.failed(name, protocol.INTERNAL_ERROR, "this call broke; see standard error")
            if name in self.waiting:
                self.waiting.discard(name)
                self.wire.send(message)

    def _tool(self, name: Id, params: dict[str, Any]) -> dict[str, Any]:
        tool, given = params.get("name"), params.get("arguments")
        if not isinstance(tool, str) or not (given is None or isinstance(given, dict)):
            return protocol.failed(name, protocol.INVALID_PARAMS, "a tool's name is a text, its arguments an object")
        answer = call_tool(self.folder, tool, given or {})
        if self.agent in _SHOWS_BOTH:
            answer = msgspec.structs.replace(answer, data={k: v for k, v in answer.data.items() if k != "brief"})
        return protocol.result(name, protocol.tool_result(answer))

    def _resource(self, name: Id, params: dict[str, Any]) -> dict[str, Any]:
        uri = params.get("uri")
        if not isinstance(uri, str):
            return protocol.failed(name, protocol.INVALID_PARAMS, "a resource's uri is a text")
        try:
            return protocol.result(name, protocol.resource_result(uri, read_resource(self.folder, uri)))
        except (PassdownError, OSError) as error:
            return protocol.failed(name, protocol.NO_RESOURCE, one_line(str(error), 400))
