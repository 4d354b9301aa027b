"""Fixtures for the data tests: small trajectories, made of the events that a reader would yield."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from passdown.data.records import Outcome, Provenance, Trajectory
from passdown.data.trajectory import assemble
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from passdown.trajectories.tools import action_of, paths_of


class Script:
    """Writes down a run turn by turn; every method returns the script, so that a run reads as one expression."""

    def __init__(self, cwd: str = "/testbed", agent: str = "chat") -> None:
        self.events: list[AnyEvent] = [SessionStart(session_id="made", agent=agent, cwd=cwd)]
        self._number = 0

    def _at(self) -> dict[str, int]:
        return {"offset": len(self.events), "line": len(self.events) + 1}

    def asks(self, text: str) -> Script:
        """A person asks for something."""
        self.events.append(UserMessage(text=text, **self._at()))
        return self

    def says(self, text: str) -> Script:
        """The agent says something."""
        self.events.append(AssistantMessage(text=text, **self._at()))
        return self

    def runs(self, command: str, output: str = "", code: int | None = 0, *, tool: str = "bash") -> Script:
        """The agent runs a shell command, and gets its output and exit code (None: not reported)."""
        self._number += 1
        call = f"call-{self._number}"
        self.events.append(
            ToolCall(
                call_id=call, tool=tool, action="run", command=command, arguments={"command": command}, **self._at()
            )
        )
        ended = "ok" if code == 0 else "unknown" if code is None else "failed"
        self.events.append(ToolResult(call_id=call, outcome=ended, exit_code=code, text=output, **self._at()))  # type: ignore[arg-type]
        return self

    def uses(self, tool: str, arguments: dict[str, Any], output: str = "", outcome: str = "ok") -> Script:
        """The agent uses a tool of its own; what it does is told by its name, as readers tell it."""
        self._number += 1
        call = f"call-{self._number}"
        action = action_of(tool, arguments)
        self.events.append(
            ToolCall(
                call_id=call,
                tool=tool,
                action=action,
                arguments=arguments,
                paths=paths_of(action, arguments),
                **self._at(),
            )
        )
        self.events.append(ToolResult(call_id=call, outcome=outcome, text=output, **self._at()))  # type: ignore[arg-type]
        return self

    def trajectory(
        self, *, source: str = "made", repo: str = "some/repo", outcome: Outcome | None = None
    ) -> Trajectory:
        """Return the run as a trajectory."""
        end = SessionEnd(records=len(self.events))
        return assemble([*self.events, end], Provenance(source=source, licence="MIT"), repo=repo, outcome=outcome)


class Begins(Protocol):
    """Begins a script in a folder, as an agent."""

    def __call__(self, cwd: str = "/testbed", agent: str = "chat") -> Script: ...


@pytest.fixture
def script() -> Begins:
    """Begin a run: `script().asks("…").runs("pytest", "1 passed").trajectory()`."""
    return Script


@pytest.fixture(scope="session")
def scripts() -> Begins:
    """The same, for what is built once."""
    return Script


@pytest.fixture
def small_trajectory() -> Trajectory:
    """A run as they are: it looks, sees a test fail, edits, repairs its edit, tests, submits."""
    return (
        Script()
        .asks("`slug('a  b')` gives two dashes. Make it give one, and add a test.")
        .runs("ls && cat src/slug.py", "src  tests\ndef slug(text):\n    return text.lower().replace(' ', '-')\n")
        .runs("python -m pytest -q", "1 failed, 1 passed in 0.02s", 1)
        .uses(
            "str_replace_editor",
            {
                "command": "str_replace", "path": "/testbed/src/slug.py",
                "old_str": "text.lower().replace(' ', '-')", "new_str": "'-'.join(text.split())",
            },
            "The file /testbed/src/slug.py has been edited.",
        )
        .runs("python -m pytest -q", "1 failed, 1 passed in 0.02s", 1)
        .runs("sed -i 's/text.split/text.lower().split/' src/slug.py")
        .runs("python -m pytest -q 2>&1 | tail -3", "2 passed in 0.02s")
        .runs("cat >> tests/test_slug.py <<'EOF'\n\ndef test_two():\n    assert slug('a  b') == 'a-b'\nEOF")
        .runs("python -m pytest -q tests/test_slug.py", "3 passed in 0.02s")
        .uses("submit", {})
        .trajectory(outcome=Outcome(resolved=True))
    )  # fmt: skip
