"""What the tests of the agents share: each agent's builders of sessions, importable by name, and the fixtures on them."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BUILDERS = ("claude_code_log", "codex_rows", "log_formats", "opencode_documents", "pi_entries", "row_databases")


def load(name: str) -> None:
    """Make a module of this folder importable: the folder itself is on no path."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])


for builder in BUILDERS:
    load(builder)


@pytest.fixture
def log() -> Any:
    """A Claude Code log with no rows yet."""
    from claude_code_log import Log

    return Log()


@pytest.fixture
def events(tmp_path: Path) -> Callable[..., list[Any]]:
    """Return a function that writes rows (or raw lines) to a Codex rollout and reads it."""
    from passdown.agents.codex.sessions import read
    from passdown.model.session import SessionRef

    def run(*rows: Any, name: str = "session.jsonl", **options: Any) -> list[Any]:
        path = tmp_path / name
        lines = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in rows]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return list(read(SessionRef(agent="codex", path=str(path), session_id=""), **options))

    return run
