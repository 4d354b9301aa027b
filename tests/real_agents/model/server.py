"""A model on the loopback that says what a script says, in the protocols that coding agents speak.

    python tests/real_agents/model/server.py --script SCRIPT.json --records DIR [--port N]

It prints its address when it listens, on a free port unless one is named; it ends with SIGTERM. Each request is kept in a
file of its own in DIR: when, method, path, the step that answered, the body; never a header, for those hold keys. What a
script holds: script.py.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import ipaddress
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import anthropic_messages
import gemini_generate
import openai_chat
import openai_responses
from script import Body, Script, reply_of, tokens

DIALECTS: dict[str, ModuleType] = {"anthropic": anthropic_messages, "responses": openai_responses,
                                   "chat": openai_chat, "gemini": gemini_generate}  # fmt: skip
LONGEST = 64 << 20


class Records:
    """The folder in which requests are kept: 0001.json, 0002.json, …, after those that are there."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._lock = folder, threading.Lock()
        self._count = sum(path.suffix == ".json" for path in folder.iterdir())

    def keep(self, **fields: Any) -> None:
        """Write one request, whole or not at all."""
        with self._lock:
            self._count += 1
            path = self._folder / f"{self._count:04}.json"
            half = path.with_suffix(".half")
            half.write_text(json.dumps({"n": self._count, "at": round(time.time(), 3), **fields}), "utf-8")
            half.rename(path)


class Model(ThreadingHTTPServer):
    """The server, with the script and the records that its requests share."""

    daemon_threads = True

    def __init__(self, port: int, script: Script, records: Records, host: str = "127.0.0.1") -> None:
        if not ipaddress.ip_address(host).is_loopback:
            raise ValueError(f"{host} is not the loopback: a scripted model serves this machine alone")
        self.script, self.records = script, records
        super().__init__((host, port), Request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, but not that a client went away."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Request(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server: Model

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.records.keep(method="GET", path=self.path)
        models = [{"id": name, "object": "model", "type": "model", "display_name": name, "created": 1,
                   "owned_by": "script"} for name in self.server.script.models]  # fmt: skip
        if path.rstrip("/").endswith("/models"):
            self._json(200, {"object": "list", "data": models, "has_more": False, "models": []})
        elif "/models/" in path:
            self._json(200, {**models[0], "id": path.rpartition("/")[2]})
        else:
            self._unknown()

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        try:
            body = self._body()
        except ValueError as error:
            self.close_connection = True
            self.server.records.keep(method="POST", path=self.path, problem=str(error))
            self._json(400, {"error": {"type": "invalid_request_error", "message": str(error)}})
            return
        kind = next((name for name, dialect in DIALECTS.items() if dialect.is_for(path)), None)
        if kind is not None:
            self._answer(kind, body)
            return
        self.server.records.keep(method="POST", path=self.path, body=body)
        if path.endswith("/count_tokens"):
            self._json(200, {"input_tokens": tokens(body)})
        elif path.endswith(":countTokens"):
            self._json(200, {"totalTokens": tokens(body)})
        else:
            self._unknown()

    def _answer(self, kind: str, body: Body) -> None:
        dialect: Any = DIALECTS[kind]
        at, step = self.server.script.choose(dialect, body)
        self.server.records.keep(method="POST", path=self.path, kind=kind, step=at, body=body)
        time.sleep(step.get("sleep", 0))
        if status := step.get("status"):
            after = {"retry-after": str(step["retry_after"])} if "retry_after" in step else {}
            self._json(status, dialect.refusal(status, step.get("error", ""), "the script says so"), after)
            return
        reply = reply_of(step, body)
        if not dialect.is_streamed(self.path.partition("?")[0], body):
            self._json(200, dialect.whole(body, reply))
            return
        events = dialect.events(body, reply)
        if kind == "gemini" and "alt=sse" not in self.path:
            self._json(200, [data for _, data in events])
            return
        self._stream(events[: len(events) // 2] if step.get("cut") else events)

    def _stream(self, events: list[tuple[str, Any]]) -> None:
        self.close_connection = True
        self._head(200, {"content-type": "text/event-stream", "cache-control": "no-cache", "connection": "close"})
        for name, data in events:
            named = f"event: {name}\n" if name else ""
            self.wfile.write(f"{named}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode())
            self.wfile.flush()

    def _body(self) -> Body:
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            data = b""
            while size := int(self.rfile.readline(100).partition(b";")[0], 16):
                if len(data) + size > LONGEST:
                    raise ValueError("the body is too long")
                data += self.rfile.read(size)
                self.rfile.readline(100)
            self.rfile.readline(100)
        else:
            size = int(self.headers.get("content-length") or 0)
            if size > LONGEST:
                raise ValueError("the body is too long")
            data = self.rfile.read(size)
        coding = self.headers.get("content-encoding", "identity")
        if coding == "gzip":
            data = gzip.decompress(data)
        elif coding != "identity":
            raise ValueError(f"the body is packed as {coding}")
        read = json.loads(data or b"{}")
        if not isinstance(read, dict):
            raise ValueError("the body is no JSON object")
        return read

    def _unknown(self) -> None:
        self._json(404, {"error": {"type": "not_found_error", "message": f"no such path here: {self.path}"}})

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"content-type": "application/json", **(headers or {})})

    def _send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self._head(status, {**(headers or {}), "content-length": str(len(data))})
        self.wfile.write(data)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name it has there
        """Say nothing: the records tell it."""


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1", help="an address of the loopback")
    arguments = parser.parse_args()
    try:
        script = Script(json.loads(arguments.script.read_text("utf-8")))
        model = Model(arguments.port, script, Records(arguments.records), arguments.host)
    except (ValueError, KeyError, OSError) as error:
        sys.exit(f"no scripted model: {error}")
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    print(f"http://{arguments.host}:{model.server_address[1]}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        model.serve_forever()


if __name__ == "__main__":
    main()
