"""What `check` proposes is settled by what is done next: a note that named failures by green tests, mends by a commit."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

import pytest

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider -p no:xdist -p no:randomly tests"
GREEN, RED = "def test_a():\n    assert True\n", "def test_a():\n    assert 1 == 2\n"


@pytest.fixture
def project(repository: Any) -> Any:
    """A pytest project whose board says how T-1 is proven."""
    task = {"id": "T-1", "goal": "limit the export", "status": "in_progress", "acceptance": [PYTEST]}
    repository.write(".gitignore", "__pycache__/\n")
    repository.write("task_board.json", json.dumps([task]))
    repository.write("tests/test_a.py", GREEN)
    repository.commit("begin")
    return repository


def findings(passdown: Any, root: Any, *options: str) -> dict[str, str]:
    """Return what `check` finds: codes with their mends."""
    done = passdown("check", "--json", *options, folder=root)
    assert done.returncode in (0, 3), done.stderr
    return {f["code"]: f["fix"] for c in json.loads(done.stdout)["checks"] for f in c["findings"]}


def risks(passdown: Any, root: Any) -> set[str]:
    """Return the risks of the packet that `wrap` would write."""
    done = passdown("wrap", "--dry-run", "--json", "--next", "Write docs/limits.md for T-2", folder=root)
    return {risk["detail"] for risk in json.loads(done.stdout)["open_risks"]}


def test_a_note_that_named_what_failed_is_settled_by_green(project: Any, passdown: Any) -> None:
    project.write("tests/test_a.py", RED)
    project.commit("red")
    fix = findings(passdown, project.root, "--run-tests")["tests.red_unnamed"]
    passdown(*shlex.split(fix)[1:], folder=project.root)
    passdown("note", "risk", "the limit is a guess", folder=project.root)
    assert {"the limit is a guess", "tests fail: tests/test_a.py::test_a"} <= risks(passdown, project.root)
    project.write("tests/test_a.py", GREEN)
    project.commit("green")
    findings(passdown, project.root, "--run-tests")
    settled = risks(passdown, project.root)
    assert "the limit is a guess" in settled
    assert not [detail for detail in settled if detail.startswith("tests fail")]


def test_skills_are_no_code_and_commits_come_last(project: Any, passdown: Any) -> None:
    findings(passdown, project.root, "--run-tests")
    assert passdown("skill", "install", "claude", folder=project.root).returncode == 0
    assert "tests.stale" not in findings(passdown, project.root)
    project.write("src/b.py", "def b():\n    breakpoint()\n    return 1\n")
    assert "tests.stale" in findings(passdown, project.root)
    lines = passdown("check", folder=project.root).stdout.decode().splitlines()
    mends = [line for line in lines if line.startswith("  block")]
    commits = [number for number, line in enumerate(mends) if "git commit " in line]
    others = [number for number, line in enumerate(mends) if "git commit " not in line]
    assert commits and others and max(others) < min(commits)
