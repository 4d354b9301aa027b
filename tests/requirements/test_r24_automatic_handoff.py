"""R24: an automatic handoff is asked for, bounded, and counts only when its successor exists."""

from __future__ import annotations

import time
from typing import Any

import pytest

SESSIONS = [f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in range(6)]
AUTOMATIC = "Automatic handoff"
ADVICE = "Tell the human once: a fresh session here is given the packet"


@pytest.fixture
def world(hooked: Any, repository: Any, claude_session: Any) -> Any:
    """A function that lets a session work, be compacted so many times, and returns what it was told then."""

    def compact(number: int, times: int = 2, age: int = 600) -> list[str]:
        session = claude_session(repository.root, SESSIONS[number])
        session.clock = int(time.time()) - age
        session.human("Go on with the parser.")
        session.runs("pytest -q", f"FAILED tests/test_{number}.py::test_x - AssertionError", 1)
        told = []
        for _ in range(times):
            hooked.hook("compact", SESSIONS[number], "auto", path=str(session.path))
            told.append(hooked.hook("start", SESSIONS[number], "compact"))
            hooked.hook("compacted", SESSIONS[number], "auto")
        return told

    hooked.compact = compact
    return hooked


def configure(repository: Any, text: str) -> None:
    repository.write("passdown.toml", f"[hooks]\n{text}\n")
    repository.commit("Configure")


def test_by_default_it_is_advice_once_and_after_the_second_compaction(world: Any) -> None:
    told = world.compact(0, 4)
    assert [ADVICE in text for text in told] == [False, True, False, False]
    assert not any(AUTOMATIC in text for text in told)
    assert "`passdown take`" in told[1]
    assert ".git/passdown/packets/" in told[1]


@pytest.mark.parametrize(("after", "expected"), [(1, [True, False]), (3, [False, False]), (0, [False, False])])
def test_after_how_many_is_configured(after: int, expected: list[bool], world: Any, repository: Any) -> None:
    configure(repository, f"advise-after-compactions = {after}")
    assert [ADVICE in text for text in world.compact(0)] == expected


def test_with_a_limit_of_one_the_second_trigger_only_warns(world: Any, repository: Any) -> None:
    configure(repository, "automatic-handoffs = 1")
    assert f"{AUTOMATIC} 1 of 1" in world.compact(0)[1]
    assert world.hook("start", SESSIONS[1], "startup").count("Handoff for main") == 1
    told = world.compact(1, age=60)
    assert AUTOMATIC not in "".join(told)
    assert ADVICE in told[1]


def test_it_counts_only_when_a_successor_started_from_the_packet(world: Any, repository: Any) -> None:
    configure(repository, "automatic-handoffs = 1")
    assert AUTOMATIC in world.compact(0)[1]
    assert world.hook("start", SESSIONS[0], "resume") == ""  # the same session again is no successor
    assert AUTOMATIC in world.compact(2, age=300)[1]
    world.hook("start", SESSIONS[3], "clear")
    assert AUTOMATIC not in "".join(world.compact(4, age=60))
    folder = repository.root / ".git/passdown/handoffs"
    assert [path.name for path in folder.iterdir()] == [f"claude_code-{SESSIONS[3]}"]
