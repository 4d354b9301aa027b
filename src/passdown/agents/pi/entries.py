"""From Pi's entries to events: one method a kind of entry."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.pi.records import Block, Entry, Message, Tokens, count, whole
from passdown.agents.pi.tools import ACTIONS, arguments_of, delegations, ending, paths_of, plan_of
from passdown.io.log import milliseconds
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    Origin,
    Outcome,
    PlanUpdate,
    SubagentStart,
    Title,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
)

IGNORED = frozenset({"session", "model_change", "thinking_level_change", "label", "custom"})
"""Entries that hold nothing a session needs. The model that answers is named in each answer."""

_SKILL = lazy_pattern(r'<skill name="([^"\n]{1,200})"')
_FILE = lazy_pattern(r'<file name="[^"\n]{1,4096}"')


def text_of(content: str | list[Block] | None) -> str:
    """Return the text of a message's content."""
    if isinstance(content, list):
        if len(content) == 1 and content[0].type == "text":
            return content[0].text or ""
        return "\n".join(block.text for block in content if block.type == "text" and block.text)
    return content or ""


class Entries:
    """Turns entries into events, in file order, and counts those that hold nothing a session needs."""

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._model = ""
        self._stopped_tool = False
        self._at: int | None = None
        self._offset = 0
        self._line = 0
        self._active = True
        self._copied = False
        self._key = ""

    def add(self, entry: Entry, offset: int, line: int, length: int, active: bool, copied: bool) -> list[AnyEvent]:
        """Return the events of one entry."""
        self._events = []
        self._at = milliseconds(entry.timestamp)
        self._offset, self._line, self._active, self._copied = offset, line, active, copied
        self._key = entry.id or f"line-{line}"
        kind = entry.type
        if kind == "message":
            self._message(entry.message, length)
        elif kind in IGNORED:
            self.ignored[kind] += 1
        elif kind == "compaction":
            self._usage(entry.usage, "", self._key)
            self._compaction(entry.summary, entry.tokens_before)
        elif kind == "branch_summary":
            # Pi hands it to the model in the user's role: the program's words about a branch that was left.
            self._usage(entry.usage, "", self._key)
            self._said(entry.summary, "injected")
        elif kind == "custom_message":
            self._said(entry.content, "hook")
        elif kind == "session_info":
            self._events.append(Title(title=(entry.name or "").strip(), **self._base()))
        else:
            self._unknown(kind, length)
        return self._events

    def _base(self) -> dict[str, Any]:
        return {
            "at": self._at, "offset": self._offset, "line": self._line, "active": self._active, "copied": self._copied,
        }  # fmt: skip

    def _unknown(self, record: str, length: int) -> None:
        reason: Any = "unknown_type" if record and not record.endswith("/") else "bad_shape"
        self._events.append(Unknown(record=record[:80], reason=reason, length=length, **self._base()))

    def _message(self, message: Message | None, length: int) -> None:
        role = message.role if message is not None else ""
        if message is None:
            self._unknown("message/", length)
        elif role == "assistant":
            self._assistant(message)
        elif role == "toolResult":
            self._result(message)
        elif role == "user":
            self._user(message)
        elif role == "bashExecution":
            self._shell(message)
        elif role in ("custom", "hookMessage"):
            self._said(message.content, "hook")
        elif role == "compactionSummary":
            self._compaction(message.summary, message.tokens_before)
        elif role == "branchSummary":
            self._said(message.summary, "injected")
        else:
            self._unknown(f"message/{role}", length)

    def _user(self, message: Message) -> None:
        text = text_of(message.content)
        images = _images(message.content)
        if match := _SKILL.match(text):
            # `/skill:name request` is stored as the skill's body and then the request.
            request = text.rpartition("</skill>")[2].strip()
            self._said(request or f"/skill:{match[1]}", "command", images)
            return
        if _FILE.match(text) and "</file>" in text:
            # `pi @file "request"` puts the bodies of the files in front of the request.
            bodies, end, text = text.rpartition("</file>")
            self._said(bodies + end, "injected")
            text = text.strip()
            if not text and not images:
                return
        self._said(text, "human", images)

    def _said(self, content: str | list[Block] | None, origin: Origin, images: int = -1) -> None:
        images = _images(content) if images < 0 else images
        self._events.append(UserMessage(text=text_of(content), origin=origin, images=images, **self._base()))

    def _assistant(self, message: Message) -> None:
        content = message.content
        blocks = content if isinstance(content, list) else [Block(type="text", text=content)] if content else []
        model = message.model or ""
        response = message.response_id or self._key
        spent = _any(message.usage)
        if model != self._model and model and (blocks or spent) and self._active:
            if self._model:
                self._events.append(ModelChange(model=model, previous=self._model, **self._base()))
            self._model = model
        called = False
        for block in blocks:
            if block.type == "toolCall":
                called = True
                self._call(block, response)
            elif text := block.text if block.type == "text" else block.thinking:
                self._events.append(
                    AssistantMessage(
                        text=text, model=model, response_id=response, reasoning=block.type == "thinking",
                        at=self._at, offset=self._offset, line=self._line, active=self._active, copied=self._copied,
                    )
                )  # fmt: skip
        stopped = message.stop_reason in ("aborted", "error")
        if spent or not stopped:
            self._usage(message.usage, model, response)
        if stopped:
            self._stopped(message, called)
        self._stopped_tool = False

    def _stopped(self, message: Message, called: bool) -> None:
        failed = message.stop_reason == "error"
        self._events.append(
            Interruption(
                during_tool=not failed and (called or self._stopped_tool),
                reason=f"error: {message.error_message or ''}"[:1000] if failed else "",
                **self._base(),
            )
        )

    def _call(self, block: Block, response: str) -> None:
        arguments = arguments_of(block)
        tool = block.name or ""
        action = ACTIONS.get(tool, "other")
        command = arguments.get("command") if action == "run" else None
        call_id = block.id or self._key
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command if isinstance(command, str) else "",
                paths=paths_of(arguments), arguments=arguments, response_id=response,
                at=self._at, offset=self._offset, line=self._line, active=self._active, copied=self._copied,
            )
        )  # fmt: skip
        if action == "delegate":
            for name, prompt in delegations(arguments):
                self._events.append(SubagentStart(name=name, prompt=prompt, call_id=call_id, **self._base()))

    def _result(self, message: Message) -> None:
        text = text_of(message.content)
        outcome, code, reason = ending(message, text)
        self._stopped_tool = outcome == "interrupted"
        call_id = message.tool_call_id or self._key
        self._events.append(
            ToolResult(
                call_id=call_id, outcome=outcome, exit_code=code, text=text, reason=reason,
                at=self._at, offset=self._offset, line=self._line, active=self._active, copied=self._copied,
            )
        )  # fmt: skip
        if message.tool_name == "todo" and (items := plan_of(message)) is not None:
            self._events.append(PlanUpdate(items=items, **self._base()))
        if _any(message.usage):
            # A tool that asked a model itself: its tokens are spent, but not from this conversation's context.
            self._usage(message.usage, "", call_id, agent_id=call_id)

    def _shell(self, message: Message) -> None:
        """A person's own `!command`: said as such, and a run whose exit code counts."""
        command = message.command or ""
        code = whole(message.exit_code)
        outcome: Outcome = "unknown" if code is None else "failed" if code else "ok"
        if message.cancelled:
            outcome = "interrupted"
        base = self._base()
        self._events += (
            UserMessage(text=command, origin="shell", **base),
            ToolCall(
                call_id=self._key,
                tool="bashExecution",
                action="run",
                command=command,
                arguments={"command": command},
                **base,
            ),
            ToolResult(call_id=self._key, outcome=outcome, exit_code=code, text=message.output or "", **base),
        )

    def _compaction(self, summary: str | None, tokens_before: float | None) -> None:
        before = None if tokens_before is None else count(tokens_before)
        self._events.append(Compaction(summary=summary or "", opaque=not summary, tokens_before=before, **self._base()))

    def _usage(self, usage: Tokens | None, model: str, response: str, *, agent_id: str = "") -> None:
        if usage is None:
            return
        fresh = usage.input if type(usage.input) is int else count(usage.input)
        read = usage.cache_read if type(usage.cache_read) is int else count(usage.cache_read)
        written = usage.cache_write if type(usage.cache_write) is int else count(usage.cache_write)
        self._events.append(
            Usage(
                response_id=response, model=model, input=fresh, cache_read=read, cache_write=written,
                output=usage.output if type(usage.output) is int else count(usage.output),
                context=fresh + read + written, agent_id=agent_id,
                at=self._at, offset=self._offset, line=self._line, active=self._active, copied=self._copied,
            )
        )  # fmt: skip


def _images(content: str | list[Block] | None) -> int:
    return sum(block.type == "image" for block in content) if isinstance(content, list) else 0


def _any(usage: Tokens | None) -> bool:
    return usage is not None and bool(usage.input or usage.output or usage.cache_read or usage.cache_write)
