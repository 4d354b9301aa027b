"""From droid's records to passdown's events: one method a kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from passdown.agents.droid.records import IGNORED, Message, Record, Settings
from passdown.agents.droid.tools import ACTIONS, ending, paths_of, todos
from passdown.io.jsonl import Line
from passdown.io.log import count, milliseconds, not_understood, safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    Origin,
    PlanItem,
    PlanUpdate,
    SubagentStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    WorkspaceChange,
)

_OPEN = 512
"""Most calls that are remembered while they wait for their result."""
_PUT_IN = lazy_pattern(
    r"(?s)\s*<(system-reminder|system-notification|local-command-stdout|local-command-stderr|ide_[a-z_]{1,30})\b[^>]{0,200}>.*?</\1>\s*"
)
_COMMAND = lazy_pattern(r"(?s)\s*<command-(?:name|message)>")
_ARGUMENTS = lazy_pattern(r"(?s)<command-args>(.*?)</command-args>")
_NAME = lazy_pattern(r"<command-name>\s*([^<\n]{1,100})")
_TASK = "# Task Tool Invocation"


class Reader:
    """Turns records into events, in file order, and counts those that hold nothing a session needs."""

    def __init__(self, settings: Settings, cwd: str = "") -> None:
        self.ignored: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._key = self._response = ""
        self._model = settings.model or ""
        self._answering = ""
        self._cwd = cwd
        self._said = ""
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}
        self._plan: tuple[PlanItem, ...] | None = None

    def add(self, record: Record, line: Line) -> list[AnyEvent]:
        """Return the events of one record."""
        self._events = []
        self._base = {"at": milliseconds(record.timestamp), "offset": line.offset, "line": line.number}
        self._key = f"line-{line.number}"
        self._response = safe_id(record.id) or self._key
        method = _METHODS.get(record.type)
        if method is not None:
            method(self, record)
        elif record.type in IGNORED:
            self._ended(record)
        else:
            kind = record.type
            self._events.append(not_understood(line, "unknown_type" if kind else "bad_shape", kind))
        return self._events

    def spent(self, settings: Settings) -> list[AnyEvent]:
        """Return what the whole session spent, as one count: of single responses droid says nothing."""
        tokens = settings.token_usage
        if tokens is None:
            return []
        fresh, output = count(tokens.input_tokens), count(tokens.output_tokens)
        read, written = count(tokens.cache_read_tokens), count(tokens.cache_creation_tokens)
        if not (fresh or output or read or written):
            return []
        usage = Usage(
            model=self._model, input=fresh, cache_read=read, cache_write=written, output=output,
            reasoning=count(tokens.thinking_tokens), response_id="session-total",
        )  # fmt: skip
        return [usage]

    def _place(self, record: Record) -> None:
        self._choose(record.model)
        if record.cwd and record.cwd != self._cwd:
            self._cwd = record.cwd
            self._events.append(WorkspaceChange(cwd=record.cwd, **self._base))

    def _choose(self, model: str | None) -> None:
        self._model = model or self._model

    def _settings(self, record: Record) -> None:
        self._choose(record.model)
        self.ignored["session_settings"] += 1

    def _message(self, record: Record) -> None:
        message = record.message
        if isinstance(message, Message):
            role, content = message.role, message.content
            self._choose(message.model)
        else:
            role, content = record.role, record.text if record.text is not None else message
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks[:10_000] if isinstance(blocks, list) else ():
            if isinstance(block, dict):
                self._block(role or "", block)

    def _block(self, role: str, block: dict[str, Any]) -> None:
        kind, text = block.get("type"), block.get("text")
        if kind == "tool_use":
            self._call(block.get("id"), block.get("name"), block.get("input"))
        elif kind == "tool_result":
            self._result(block.get("tool_use_id"), block.get("content"), error=block.get("is_error") is True)
        elif kind == "thinking" and isinstance(thought := block.get("thinking"), str):
            self._say(thought, reasoning=True)
        elif kind == "image":
            self._events.append(UserMessage(text="", origin="human", images=1, **self._base))
        elif kind == "text" and isinstance(text, str) and text.strip():
            if role == "user":
                self._user(text)
            elif role == "assistant":
                self._say(text)

    def _user(self, text: str) -> None:
        start = 0
        while (match := _PUT_IN.match(text, start)) is not None:
            self._put(match[0].strip(), "injected")
            start = match.end()
        rest = text[start:].strip()
        if not rest:
            return
        if rest.startswith(_TASK):
            self._put(rest, "subagent")
        elif _COMMAND.match(rest):
            arguments, name = _ARGUMENTS.search(rest), _NAME.search(rest)
            self._put((arguments[1].strip() if arguments else "") or (name[1].strip() if name else ""), "command")
        else:
            self._put(rest, "human")

    def _put(self, text: str, origin: Origin) -> None:
        self._events.append(UserMessage(text=text, origin=origin, **self._base))

    def _say(self, text: str, *, reasoning: bool = False) -> None:
        if self._model and self._model != self._answering:
            if self._answering:
                self._events.append(ModelChange(model=self._model, previous=self._answering, **self._base))
            self._answering = self._model
        if not reasoning:
            self._said = text
        if text:
            self._events.append(
                AssistantMessage(
                    text=text, model=self._model, response_id=self._response, reasoning=reasoning, **self._base
                )
            )  # fmt: skip

    def _thought(self, record: Record) -> None:
        self._say(record.text or "", reasoning=True)

    def _called(self, record: Record) -> None:
        self._call(record.tool_call_id or record.tool_id or record.id, record.tool_name, record.parameters)

    def _call(self, identifier: Any, name: Any, given: Any) -> None:
        call_id = safe_id(identifier if isinstance(identifier, str) else "") or self._key
        tool = name if isinstance(name, str) else ""
        arguments = given if isinstance(given, dict) else {} if given is None else {"input": given}
        self._calls[call_id] = (tool, arguments)
        if len(self._calls) > _OPEN:
            del self._calls[next(iter(self._calls))]
        action = ACTIONS.get(tool, "other")
        command = arguments.get("command") if action == "run" else None
        folder = arguments.get("cwd", arguments.get("workdir")) if action == "run" else None
        paths = () if action == "run" else paths_of(tool, arguments)
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command if isinstance(command, str) else "",
                cwd=folder if isinstance(folder, str) else "", paths=paths,
                arguments=arguments, response_id=self._response, **self._base,
            )
        )  # fmt: skip
        if tool == "Task":
            prompt, kind = arguments.get("prompt"), arguments.get("subagent_type")
            self._events.append(
                SubagentStart(
                    name=kind if isinstance(kind, str) else "", prompt=prompt if isinstance(prompt, str) else "",
                    call_id=call_id, **self._base,
                )
            )  # fmt: skip

    def _returned(self, record: Record) -> None:
        value = record.error if record.value is None else record.value
        error = record.is_error is True or (record.error is not None and record.value is None)
        self._result(record.tool_call_id or record.tool_id, value, error=error)

    def _result(self, identifier: Any, content: Any, *, error: bool) -> None:
        call_id = safe_id(identifier if isinstance(identifier, str) else "") or self._key
        tool, arguments = self._calls.pop(call_id, ("", {}))
        end = ending(tool, content, error=error)
        self._events.append(
            ToolResult(
                call_id=call_id, outcome=end.outcome, exit_code=end.exit_code, text=end.text, reason=end.reason,
                **self._base,
            )
        )  # fmt: skip
        if tool == "TodoWrite" and end.outcome == "ok":
            self._planned(todos(arguments))

    def _todos(self, record: Record) -> None:
        self._planned(todos(record.todos))

    def _planned(self, items: tuple[PlanItem, ...] | None) -> None:
        if items is not None and items != self._plan:
            self._plan = items
            self._events.append(PlanUpdate(items=items, **self._base))

    def _compacted(self, record: Record) -> None:
        summary = record.summary_text or ""
        self._events.append(Compaction(summary=summary, opaque=not summary, **self._base))

    def _completed(self, record: Record) -> None:
        text = record.final_text or ""
        if text.strip() and text.strip() != self._said.strip():
            self._say(text)
        else:
            self.ignored["completion"] += 1

    def _failed(self, record: Record) -> None:
        error = record.error.get("message") if isinstance(record.error, dict) else record.error
        said = error or record.message or record.text
        said = said if isinstance(said, str) else ""
        self._events.append(Interruption(reason=f"error: {said}"[:1000], **self._base))

    def _ended(self, record: Record) -> None:
        self.ignored[record.type] += 1
        if record.reason in ("cancelled", "canceled", "interrupted", "aborted", "user_cancelled"):
            self._events.append(Interruption(during_tool=bool(self._calls), **self._base))
        elif record.reason in ("error", "failed"):
            self._events.append(Interruption(reason="error", **self._base))


_METHODS: dict[str, Callable[[Reader, Record], None]] = {
    "session_start": Reader._place,
    "system": Reader._place,
    "session_settings": Reader._settings,
    "message": Reader._message,
    "reasoning": Reader._thought,
    "tool_call": Reader._called,
    "tool_result": Reader._returned,
    "todo_state": Reader._todos,
    "compaction_state": Reader._compacted,
    "completion": Reader._completed,
    "error": Reader._failed,
}
