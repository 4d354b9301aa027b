"""A session written by hand, event by event, and its evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from passdown.evidence.collect import collect_evidence
from passdown.model.evidence import CommandChain, Evidence, RepositoryFacts
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    SessionRef,
    SessionStart,
    ToolCall,
    ToolResult,
    UserMessage,
)
from passdown.model.workbench import FeedbackRow, Workbench

ROOT = "/srv/project"
START = 1_760_000_000_000


class Log:
    """A hand-made session: one second and one line from event to event."""

    def __init__(self, session_id: str = "s1", *, cwd: str = ROOT, start: int = START) -> None:
        self.ref = SessionRef(agent="pi", path="/nowhere", session_id=session_id, started_at=start, cwd=cwd)
        self.clock = start
        self.line = 1
        self.events: list[AnyEvent] = [SessionStart(at=start, line=1, session_id=session_id, agent="pi", cwd=cwd)]

    def add(self, kind: type[Any], **fields: Any) -> Any:
        """Append an event of this kind, a second and a line after the one before."""
        self.clock += 1000
        self.line += 1
        event = kind(**({"at": self.clock, "line": self.line} | fields))
        self.events.append(event)
        return event

    def human(self, text: str, **fields: Any) -> None:
        """A person says something."""
        self.add(UserMessage, text=text, **fields)

    def say(self, text: str, **fields: Any) -> None:
        """The agent says something."""
        self.add(AssistantMessage, text=text, **fields)

    def run(self, command: str, exit_code: int | None = 0, text: str = "", outcome: str = "", **fields: Any) -> None:
        """The agent runs a command and gets its result."""
        call = self.begin(command, **fields)
        how = outcome or ("ok" if exit_code == 0 else "failed")
        self.add(ToolResult, call_id=call, outcome=how, exit_code=exit_code, text=text, **_shared(fields))

    def begin(self, command: str, **fields: Any) -> str:
        """The agent calls for a command; returns the call's id."""
        call = f"c{self.line}"
        self.add(ToolCall, call_id=call, tool="bash", action="run", command=command, **fields)
        return call

    def edit(self, path: str, outcome: str | None = "ok", action: str = "edit", **fields: Any) -> None:
        """The agent edits a file; no result at all when `outcome` is None."""
        call = f"e{self.line}"
        self.add(ToolCall, call_id=call, tool="edit", action=action, paths=(path,), **fields)
        if outcome is not None:
            self.add(ToolResult, call_id=call, outcome=outcome, **_shared(fields))

    def evidence(self, **options: Any) -> Evidence:
        """The evidence of this session alone."""
        repository = options.pop("repository", RepositoryFacts(root=ROOT))
        return collect_evidence(repository, options.pop("workbench", None), [(self.ref, self.events)], **options)

    def chain(self, command: str, **options: Any) -> CommandChain:
        """The one chain of this command."""
        (found,) = [chain for chain in self.evidence(**options).chains if chain.command == command]
        return found


def _shared(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in {"agent_id", "active", "copied"}}


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def make_log() -> Callable[..., Log]:
    return Log


@pytest.fixture
def feedback() -> Callable[..., Evidence]:
    """Return a function that collects the evidence of feedback rows given as dictionaries."""

    def collect(*rows: dict[str, Any], **options: Any) -> Evidence:
        made = tuple(
            FeedbackRow(**({"line": number, "path": "feedback_record.jsonl"} | row))
            for number, row in enumerate(rows, 1)
        )
        workbench = Workbench(feedback=made, **options.pop("artifacts", {}))
        repository = options.pop("repository", RepositoryFacts(root=ROOT))
        return collect_evidence(repository, workbench, options.pop("sessions", ()), **options)

    return collect
