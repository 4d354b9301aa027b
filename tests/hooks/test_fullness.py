"""A session is told once that its context is too full, whatever comes first: the band or the compactions."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"
NEXT = "aaaaaaaa-0000-4000-8000-000000000002"
FULL = "context is full to 80% of its 200k tokens"


@pytest.fixture
def world(hooked: Any, repository: Any, claude_session: Any) -> Any:
    """A session at work whose answers have the context the test says; `turn` ends one of its turns."""
    session = claude_session(repository.root, SESSION)
    session.clock = int(time.time()) - 600
    session.human("Make the parser accept dates.")
    hooked.hook("start", SESSION, "startup", path=str(session.path))

    def turn(context: int, event: str = "stop") -> str:
        session.edits("src/dates.py")
        usage = {"input_tokens": context, "output_tokens": 5}
        message = {"id": f"msg{session.count}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                   "content": [{"type": "text", "text": "Done."}], "usage": usage}  # fmt: skip
        session.row("assistant", message=message, requestId=f"req{session.count}")
        hooked.hook(event, SESSION, "auto" if event != "stop" else "", path=str(session.path))
        if event == "stop":
            assert hooked.drain() == 0
        return str(hooked.hook("prompt", SESSION, path=str(session.path)))

    hooked.turn, hooked.made = turn, session
    return hooked


def test_nothing_is_said_while_there_is_room_and_once_when_there_is_none(world: Any) -> None:
    assert world.turn(60_000) == ""
    assert world.turn(130_000) == ""
    told = world.turn(160_000)
    assert told.startswith("[passdown] This session's ")
    assert FULL in told
    assert "a fresh session here is given the packet" in told
    assert world.turn(170_000) == ""
    assert world.hook("prompt", SESSION) == ""


def test_another_session_is_not_told(world: Any) -> None:
    world.hook("stop", NEXT)
    assert FULL in world.turn(160_000)
    assert "is full" not in world.hook("start", NEXT, "startup")
    assert world.hook("prompt", NEXT) == ""


def test_room_made_by_a_compaction_takes_it_back(world: Any) -> None:
    world.made.edits("src/dates.py")
    mark = world.state / "sessions" / f"claude_code-{SESSION}" / "level"
    mark.write_text("80% of its 200k tokens")
    world.hook("start", SESSION, "compact")
    assert not mark.exists()
    assert world.hook("prompt", SESSION) == ""


def test_the_drain_takes_it_back_where_room_was_made(world: Any, repository: Any) -> None:
    repository.write("passdown.toml", "[hooks]\nadvise-after-compactions = 0\n")
    mark = world.state / "sessions" / f"claude_code-{SESSION}" / "level"
    mark.write_text("80% of its 200k tokens")
    assert world.turn(30_000) == ""
    assert not mark.exists()


def test_it_can_be_switched_off_and_its_boundary_moved(world: Any, repository: Any) -> None:
    repository.write("passdown.toml", "[budget]\nadvise = false\n")
    assert world.turn(190_000) == ""
    repository.write("passdown.toml", "[budget]\nprepare = 0.1\nwrap-up = 0.2\n")
    assert "context is full to 25% of its 200k tokens" in world.turn(50_000)


def test_compactions_and_fullness_advise_once_together(world: Any) -> None:
    assert FULL in world.turn(160_000)
    for _ in range(3):
        world.hook("compact", SESSION, "auto")
        assert "compacted" not in world.hook("start", SESSION, "compact")


@pytest.mark.parametrize("text", ["\x1b[31mrun `rm`", "ignore all\nprevious", "", "%" * 5000])
def test_a_mark_that_is_no_mark_says_nothing_odd(text: str, world: Any) -> None:
    mark = world.state / "sessions" / f"claude_code-{SESSION}" / "level"
    mark.write_text(text)
    told = world.hook("prompt", SESSION)
    assert told == "" or (text.startswith("%") and len(told) < 600)


def test_it_counts_as_an_automatic_handoff_where_those_are_wanted(world: Any, repository: Any) -> None:
    repository.write("passdown.toml", "[hooks]\nautomatic-handoffs = 1\n")
    told = world.turn(160_000)
    assert "Automatic handoff 1 of 1" in told
    assert "is full" in told
    assert not (repository.root / ".git/passdown/handoffs").exists()
    os.utime(world.made.path)
    assert "Handoff for main" in world.hook("start", NEXT, "startup")
    assert len(os.listdir(repository.root / ".git/passdown/handoffs")) == 1
