"""A session that `passdown launch` began has the brief: its hook does not tell it again. All others are told."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

A, B, C, D = (f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in "1234")
BRIEF = "[passdown] Handoff for main"


@pytest.fixture
def launched(hooked: Any, claude_session: Any, repository: Any, passdown: Any, stand_ins: Any) -> Any:
    """Session A left work and a packet; then an agent was launched, whose hooks have the variable that it has."""
    repository.write("src/dates.py", "def parse(text): ...\n")
    session = claude_session(repository.root, A)
    session.clock = int(time.time()) - 3600
    session.human("Make the parser accept dates.")
    session.edits("src/dates.py")
    session.says("Next I will read the ISO week in src/dates.py.")
    os.utime(session.path, (session.clock, session.clock))
    hooked.hook("end", A, "other", path=str(session.path))
    hooked.settle()
    stand_ins.add("claude")
    done = passdown("launch", "claude_code", folder=repository.root, PATH=stand_ins.path)
    assert done.returncode == 0, done.stderr
    hooked.env["PASSDOWN_LAUNCH"] = stand_ins.variables()["PASSDOWN_LAUNCH"]
    return hooked


def test_the_first_session_is_told_nothing_and_knows_it_later(launched: Any) -> None:
    assert launched.hook("start", B, "startup") == ""
    assert "spooled; started with the brief" in launched.log()[-1]
    assert launched.hook("start", B, "resume") == ""
    del launched.env["PASSDOWN_LAUNCH"]
    assert launched.hook("start", B, "startup") == ""  # opened again in another process


def test_the_next_session_of_the_same_process_is_told(launched: Any) -> None:
    assert launched.hook("start", B, "startup") == ""
    assert launched.hook("start", C, "clear").startswith(BRIEF)
    assert launched.hook("start", D, "startup").startswith(BRIEF)


def test_an_agent_that_it_starts_itself_is_told(launched: Any) -> None:
    launched.name = "codex"
    assert launched.hook("start", B, "startup").startswith(BRIEF)
    launched.name = "claude_code"
    assert launched.hook("start", C, "startup") == ""


@pytest.mark.parametrize("value", ["", "0" * 16, "x" * 16, "../../../launch/x", "f" * 15, "\u00e9" * 16])
def test_a_variable_that_names_no_launch_changes_nothing(value: str, launched: Any) -> None:
    assert launched.hook("start", B, "startup", PASSDOWN_LAUNCH=value).startswith(BRIEF)


@pytest.mark.parametrize("what", ["empty", "odd", "link", "folder", "another repository"])
def test_a_word_to_the_hook_that_is_none(what: str, launched: Any, make_repository: Any, tmp_path: Path) -> None:
    name = launched.env["PASSDOWN_LAUNCH"]
    pending = launched.root / f".git/passdown/launch/{name}/pending"
    cwd = None
    if what == "another repository":
        cwd = make_repository("elsewhere").root
    elif what in ("empty", "odd"):
        pending.write_bytes(b"" if what == "empty" else b"\xff claude_code\n")
    else:
        pending.unlink()
        if what == "folder":
            pending.mkdir()
        else:
            (tmp_path / "their").write_text("claude_code 0")
            pending.symlink_to(tmp_path / "their")
    told = launched.hook("start", B, "startup", cwd=cwd)
    assert (told == "") if cwd else told.startswith(BRIEF)
    assert pending.exists() or what == "link"
