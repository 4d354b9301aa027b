"""The advice after so many compactions, in each agent by what that agent tells its hooks: once a session."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from passdown.agents.table import TABLE, hooks_of
from passdown.hooks.compactions import silent_agents

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"
ADVICE = "This session was compacted "
RESTARTS = {"claude_code", "codex", "qwen", "pi", "opencode"}
"""Those in which something of ours runs as a start right after a compaction."""

SCRIPTS = {"pi", "opencode"}
"""Those whose script of ours gives the text to the next prompt by itself."""


FEW = ["claude_code", "copilot", "gemini"]
"""One of each kind: a start after a compaction, nothing but prompts, nothing but the log."""


@pytest.fixture(params=[row.id for row in TABLE if row.hooks])
def world(request: Any, hooked: Any, repository: Any) -> Any:
    """A session of each agent, begun; `compact` tells its hooks what that agent tells, `prompt` is a person's turn."""
    repository.write("src/dates.py", "")
    repository.commit("Begin")
    hooked.name = request.param
    (row,) = (row for row in TABLE if row.id == request.param)
    events = set(hooks_of(row).EVENTS.values())
    silent = request.param in silent_agents()
    log = _Log(hooked, request.param) if silent else None

    def compact() -> str:
        if log is not None:
            log.compact()
            hooked.hook("stop", SESSION, path=log.path)
            assert hooked.drain() == 0, hooked.log()
            return ""
        for event in ("compact", "compacted"):
            if event in events:
                assert hooked.hook(event, SESSION, "auto") == ""
        return str(hooked.hook("start", SESSION, "compact")) if hooked.name in RESTARTS else ""

    def prompt() -> str:
        return str(hooked.hook("prompt", SESSION)) if "prompt" in events else ""

    assert ("prompt" in events) != (hooked.name in SCRIPTS)
    hooked.compact, hooked.prompt = compact, prompt
    hooked.hook("start", SESSION, "startup")
    return hooked


class _Log:
    """The log of an agent that tells no hook of a compaction, as it writes it."""

    def __init__(self, hooked: Any, agent: str) -> None:
        self.agent, self.count, self.now = agent, 0, int(time.time()) - 600
        if agent == "gemini":
            project = hooked.home / ".gemini/tmp/slug"
            self.file = project / f"chats/session-2026-01-01T00-00-{SESSION[:8]}.jsonl"
            self.file.parent.mkdir(parents=True)
            (project / ".project_root").write_text(str(hooked.root))
            head = {"sessionId": SESSION, "projectHash": "0" * 64, "startTime": self.stamp(), "lastUpdated": self.stamp(),
                    "kind": "main"}  # fmt: skip
            self.file.write_text(json.dumps(head) + "\n")
        else:
            self.file = hooked.home / f".openhands/conversations/{SESSION.replace('-', '')}/events"
            self.file.mkdir(parents=True)
            state = {"id": SESSION, "workspace": {"working_dir": str(hooked.root), "kind": "LocalWorkspace"}}
            (self.file.parent / "base_state.json").write_text(json.dumps(state))
        self.path = str(self.file)
        self.turn()

    def stamp(self) -> str:
        self.now += 1
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.now))

    def turn(self) -> None:
        self.count += 1
        if self.agent == "gemini":
            row = {"id": f"u{self.count}", "timestamp": self.stamp(), "type": "user", "content": "Go on."}
            with self.file.open("a") as log:
                log.write(json.dumps(row) + "\n")
            return
        message = {"role": "user", "content": [{"type": "text", "text": "Go on."}]}
        self._event("MessageEvent", source="user", llm_message=message)

    def compact(self) -> None:
        self.count += 1
        if self.agent == "gemini":
            new = [{"id": f"u{self.count}", "timestamp": self.stamp(), "type": "user", "content": "<state_snapshot>x"}]
            with self.file.open("a") as log:
                log.write(json.dumps({"$set": {"messages": new}}) + "\n")
        else:
            self._event("Condensation", source="environment", forgotten_event_ids=[], summary="So far: a turn.")
        self.turn()

    def _event(self, kind: str, **fields: Any) -> None:
        number = len(list(self.file.iterdir()))
        event = {"id": f"e-{number}", "timestamp": self.stamp().rstrip("Z"), "kind": kind, **fields}
        (self.file / f"event-{number:05}-e-{number}.json").write_text(json.dumps(event))


def test_the_advice_comes_once_after_the_second_compaction(world: Any) -> None:
    told: list[list[str]] = []
    for _ in range(3):
        now = [world.compact(), world.prompt(), world.prompt()]
        if world.name not in RESTARTS:
            assert now[0] == ""
        told.append([text for text in now if ADVICE in text])
    resumed = world.hook("start", SESSION, "resume")
    assert [len(texts) for texts in told] == [0, 1, 0]
    assert told[1][0].count(ADVICE) == 1
    assert "compacted 2 times" in told[1][0]
    assert ADVICE not in resumed


@pytest.mark.parametrize("world", FEW, indirect=True)
def test_who_was_not_prompted_is_told_when_the_session_goes_on(world: Any) -> None:
    """A command line that compacts and ends: nothing runs in the session before it is resumed."""
    told = [world.compact() for _ in range(2)]
    told += [world.hook("start", SESSION, "resume"), world.prompt()]
    assert sum(text.count(ADVICE) for text in told) == 1


@pytest.mark.parametrize("world", FEW, indirect=True)
def test_never_when_it_is_switched_off(world: Any, repository: Any, passdown: Callable[..., Any]) -> None:
    repository.write("passdown.toml", "[hooks]\nadvise-after-compactions = 0\n")
    world.hook("end", SESSION)
    assert world.drain() == 0, world.log()
    told = [text for _ in range(3) for text in (world.compact(), world.prompt())]
    assert ADVICE not in "".join(told)
