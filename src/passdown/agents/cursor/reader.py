"""From Cursor's messages to passdown's events. A transcript holds no times, no ids and, as a rule, no results."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.cursor.records import Record, blocks_of, text_of
from passdown.agents.cursor.tools import ACTIONS, ending, paths_of, todos
from passdown.io.log import safe_id
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Origin,
    PlanItem,
    PlanUpdate,
    SubagentStart,
    ToolCall,
    ToolResult,
    UserMessage,
)

_OPEN = 512
"""Most calls that are remembered while they wait for their result."""
_QUERY = lazy_pattern(r"(?s)<user_query>(.*?)(?:</user_query>|\Z)")
_TAGGED = lazy_pattern(r"\s*<([a-z][a-z_-]{1,40})[ >]")
_THINKING = lazy_pattern(r"(?:\A|\n)\s*\*\*([A-Z][a-z]+ing [^*\n]{3,120})\*\*\s*\Z")
_COMMAND = lazy_pattern(r"/([a-zA-Z][\w:-]{0,60})(?:\s+(.*))?\Z", 16)
_IMAGE = ("image", "image_url", "file")


class Reader:
    """Turns rows and messages into events, in their order, and counts what holds nothing a session needs."""

    def __init__(self, model: str = "", *, subagent: bool = False) -> None:
        self.ignored: Counter[str] = Counter()
        self.events: list[AnyEvent] = []
        self.base: dict[str, Any] = {}
        self.key = ""
        self._model = model
        self._typist: Origin = "subagent" if subagent else "human"
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}
        self._plan: tuple[PlanItem, ...] = ()
        self._ids: dict[str, int] = {}
        self._number = 0

    def add(self, record: Record) -> bool:
        """Add one row or message; False when it is none."""
        self._number = 0
        if record.role == "system" or (record.role is None and record.type in ("turn_ended", "turn_started")):
            self.ignored[record.role or record.type or ""] += 1
            return True
        if record.role not in ("user", "assistant", "tool"):
            return False
        if record.role == "user":
            self._user(record)
        for block in blocks_of(record):
            kind, text = block.get("type"), block.get("text")
            if kind in ("tool_use", "tool-call"):
                self.call(block)
            elif kind in ("tool_result", "tool-result"):
                self._result(block, record.provider_options)
            elif record.role == "assistant" and kind in ("thinking", "reasoning"):
                self.think(block.get("thinking", text))
            elif record.role == "assistant" and kind == "text" and isinstance(text, str):
                self.say(text)
            elif kind == "redacted-reasoning":
                self.ignored["redacted-reasoning"] += 1
        return True

    def _user(self, record: Record) -> None:
        """Tell a person's words from what is put in around them."""
        blocks = blocks_of(record)
        texts = [
            block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)
        ]
        images = sum(block.get("type") in _IMAGE for block in blocks)
        options = record.provider_options.get("cursor") if isinstance(record.provider_options, dict) else None
        if isinstance(options, dict) and options.get("isSummary") is True:
            summary = "\n".join(texts)
            self.events.append(Compaction(summary=summary, opaque=not summary, **self.base))
            return
        for text in texts:
            self.user(text, images)
            images = 0

    def user(self, text: str, images: int = 0) -> None:
        """Add a text in the user's role."""
        queries = [query.strip() for query in _QUERY.findall(text)]
        if queries:
            around = _QUERY.sub("", text).strip()
            if around:
                self._put(around, "injected")
            self._typed("\n\n".join(query for query in queries if query), images)
        elif _TAGGED.match(text):
            self._put(text, "injected", images)
        elif text.strip() or images:
            self._typed(text.strip(), images)

    def _typed(self, text: str, images: int) -> None:
        match = _COMMAND.match(text[:20_000])
        if match is not None:
            self._put((match[2] or "").strip() or text, "command", images)
        else:
            self._put(text, self._typist, images)

    def _put(self, text: str, origin: Origin, images: int = 0) -> None:
        self.events.append(UserMessage(text=text, origin=origin, images=images, **self.base))

    def say(self, text: str) -> None:
        """Add what the agent said. The title of a thought stands below it, or alone: a bold line."""
        title = _THINKING.search(text[-400:])
        answer = text[: len(text) - len(title[0])].rstrip() if title else text
        if answer.strip():
            self._speak(answer, reasoning=False)
        if title:
            self._speak(title[1], reasoning=True)

    def think(self, text: Any) -> None:
        """Add what the agent thought."""
        if isinstance(text, str) and text.strip():
            self._speak(text, reasoning=True)

    def _speak(self, text: str, *, reasoning: bool) -> None:
        self.events.append(
            AssistantMessage(text=text, model=self._model, response_id=self.key, reasoning=reasoning, **self.base)
        )

    def call(self, block: dict[str, Any]) -> None:
        """Add a tool call."""
        name, given = block.get("name", block.get("toolName")), block.get("input", block.get("args"))
        identifier = block.get("id", block.get("toolCallId"))
        self._number += 1
        own = identifier if isinstance(identifier, str) else ""
        call_id = safe_id(own) or safe_id(own.partition("\n")[0]) or f"{self.key}-{self._number}"
        tool = name if isinstance(name, str) else ""
        arguments = given if isinstance(given, dict) else {} if given is None else {"input": given}
        self._calls[call_id] = (tool, arguments)
        if len(self._calls) > _OPEN:
            del self._calls[next(iter(self._calls))]
        action = ACTIONS.get(tool, "other")
        command = arguments.get("command") if action == "run" else None
        folder = arguments.get("working_directory", arguments.get("cwd")) if action == "run" else None
        paths = () if action == "run" else paths_of(tool, arguments)
        self.events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command if isinstance(command, str) else "",
                cwd=folder if isinstance(folder, str) else "", paths=paths,
                arguments=arguments, response_id=self.key, **self.base,
            )
        )  # fmt: skip
        self._begun(call_id, action, arguments)

    def _begun(self, call_id: str, action: str, arguments: dict[str, Any]) -> None:
        if action == "delegate":
            prompt, kind = arguments.get("prompt"), arguments.get("subagent_type")
            self.events.append(
                SubagentStart(
                    name=kind if isinstance(kind, str) else "", prompt=prompt if isinstance(prompt, str) else "",
                    call_id=call_id, **self.base,
                )
            )  # fmt: skip
        elif action == "plan":
            items = todos(arguments, self._plan, self._ids)
            if items is not None and items != self._plan:
                self._plan = items
                self.events.append(PlanUpdate(items=items, **self.base))
            elif items is None and isinstance(text := arguments.get("plan"), str) and text:
                self.events.append(PlanUpdate(text=text, **self.base))

    def _result(self, block: dict[str, Any], options: Any) -> None:
        text = text_of(block.get("result", block.get("content")))
        error = block.get("is_error") is True
        cursor = options.get("cursor") if isinstance(options, dict) else None
        high = cursor.get("highLevelToolCallResult") if isinstance(cursor, dict) else None
        if isinstance(high, dict):
            output = high.get("output")
            error = error or high.get("isError") is True or (isinstance(output, dict) and output.get("isError") is True)
        identifier = block.get("tool_use_id", block.get("toolCallId"))
        self.result(identifier if isinstance(identifier, str) else "", text, error=error)

    def result(self, identifier: str, text: str, *, error: bool = False) -> None:
        """Add what came back for a call: the one it names, else the oldest that waits."""
        call_id = safe_id(identifier) or safe_id(identifier.partition("\n")[0])
        if call_id not in self._calls:
            call_id = next(iter(self._calls), call_id or self.key)
        tool, _ = self._calls.pop(call_id, ("", {}))
        end = ending(tool, text, error=error)
        self.events.append(
            ToolResult(call_id=call_id, outcome=end.outcome, exit_code=end.exit_code, text=text, **self.base)
        )
