"""What readers of whole conversations share: the building of events, the answering model, calls without a result."""

from __future__ import annotations

from typing import Any

import msgspec

from passdown.io.log import BAD, count, milliseconds
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    Action,
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    Origin,
    Outcome,
    PlanItem,
    PlanStatus,
    PlanUpdate,
    SubagentStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)

_OPEN = 512
_BOX = lazy_pattern(r"(?m)^\s*(?:[-*]|\d{1,4}\.)?\s*\[([ xX~-])\]\s+(.{1,1000}?)\s*$")
_STATUSES: dict[str, PlanStatus] = {
    "pending": "pending", "todo": "pending", "open": "pending", "in_progress": "in_progress",
    "in-progress": "in_progress", "completed": "completed", "done": "completed", "cancelled": "cancelled",
    "canceled": "cancelled",
}  # fmt: skip


class Dialogue:
    """Collects the events of a record; `take` hands them over.

    `place` says where the record stands. A call's tool and arguments are remembered until its result comes.
    """

    def __init__(self) -> None:
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._answering = ""
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}

    def place(self, at: int | None, offset: int, line: int = 0, *, active: bool = True, agent_id: str = "") -> None:
        """Say where and when the next events stand."""
        self._base = {"at": at, "offset": offset, "line": line, "active": active, "agent_id": agent_id[:128]}

    def take(self) -> list[AnyEvent]:
        """Return the events since the last time."""
        events, self._events = self._events, []
        return events

    def user(self, text: str, origin: Origin = "human", images: int = 0) -> None:
        """Add a message in the user's role."""
        self._events.append(UserMessage(text=text, origin=origin, images=images, **self._base))

    def said(self, text: str, model: str = "", response: str = "", *, reasoning: bool = False) -> None:
        """Add what the model said, and note a change of model."""
        self.answers(model)
        if text.strip():
            self._events.append(
                AssistantMessage(text=text, model=model, response_id=response, reasoning=reasoning, **self._base)
            )

    def answers(self, model: str) -> None:
        """Take note of the model that answers."""
        if model and not self._base.get("agent_id"):
            if self._answering and model != self._answering:
                self._events.append(ModelChange(model=model, previous=self._answering, **self._base))
            self._answering = model

    def call(
        self, call_id: str, tool: str, action: Action, arguments: dict[str, Any], *, command: str = "", cwd: str = "",
        paths: tuple[str, ...] = (), response: str = "",
    ) -> bool:  # fmt: skip
        """Add a call, unless it was there already; say whether it was added."""
        call_id = call_id or f"call-{self._base['offset']}-{len(self._events)}"
        if call_id in self._calls:
            return False
        self._calls[call_id] = (tool, arguments)
        if len(self._calls) > _OPEN:
            del self._calls[next(iter(self._calls))]
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command, cwd=cwd, paths=paths, arguments=arguments,
                response_id=response, **self._base,
            )
        )  # fmt: skip
        return True

    def called(self, call_id: str) -> tuple[str, dict[str, Any]]:
        """Return the tool and the arguments of a call that waits for its result, and forget it."""
        return self._calls.pop(call_id, ("", {}))

    @property
    def waiting(self) -> bool:
        """Say whether a call waits for its result."""
        return bool(self._calls)

    def result(
        self, call_id: str, outcome: Outcome, text: str = "", *, exit_code: int | None = None, reason: str = "",
        duration_ms: int | None = None,
    ) -> None:  # fmt: skip
        """Add what came back for a call."""
        self._events.append(
            ToolResult(
                call_id=call_id, outcome=outcome, exit_code=exit_code, text=text, reason=reason,
                duration_ms=duration_ms, **self._base,
            )
        )  # fmt: skip

    def usage(
        self, response: str, model: str, *, fresh: Any, read: Any, write: Any, output: Any, reasoning: Any = 0,
        window: int | None = None,
    ) -> None:  # fmt: skip
        """Add the tokens of one response; `fresh` is input that no cache had to do with."""
        tokens = count(number(fresh)), count(number(read)), count(number(write))
        self._events.append(
            Usage(
                response_id=response, model=model, input=tokens[0], cache_read=tokens[1], cache_write=tokens[2],
                output=count(number(output)), reasoning=count(number(reasoning)), context=sum(tokens), window=window,
                **self._base,
            )
        )  # fmt: skip

    def plan(self, items: tuple[PlanItem, ...], text: str = "") -> None:
        """Add the whole plan."""
        self._events.append(PlanUpdate(items=items, text=text, **self._base))

    def compacted(self, summary: str = "", before: int | None = None, after: int | None = None) -> None:
        """Add a compaction."""
        self._events.append(
            Compaction(summary=summary, opaque=not summary, tokens_before=before, tokens_after=after, **self._base)
        )

    def delegated(self, call_id: str, name: str, prompt: str, child: str = "") -> None:
        """Add the start of a subagent."""
        self._events.append(SubagentStart(call_id=call_id, name=name, prompt=prompt, child_id=child, **self._base))

    def stopped(self, reason: str = "", *, during_tool: bool = False) -> None:
        """Add an interruption."""
        self._events.append(Interruption(reason=reason[:1000], during_tool=during_tool, **self._base))

    def unknown(self, record: str, reason: Any = "unknown_type", length: int = 0) -> None:
        """Add a note of what is not understood."""
        place = {key: value for key, value in self._base.items() if key != "at"}
        self._events.append(Unknown(record=record[:80], reason=reason, length=length, **place))


def moment(value: object) -> int | None:
    """Return a time in milliseconds: a text, or a number of seconds or milliseconds, told apart by their size."""
    if isinstance(value, str):
        return milliseconds(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return milliseconds(value)


def number(value: object) -> int | float | None:
    """Return a number, None for anything else."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def text_in(holder: object, *keys: str) -> str:
    """Return the first text that an object has under one of these keys, empty when it has none."""
    if isinstance(holder, dict):
        for key in keys:
            value = holder.get(key)
            if isinstance(value, str) and value:
                return value
    return ""


def part_of(holder: object, key: str) -> dict[str, Any]:
    """Return an object in an object, empty where there is none."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}


def decoded(value: object) -> Any:
    """Return what a JSON text holds, None when it is none; what is no text stands for itself."""
    if not isinstance(value, (str, bytes)):
        return value
    try:
        return msgspec.json.decode(value)
    except BAD:
        return None


def arguments_of(value: object) -> dict[str, Any]:
    """Return a call's arguments, which are an object or the JSON text of one; what is neither is kept as `input`."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = decoded(value) or value
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    return {} if value in (None, "") else {"input": value}


def paths_in(arguments: dict[str, Any], *keys: str) -> tuple[str, ...]:
    """Return the paths that a call names under one of these keys, as the agent wrote them."""
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return (value,)
        if isinstance(value, list):
            named = [item if isinstance(item, str) else text_in(item, "path", "file_path") for item in value[:500]]
            return tuple(item for item in named if item)
    return ()


def plan_in(todos: object) -> tuple[PlanItem, ...]:
    """Return a todo list as plan items."""
    items = todos if isinstance(todos, list) else []
    named = [(text_in(item, "content", "text", "title", "description"), text_in(item, "status")) for item in items]
    return tuple(PlanItem(text=text, status=_STATUSES.get(status, "pending")) for text, status in named if text)


def checklist(text: str) -> tuple[PlanItem, ...]:
    """Return a list of Markdown boxes as plan items."""
    return tuple(
        PlanItem(text=words, status="completed" if mark in "xX" else "pending" if mark == " " else "in_progress")
        for mark, words in _BOX.findall(text[:100_000])[:500]
    )


def text_of(content: object) -> str:
    """Return the text of a content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block if isinstance(block, str) else text_in(block, "text") for block in blocks[:10_000]]
    return "\n".join(text for text in texts if text)
