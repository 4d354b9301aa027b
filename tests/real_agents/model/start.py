"""Start the scripted model for as long as a block of code runs, and read what it was asked."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("server.py")


@contextlib.contextmanager
def serving(script: dict[str, Any], place: Path, records: Path, port: int = 0) -> Iterator[str]:
    """Serve a script; the server's own files go to `place`, the requests to `records`. Yields its address."""
    path, log = place / "script.json", place / "model.log"
    path.write_text(json.dumps(script), "utf-8")
    words = ["--script", str(path), "--records", str(records), "--port", str(port)]
    with log.open("ab") as told:
        server = subprocess.Popen([sys.executable, "-B", str(SERVER), *words], stdout=subprocess.PIPE, stderr=told)
        assert server.stdout is not None
        try:
            address = server.stdout.readline().decode().strip()
            if not address:
                sys.exit(f"the scripted model did not start: {log.read_text(errors='replace')[-2000:]}")
            yield address
        finally:
            server.terminate()
            server.wait(10)
            server.stdout.close()


def requests(records: Path) -> list[dict[str, Any]]:
    """Return the requests kept so far, in their order."""
    return [json.loads(path.read_bytes()) for path in sorted(records.glob("*.json"))]
