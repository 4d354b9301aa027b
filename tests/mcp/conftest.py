"""A real server process in a temporary repository: driven by the official client, or by lines written by hand."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

COMMAND = ["-m", "passdown", "mcp"]


@pytest.fixture
def server_env(isolated_home: Path) -> dict[str, str]:
    """The environment that an agent gives its servers."""
    return {
        "PATH": os.environ["PATH"], "HOME": str(isolated_home), "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }  # fmt: skip


@pytest.fixture
def with_client(server_env: dict[str, str]) -> Callable[..., Any]:
    """Return a function that runs a conversation of the official client with a server started in a folder."""

    def run(folder: Path, talk: Callable[[Client], Awaitable[Any]], *, mode: str = "legacy", **env: str) -> Any:
        parameters = StdioServerParameters(command=sys.executable, args=COMMAND, cwd=folder, env=server_env | env)

        async def converse() -> Any:
            with Path(os.devnull).open("w") as errors, anyio.fail_after(60):
                async with Client(stdio_client(parameters, errlog=errors), mode=mode) as client:
                    return await talk(client)

        return anyio.run(converse)

    return run


class Talk:
    """A server process, spoken to line by line."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *COMMAND], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.count = 0

    def send(self, line: bytes) -> None:
        """Send a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next message, which has to be one."""
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return its answer."""
        self.count += 1
        body = {"jsonrpc": "2.0", "id": self.count, "method": method} | ({} if params is None else {"params": params})
        self.send(json.dumps(body).encode())
        answer = self.receive()
        assert answer["id"] == self.count
        return answer

    def call(self, tool: Any, arguments: Any) -> dict[str, Any]:
        """Call a tool and return the answer's result, or its error."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        found: dict[str, Any] = answer.get("result") or answer["error"]
        return found

    def greet(self, name: str = "test") -> dict[str, Any]:
        """Shake hands under a name."""
        info = {"name": name, "version": "1"}
        answer = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        found: dict[str, Any] = answer["result"]
        return found

    def leave(self) -> tuple[int, bytes, bytes]:
        """Close our end; return how it ended and what was left to read."""
        out, errors = self.process.communicate(timeout=30)
        return self.process.returncode, out, errors


@pytest.fixture(scope="session")
def talker() -> type[Talk]:
    """What speaks to a server, for a module that shares one."""
    return Talk


@pytest.fixture
def talk(server_env: dict[str, str]) -> Iterator[Callable[..., Talk]]:
    """Return a function that starts a server in a folder."""
    started: list[Talk] = []

    def start(folder: Path, **env: str) -> Talk:
        started.append(Talk(folder, server_env | env))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        for stream in (one.process.stdin, one.process.stdout, one.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was not sent goes nowhere
                    stream.close()
        one.process.wait()
