"""A command that Copilot left running: its end is told later, by another call or by the program."""

from __future__ import annotations

from pathlib import Path

from passdown.agents.copilot.sessions import read
from passdown.evidence.places import Places
from passdown.evidence.runs import Finished, SessionRuns
from passdown.model.session import SessionRef, ToolCall, ToolResult

LOG = Path(__file__).resolve().parent.parent / "fixtures" / "copilot" / "store" / "session-state"


def test_each_command_has_its_own_end() -> None:
    path = LOG / "aaaa1111-0000-4000-8000-000000000002.jsonl"
    runs, ended = SessionRuns("s", Places("/home/dev/slug")), []
    for event in read(SessionRef(agent="copilot", path=str(path), session_id="")):
        done: Finished | None = None
        if isinstance(event, ToolCall):
            runs.call(event, "/home/dev/slug", "")
        elif isinstance(event, ToolResult):
            done = runs.result(event)
        ended += [done] if done is not None else []
    assert [(one.run.command, one.run.result, one.run.exit) for one in ended] == [
        ("make slow", "failed", 2), ("make lint", "failed", 3), ("true", "ok", 0),
    ]  # fmt: skip
    assert runs.finish() == []
