"""An independent witness: what git itself says when everything is added to a private index."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from passdown.model.evidence import RepositoryFacts
from passdown.model.path import encode_path
from passdown.repository.snapshot import snapshot


class Row(NamedTuple):
    """One changed path as the private index tells it."""

    status: str
    mode: str
    blob: str
    added: str
    deleted: str


@pytest.fixture
def witness(tmp_path: Path) -> Callable[[Path, str], dict[bytes, Row]]:
    """Return a function that compares a base with the working tree through a private index."""

    def compare(root: Path, base: str) -> dict[bytes, Row]:
        env = os.environ | {"GIT_INDEX_FILE": str(tmp_path / "witness.index"), "LC_ALL": "C"}

        def git(*arguments: str) -> bytes:
            return subprocess.run(["git", *arguments], cwd=root, env=env, check=True, capture_output=True).stdout

        (tmp_path / "witness.index").unlink(missing_ok=True)
        git("read-tree", base)
        git("add", "-A", ".")
        plain = ("diff", "--cached", "--no-renames", "-z", "--ignore-submodules=none", base)
        raw = git(*plain, "--raw", "--no-abbrev").split(b"\0")
        numbers = {}
        for record in git(*plain, "--numstat").split(b"\0"):
            if record:
                added, deleted, path = record.split(b"\t", 2)
                numbers[path] = (added.decode(), deleted.decode())
        rows = {}
        for info, path in zip(raw[::2], raw[1::2], strict=False):
            _, mode, _, blob, status = info.decode().split()
            gone = status == "D"
            rows[path] = Row(status, "" if gone else mode, "" if gone else blob, *numbers[path])
        return rows

    return compare


@pytest.fixture
def agree(witness: Callable[[Path, str], dict[bytes, Row]]) -> Callable[..., RepositoryFacts]:
    """Return a function that takes a snapshot and asserts that git's private index says the same."""

    def check(root: Path, **options: Any) -> RepositoryFacts:
        index = root / ".git" / "index"
        before = index.read_bytes() if index.is_file() else b""
        facts = snapshot(root, **options)
        assert (index.read_bytes() if index.is_file() else b"") == before
        rows = witness(root, facts.base)
        mine = {
            encode_path(change.path): Row(
                change.status,
                change.mode,
                change.blob,
                "-" if change.binary else str(change.added),
                "-" if change.binary else str(change.deleted),
            )
            for change in facts.changes
        }
        assert mine == rows
        assert facts.changes_total == len(rows)
        assert [change.path for change in facts.changes] == [
            change.path for change in sorted(facts.changes, key=lambda change: encode_path(change.path))
        ]
        return facts

    return check
