"""A workbench in an empty folder: write artifacts, load them, look at the findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passdown.config import Config
from passdown.model.workbench import Workbench
from passdown.workbench.load import load_workbench


class Bench:
    """A folder to put artifacts into."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = Config()

    def put(self, path: str, content: Any) -> Path:
        """Write bytes or text as they are, anything else as JSON."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            target.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return target

    def rows(self, path: str, *rows: Any) -> Path:
        """Write JSON Lines."""
        return self.put(path, "".join(json.dumps(row) + "\n" for row in rows))

    def load(self, *, tracked: frozenset[str] = frozenset()) -> Workbench:
        """Load the workbench."""
        return load_workbench(self.root, self.config, tracked=tracked)

    def codes(self) -> list[str]:
        """Load the workbench and return the codes of its findings."""
        return [finding.code for finding in self.load().findings]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty workbench."""
    root = tmp_path / "project"
    root.mkdir()
    return Bench(root)
