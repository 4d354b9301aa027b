"""Slash commands that stand for a prompt: what they were given, and the command itself where that says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from passdown.packet.build import build_packet


def command(log: Any, name: str, text: str = "") -> None:
    log.human(text or name, origin="command", command=name)


def test_a_command_without_words_is_the_goal_and_says_that_it_is_one(log) -> None:
    command(log, "/fix-issue")
    log.run("pytest -q", 0, "1 passed in 0.1s")
    log.say("Done.")
    packet = build_packet(log.evidence())
    assert (packet.goal, packet.goal_basis) == ("/fix-issue (slash command)", "declared")
    assert [line.text for line in packet.directives] == ["/fix-issue"]
    assert "/fix-issue" in packet.next_action.text


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("/fix-issue", "123", "/fix-issue 123"),
        ("/fix-issue", "the csv\nparser", "/fix-issue the csv parser"),
        ("/plan:phase", "/plan:phase 14", "/plan:phase 14"),
        ("/plan:phase", "/plan:phase", "/plan:phase"),
        ("/fix-issue", "keep quoted commas in src/p.py", "keep quoted commas in src/p.py"),
    ],
)
def test_a_command_stands_with_its_arguments_unless_those_say_it(log, name: str, given: str, said: str) -> None:
    command(log, name, given)
    assert [directive.text for directive in log.evidence().directives] == [said]


def test_words_come_before_a_command(log) -> None:
    command(log, "/fix-issue", "123")
    log.human("Keep quoted commas in src/p.py.")
    packet = build_packet(log.evidence())
    assert packet.goal == "Keep quoted commas in src/p.py."
    assert [line.text for line in packet.directives] == ["/fix-issue 123", "Keep quoted commas in src/p.py."]


def test_neither_the_programs_nor_passdowns_own_commands_are_a_goal(log) -> None:
    log.human("/clear", origin="command")
    for name in ("/passdown", "/passdown:wrap"):
        command(log, name)
    evidence = log.evidence()
    assert (evidence.directives, build_packet(evidence).goal) == ((), None)
