"""A clock that goes backwards or leaps in the middle of a session: what was done last counts as last."""

from __future__ import annotations

from typing import Any

import pytest

HOUR = 3600


@pytest.mark.parametrize(
    ("ahead", "step"), [(0, -HOUR), (0, -24 * HOUR), (0, 24 * HOUR), (100 * HOUR, -HOUR), (100 * HOUR, -99 * HOUR)],
    ids=["before-the-base", "a-day-before-it", "leap", "within", "far-within"],
)  # fmt: skip
def test_what_was_done_last_is_last_whatever_the_clock_says(
    bench: Any, claude_session: Any, ahead: int, step: int
) -> None:
    session = claude_session(bench.root)
    session.branch = "feat/export-limit"
    session.clock += ahead
    session.human("Limit the exports. Never touch session.py.")
    session.runs("pytest -x tests/test_limits.py", "1 failed, 3 passed in 0.1s", 1)
    session.runs("make docs", "error: no docs", 2)
    session.clock += step
    session.human("Go on, and keep the header as it is.")
    session.runs("pytest -x tests/test_limits.py", "4 passed in 0.1s", 0)
    session.says("The tests pass. Next: mend `make docs`.")
    packet = bench.wrap()
    said = [directive["text"] for directive in packet["directives"]]
    assert said == ["Limit the exports. Never touch session.py.", "Go on, and keep the header as it is."]
    assert {failed["what"]: failed.get("resolved", False) for failed in packet["failed_attempts"]} == {
        "pytest -x tests/test_limits.py": True, "make docs": False,
    }  # fmt: skip
    last = {command["cmd"]: command["last_exit"] for command in packet["commands_run"]}
    assert last == {"pytest -x tests/test_limits.py": 0, "make docs": 2}
    assert "make docs" in packet["next_action"]["text"]
    assert bench.wrap()["packet_id"] == packet["packet_id"]
