"""What the tests of trajectories share: fixtures read through the one entrance, and files written on the spot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.model.session import AnyEvent
from passdown.sessions.read import read_session

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


@pytest.fixture
def told() -> Callable[..., list[AnyEvent]]:
    """Return a function that reads one of our fixtures (`chat/rows.jsonl`, `1`)."""
    return lambda name, inner="", agent="": list(read_session(FIXTURES / name, inner=inner, agent=agent))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., list[AnyEvent]]:
    """Return a function that writes a document (or bytes) and reads it back; `agent` reads it as that format."""

    def write(document: Any, *, name: str = "file.json", agent: str = "", inner: str = "") -> list[AnyEvent]:
        path = tmp_path / name
        path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode("utf-8"))
        return list(read_session(path, agent=agent, inner=inner))

    return write
