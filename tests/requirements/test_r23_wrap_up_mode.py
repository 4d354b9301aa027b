"""R23: what happens after a session's end stops, summarises, saves and exits: it never goes on with the work."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import pytest

ID = "aaaaaaaa-0000-4000-8000-000000000001"


def content(root: Path) -> dict[str, str]:
    """Every file outside of git's own folder, with its content and mode."""
    files = (path for path in sorted(root.rglob("*")) if ".git" not in path.relative_to(root).parts and path.is_file())
    return {
        path.relative_to(root).as_posix(): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mode:o}"
        for path in files
    }


@pytest.mark.parametrize("shelf", ["local", "project"])
def test_the_packet_of_an_ended_session_touches_nothing_of_the_work(
    shelf: str, hooked: Any, repository: Any, claude_session: Any
) -> None:
    repository.write("passdown.toml", f'[hooks]\npublish = "{shelf}"\n')
    repository.write("src/a.py", "def a(): ...\n")
    repository.commit("Begin")
    session = claude_session(repository.root, ID)
    session.clock = int(time.time()) - 600
    session.human("Make a() add.")
    session.edits("src/a.py")
    session.runs("touch MADE_BY_A_COMMAND; pytest -q", "FAILED tests/test_a.py::test_a - AssertionError", 1)
    repository.write("src/a.py", "def a(): print(1)\n")
    before, refs = content(repository.root), repository.git("for-each-ref") + repository.git("stash", "list")
    index, log = repository.git("ls-files", "-s"), repository.git("log", "--all", "--format=%H")

    hooked.hook("end", ID, "other", path=str(session.path))
    hooked.settle()

    after = content(repository.root)
    assert {path: after[path] for path in before} == before
    new = set(after) - set(before)
    assert all(path.startswith(("outputs/handoff/", ".ai/")) for path in new)
    assert bool(new) == (shelf == "project")
    assert refs == repository.git("for-each-ref") + repository.git("stash", "list")
    assert (index, log) == (repository.git("ls-files", "-s"), repository.git("log", "--all", "--format=%H"))
    assert bool(hooked.packets()) == (shelf == "local")
    assert repository.git("status", "--porcelain", "--", "src").strip() == "M src/a.py"
