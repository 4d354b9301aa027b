"""Whether the newest session's log ends in the middle of the agent's turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest


def killed(log) -> None:  # type: ignore[no-untyped-def]
    log.say("The first of two causes; mending it.")
    log.edit("src/a.py")


def closed(log) -> None:  # type: ignore[no-untyped-def]
    killed(log)
    log.say("Done: both causes are mended.")


def wrapped(log) -> None:  # type: ignore[no-untyped-def]
    closed(log)
    log.run("passdown wrap --interim", 0, "outputs/handoff/s-1/handoff.md")


def asked_again(log) -> None:  # type: ignore[no-untyped-def]
    killed(log)
    log.human("Stop, and look at src/b.py instead.")


def never_began(log) -> None:  # type: ignore[no-untyped-def]
    del log


@pytest.mark.parametrize(
    ("story", "cut_off"),
    [(killed, True), (closed, False), (wrapped, False), (asked_again, False), (never_began, False)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_cut_off(story: Callable[..., None], cut_off: bool, log) -> None:  # type: ignore[no-untyped-def]
    log.human("The tests fail. Fix src/a.py.")
    story(log)
    assert log.evidence().cut_off is cut_off
