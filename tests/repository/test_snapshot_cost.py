"""What a snapshot costs: git processes, and memory on a large tree. No clock: a busy machine is not a defect."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdown.repository.snapshot import snapshot

OWN = ("outputs/handoff/", ".ai/")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Put a git on the search path that writes down each call; return a function that counts and forgets them."""
    log = tmp_path / "calls.log"
    folder = tmp_path / "counting"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho call >> {log}\nexec {shutil.which("git")} "$@"\n')
    (folder / "git").chmod(0o755)

    def count() -> int:
        found = len(log.read_text().splitlines()) if log.exists() else 0
        log.unlink(missing_ok=True)
        return found

    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return count


def test_git_is_called_a_handful_of_times(repository: Any, tmp_path: Path, calls: Callable[[], int]) -> None:
    calls()
    snapshot(repository.root, own_paths=OWN)
    assert calls() <= 4
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    repository.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repository.git("push", "-q", "-u", "origin", "main")
    repository.git("checkout", "-q", "-b", "topic")
    for number in range(40):
        repository.commit(f"commit {number}", **{f"f{number}.py": "x\n"})
    for number in range(10):
        repository.write(f"f{number}.py", "changed\n")
        repository.write(f"new{number}.py", "new\n")
    calls()
    facts = snapshot(repository.root, own_paths=OWN)
    assert calls() <= 12
    assert (facts.changes_total, facts.commits_total, facts.unpushed) == (50, 40, 40)


def test_memory_stays_small_on_a_large_tree(repository: Any) -> None:
    for number in range(20_000):
        repository.write(f"src/{number % 100}/{number}.py", "")
    repository.commit("many")
    base = repository.git("rev-parse", "HEAD~1")
    program = """
        import resource, sys
        from pathlib import Path
        from passdown.repository.snapshot import snapshot
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        facts = snapshot(Path(sys.argv[1]), base=sys.argv[2])
        assert (facts.changes_total, len(facts.changes)) == (20_000, 2000)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(repository.root), base],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 24 << 10
