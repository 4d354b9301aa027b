"""The scripted model of the real agents' tests, as a fixture: the real server, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

MODEL = Path(__file__).resolve().parents[1] / "real_agents/model"


class Answer:
    """What came back: the status, the headers, the text, and what is in it."""

    def __init__(self, status: int, headers: Any, text: str) -> None:
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The server-sent events: names and data."""
        found = []
        for block in self.text.split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            data = fields["data"]
            found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
        return found


class Model:
    """A running model."""

    def __init__(self, address: str, records: Path, process: subprocess.Popen[bytes]) -> None:
        self.address, self.records, self.process = address, records, process

    def ask(self, path: str, body: Any = None, data: bytes | None = None, **headers: str) -> Answer:
        """Send a request; an error of HTTP is an answer, too."""
        data = json.dumps(body).encode() if body is not None else data
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, data, {"content-type": "application/json", **named})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=20) as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read().decode())

    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_bytes()) for path in sorted(self.records.glob("*.json"))]


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Callable[..., Model]]:
    """Start a model with a script; it ends with the test."""
    with contextlib.ExitStack() as stack:

        def start(*steps: dict[str, Any], **script: Any) -> Model:
            path = tmp_path / "script.json"
            path.write_text(json.dumps({"steps": steps, **script}))
            words = ["--script", str(path), "--records", str(tmp_path / "records")]
            process = subprocess.Popen([sys.executable, str(MODEL / "server.py"), *words], stdout=subprocess.PIPE)
            stack.callback(process.wait, 20)
            stack.callback(process.terminate)
            assert process.stdout is not None
            stack.callback(process.stdout.close)
            return Model(process.stdout.readline().decode().strip(), tmp_path / "records", process)

        yield start
