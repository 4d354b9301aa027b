"""What a command says where it does nothing, cannot do it, or leaves the rest to a person."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def packed(repository: Any, passdown: Any) -> Any:
    """A repository with a packet that is committed."""
    passdown("note", "decision", "Keep cents as whole numbers", folder=repository.root)
    repository.commit("Note")
    passdown("wrap", "--interim", "--commit", "--next", "Write tests/test_ship.py", folder=repository.root)
    return repository


def test_a_printed_commit_works_where_it_says_it_does(packed: Any, passdown: Any) -> None:
    below = packed.root / "deep"
    below.mkdir()
    packed.git("config", "user.name", "Ann")
    packed.git("config", "user.email", "ann@example.org")
    for words in (("init",), ("skill", "install", "claude"), ("archive", "active")):
        done = passdown(*words, folder=below)
        said = done.stderr.decode()
        assert f"Run the commands in {packed.root.resolve()}." in said
        command = next(line for line in said.splitlines() if line.startswith("commit it")).split(": ", 1)[1]
        subprocess.run(["sh", "-c", command], cwd=packed.root, check=True, capture_output=True)
    assert packed.git("status", "--porcelain", "--untracked-files=all") == ""
    elsewhere = passdown("-C", str(packed.root), "init", "--agents-md", folder=packed.root.parent)
    assert f"Run the commands in {packed.root.resolve()}." in elsewhere.stderr.decode()
    assert "Run the commands" not in passdown("archive", "--undo", "active", folder=packed.root).stderr.decode()


def test_what_is_archived_is_not_active(packed: Any, passdown: Any) -> None:
    found = json.loads(passdown("show", "--json", folder=packed.root).stdout)["packet_id"]
    assert b"is not archived" in passdown("archive", "--undo", found[:8], folder=packed.root).stdout
    passdown("archive", "active", folder=packed.root)
    refused = passdown("archive", "--undo", "active", folder=packed.root)
    assert (refused.returncode, b"passdown log" in refused.stderr) == (2, True)
    assert b"no longer archived" in passdown("archive", "--undo", found[:8], folder=packed.root).stdout


def test_a_demo_is_not_built_among_other_files(repository: Any, passdown: Any) -> None:
    before = sorted(path.name for path in repository.root.iterdir())
    refused = passdown("demo", "--folder", str(repository.root))
    assert (refused.returncode, b"is not empty" in refused.stderr) == (2, True)
    assert sorted(path.name for path in repository.root.iterdir()) == before


def test_hooks_say_so_when_there_is_nothing(repository: Any, passdown: Any) -> None:
    assert passdown("hooks", "uninstall", folder=repository.root).stderr.startswith(b"nothing to do")
    assert passdown("hooks", "log", "--limit", "3", folder=repository.root).stderr.startswith(b"no hook has run yet")


def test_no_packet_is_named_by_its_file(repository: Any, passdown: Any) -> None:
    (repository.root / "notes.txt").write_text("no packet\n")
    refused = passdown("show", "notes.txt", folder=repository.root)
    assert (refused.returncode, refused.stderr.startswith(b"passdown: notes.txt: ")) == (4, True)
    assert b"handoff.json" in refused.stderr


def test_a_title_is_no_json(packed: Any, passdown: Any) -> None:
    for more in (("--json",), ("-o", "body.md")):
        assert passdown("pr", "--title", *more, folder=packed.root).returncode == 2
    assert not (packed.root / "body.md").exists()


def test_a_reason_that_says_nothing_is_called_that(repository: Any, passdown: Any) -> None:
    said = passdown("check", "--allow", "tests.stale", "--reason", "x", folder=repository.root).stderr
    assert b"says nothing" in said
    assert b"without a reason" in passdown("check", "--allow", "tests.stale", folder=repository.root).stderr


def test_outside_a_repository_budget_names_what_helps_there(tmp_path: Path, passdown: Any) -> None:
    said = passdown("budget", folder=tmp_path).stderr.decode()
    assert "is not in a git repository" in said
    assert "-C" in said
    assert "this repository" not in said


def test_check_tells_what_it_found_where_nothing_can_be_kept(repository: Any, passdown: Any) -> None:
    folder = repository.root / ".git/passdown"
    folder.mkdir(exist_ok=True)
    (folder / "clean_state.json").unlink(missing_ok=True)
    (repository.root / "left.py").write_text("x = 1\n")
    os.chmod(folder, 0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        done = passdown("check", folder=repository.root)
    finally:
        os.chmod(folder, 0o700)
    assert done.returncode == 3
    assert b"tree.untracked" in done.stdout
    assert b"clean_state.json" in done.stderr
    assert b".tmp" not in done.stderr


def test_a_detached_head_is_told_where_the_packet_waits(packed: Any, passdown: Any) -> None:
    branch = packed.git("symbolic-ref", "--short", "HEAD").strip()
    packed.git("switch", "-q", "--detach")
    status = json.loads(passdown("status", "--json", folder=packed.root).stdout)
    assert status["next"]["command"] == f"git switch {branch}"
