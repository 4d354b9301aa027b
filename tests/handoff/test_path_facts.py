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


@pytest.mark.parametrize("path", ["src/a.txt", "./src/a.txt", "src//a.txt", "src/./a.txt", "src/a.txt/", "src/a.txt/."])
def test_a_path_is_found_however_it_is_spelled(tmp_path: Path, path: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.txt").write_text("x")
    fact = path_facts(tmp_path, set())(path)
    assert fact is not None
    assert fact.exists
    assert fact.bytes == 1


def test_a_path_that_leads_out_or_nowhere_says_so(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "project/out").symlink_to(tmp_path / "secret")
    look = path_facts(tmp_path / "project", set())
    assert look("out") == PathFact(outside=True)
    assert look("nothing/here") == PathFact(exists=False)
    assert look("../secret") is None
