"""What is known of a path of the working tree: the same hash for a short file and for a long one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from passdown.handoff.path_facts import path_facts
from passdown.packet.paths import PathFact


@pytest.mark.parametrize("size", [0, 1, 64 << 10, (64 << 10) + 1, 3 << 20])
def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path, size: int) -> None:
    data = b"passdown" * (size // 8) + b"x" * (size % 8)
    (tmp_path / "notes.txt").write_bytes(data)
    fact = path_facts(tmp_path, {"notes.txt"})("notes.txt")
    assert fact == PathFact(sha256=hashlib.sha256(data).hexdigest(), bytes=size, tracked=True)
