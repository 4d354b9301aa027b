"""Subagents: one start each, although Codex may write it down as a call, an event and an item."""

from __future__ import annotations

from typing import Any

from passdown.agents.codex.calls import Called
from passdown.agents.codex.outputs import Ended
from passdown.model.pattern import lazy_pattern
from passdown.model.session import SubagentStart

_CHILD = lazy_pattern(r'"(?:agent_id|thread_id|new_thread_id|agent_thread_id)"\s*:\s*"([^"\\]{1,100})"')
_NAME = lazy_pattern(r'"(?:nickname|agent_nickname|task_name|agent_path)"\s*:\s*"([^"\\]{1,200})"')


class Subagents:
    """The subagents seen so far, and in `asked` the calls to start one that have no answer yet."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.asked: dict[str, tuple[str, str]] = {}

    def called(self, call_id: str, called: Called) -> None:
        """Take a call of `spawn_agent`."""
        arguments = called.arguments
        prompt = _first(arguments, "message", "prompt", "task")
        name = _first(arguments, "task_name", "agent_path", "name", "agent_type")
        self.asked[call_id] = (prompt, name)

    def answered(self, stamp: dict[str, Any], call_id: str, ended: Ended) -> SubagentStart | None:
        """Take the output of a call; returns a start when the call began one that was not told yet."""
        if call_id not in self.asked:
            return None
        if ended.outcome not in ("ok", "unknown"):
            del self.asked[call_id]
            return None
        child, name = _CHILD.search(ended.text[:4096]), _NAME.search(ended.text[:4096])
        return self.started(stamp, child[1] if child else "", name[1] if name else "", "", call_id)

    def started(self, stamp: dict[str, Any], child: str, name: str, prompt: str, call_id: str) -> SubagentStart | None:
        """Take a start, told in any form; None when it was told before."""
        asked, called = self.asked.pop(call_id, ("", ""))
        if not call_id and len(self.asked) == 1:
            call_id, (asked, called) = self.asked.popitem()
        name = name or called
        keys = {key for key in (child, call_id, name if name.startswith("/") else "") if key} or {name}
        seen = not keys.isdisjoint(self._seen)
        self._seen |= keys
        if seen:
            return None
        return SubagentStart(child_id=child, name=name, prompt=prompt or asked, call_id=call_id, **stamp)


def _first(arguments: dict[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := arguments.get(name), str) and value), "")
