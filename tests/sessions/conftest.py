"""What tests of sessions share: Claude Code's folder in the isolated home, filled by hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from passdown.handoff.session_list import Wanted, listed, searched
from passdown.sessions.index.place import index_path

AT = 1_760_000_000


class Store:
    """Claude Code's folder in the isolated home, with sessions of a few rows."""

    began = AT

    def __init__(self, home: Path) -> None:
        self.home, self.clock = home, AT

    def path(self, number: int, folder: str = "p") -> Path:
        return self.home / ".claude/projects" / folder / f"{number:08x}-0000-4000-8000-000000000000.jsonl"

    def rows(self, number: int, *said: str, cwd: str = "/gone/here", branch: str = "main") -> str:
        base = {"sessionId": self.path(number).stem, "cwd": cwd, "gitBranch": branch, "version": "2.1.0",
                "timestamp": "2025-10-09T08:53:20.000Z", "isSidechain": False}  # fmt: skip
        rows = [
            base | {"type": "user", "uuid": f"u{count}", "parentUuid": None, "permissionMode": "default",
                    "message": {"role": "user", "content": text}}
            for count, text in enumerate(said)
        ]  # fmt: skip
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    def save(self, number: int, *said: str, folder: str = "p", at: int | None = None, **more: Any) -> Path:
        self.clock += 10
        path = self.path(number, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.rows(number, *said, **more))
        os.utime(path, (at or self.clock, at or self.clock))
        return path

    def found(self, words: str) -> list[int]:
        answer = searched(self.home, words, Wanted(everywhere=True, limit=1000))
        assert answer.notes == ()
        return sorted(int(found.session["session_id"][:8], 16) for found in answer.found)

    def all(self) -> list[int]:
        """The numbers of all sessions, newest first, everything looked at (not just a glance)."""
        index_path().with_suffix(".checked").unlink(missing_ok=True)
        answer = listed(self.home, Wanted(everywhere=True, limit=100_000))
        assert answer.notes == ()
        return [int(row["session_id"][:8], 16) for row in answer.rows]


@pytest.fixture
def store(isolated_home: Path) -> Store:
    """Return an empty folder of Claude Code's."""
    return Store(isolated_home)
