"""From Pi's entries to events: one method a kind of entry."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from passdown.agents.pi.records import Block, Entry, Message, Tokens, count, milliseconds, whole
from passdown.agents.pi.tools import ACTIONS, arguments_of, delegations, ending, paths_of, plan_of
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
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

_SKILL = re.compile(r'<skill name="([^"\n]{1,200})"')
_FILE = re.compile(r'<file name="[^"\n]{1,4096}"')


def text_of(content: str | list[Block] | None) -> str:
    """Return the text of a message's content."""
    if isinstance(content, list):
        return "\n".join(block.text for block in content if block.type == "text" and block.text)
    return content or ""


class Entries:
    """Turns entries into events, in file order. `events` collects those of the entry under way."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.ignored: Counter[str] = Counter()
        self._model = ""
        self._stopped_tool = False
        self._base: dict[str, Any] = {}
        self._key = ""

    def add(self, entry: Entry, base: dict[str, Any], size: int) -> None:
        """Append the events of one entry. `base` holds the fields all its events share."""
        base["at"] = milliseconds(entry.timestamp)
        self._base = base
        self._key = entry.id or f"line-{base['line']}"
        if entry.type == "message":
            self._message(entry.message, size)
        elif entry.type in IGNORED:
            self.ignored[entry.type] += 1
        elif entry.type == "compaction":
            self._usage(entry.usage, "", self._key)
            self._compaction(entry.summary, entry.tokens_before)
        elif entry.type == "branch_summary":
            # Pi hands it to the model in the user's role: the program's words about a branch that was left.
            self._usage(entry.usage, "", self._key)
            self.events.append(UserMessage(text=entry.summary or "", origin="injected", **base))
        elif entry.type == "custom_message":
            self._custom(entry.content)
        elif entry.type == "session_info":
            self.events.append(Title(title=(entry.name or "").strip(), **base))
        else:
            self.events.append(
                Unknown(record=entry.type, reason="unknown_type" if entry.type else "bad_shape", length=size, **base)
            )

    def _message(self, message: Message | None, size: int) -> None:
        role = message.role if message is not None else ""
        if message is None or not role:
            self.events.append(Unknown(record="message", reason="bad_shape", length=size, **self._base))
        elif role == "assistant":
            self._assistant(message)
        elif role == "toolResult":
            self._result(message)
        elif role == "user":
            self._user(message)
        elif role == "bashExecution":
            self._shell(message)
        elif role in ("custom", "hookMessage"):
            self._custom(message.content)
        elif role == "compactionSummary":
            self._compaction(message.summary, message.tokens_before)
        elif role == "branchSummary":
            self.events.append(UserMessage(text=message.summary or "", origin="injected", **self._base))
        else:
            self.events.append(Unknown(record=f"message/{role}", length=size, **self._base))

    def _user(self, message: Message) -> None:
        text = text_of(message.content)
        images = _images(message.content)
        if match := _SKILL.match(text):
            # `/skill:name request` is stored as the skill's body and then the request.
            request = text.rpartition("</skill>")[2].strip()
            self.events.append(
                UserMessage(text=request or f"/skill:{match[1]}", origin="command", images=images, **self._base)
            )
            return
        if _FILE.match(text) and "</file>" in text:
            # `pi @file "request"` puts the bodies of the files in front of the request.
            bodies, end, text = text.rpartition("</file>")
            self.events.append(UserMessage(text=bodies + end, origin="injected", **self._base))
            text = text.strip()
            if not text and not images:
                return
        self.events.append(UserMessage(text=text, images=images, **self._base))

    def _custom(self, content: str | list[Block] | None) -> None:
        self.events.append(UserMessage(text=text_of(content), origin="hook", images=_images(content), **self._base))

    def _assistant(self, message: Message) -> None:
        content = message.content
        blocks = content if isinstance(content, list) else [Block(type="text", text=content)] if content else []
        model = message.model or ""
        response = message.response_id or self._key
        if model != self._model and model and (blocks or _any(message.usage)) and self._base["active"]:
            if self._model:
                self.events.append(ModelChange(model=model, previous=self._model, **self._base))
            self._model = model
        called = False
        for block in blocks:
            if block.type == "toolCall":
                called = True
                self._call(block, response)
            elif text := block.text if block.type == "text" else block.thinking:
                self.events.append(
                    AssistantMessage(
                        text=text, model=model, response_id=response, reasoning=block.type == "thinking", **self._base
                    )
                )
        stopped = message.stop_reason in ("aborted", "error")
        if _any(message.usage) or not stopped:
            self._usage(message.usage, model, response)
        if stopped:
            failed = message.stop_reason == "error"
            self.events.append(
                Interruption(
                    during_tool=not failed and (called or self._stopped_tool),
                    reason=f"error: {message.error_message or ''}"[:1000] if failed else "",
                    **self._base,
                )
            )
        self._stopped_tool = False

    def _call(self, block: Block, response: str) -> None:
        arguments = arguments_of(block)
        tool = block.name or ""
        action = ACTIONS.get(tool, "other")
        command = arguments.get("command") if action == "run" else None
        call_id = block.id or self._key
        self.events.append(
            ToolCall(
                call_id=call_id,
                tool=tool,
                action=action,
                command=command if isinstance(command, str) else "",
                paths=paths_of(arguments),
                arguments=arguments,
                response_id=response,
                **self._base,
            )
        )
        if action == "delegate":
            for name, prompt in delegations(arguments):
                self.events.append(SubagentStart(name=name, prompt=prompt, call_id=call_id, **self._base))

    def _result(self, message: Message) -> None:
        text = text_of(message.content)
        outcome, code, reason = ending(message, text)
        self._stopped_tool = outcome == "interrupted"
        call_id = message.tool_call_id or self._key
        self.events.append(
            ToolResult(call_id=call_id, outcome=outcome, exit_code=code, text=text, reason=reason, **self._base)
        )
        if message.tool_name == "todo" and (items := plan_of(message)) is not None:
            self.events.append(PlanUpdate(items=items, **self._base))
        if _any(message.usage):
            # A tool that asked a model itself: its tokens are spent, but not from this conversation's context.
            self._base["agent_id"] = call_id
            self._usage(message.usage, "", call_id)

    def _shell(self, message: Message) -> None:
        """A person's own `!command`: said as such, and run as evidence."""
        command = message.command or ""
        code = whole(message.exit_code)
        outcome: Outcome = "unknown" if code is None else "failed" if code else "ok"
        if message.cancelled:
            outcome = "interrupted"
        self.events.append(UserMessage(text=command, origin="shell", **self._base))
        self.events.append(
            ToolCall(
                call_id=self._key,
                tool="bashExecution",
                action="run",
                command=command,
                arguments={"command": command},
                **self._base,
            )
        )
        self.events.append(
            ToolResult(call_id=self._key, outcome=outcome, exit_code=code, text=message.output or "", **self._base)
        )

    def _compaction(self, summary: str | None, tokens_before: float | None) -> None:
        self.events.append(
            Compaction(
                summary=summary or "",
                opaque=not summary,
                tokens_before=None if tokens_before is None else count(tokens_before),
                **self._base,
            )
        )

    def _usage(self, usage: Tokens | None, model: str, response: str) -> None:
        if usage is None:
            return
        read, written = count(usage.cache_read), count(usage.cache_write)
        fresh = count(usage.input)
        self.events.append(
            Usage(
                response_id=response,
                model=model,
                input=fresh,
                cache_read=read,
                cache_write=written,
                output=count(usage.output),
                context=fresh + read + written,
                **self._base,
            )
        )


def _images(content: str | list[Block] | None) -> int:
    return sum(block.type == "image" for block in content) if isinstance(content, list) else 0


def _any(usage: Tokens | None) -> bool:
    return usage is not None and bool(usage.input or usage.output or usage.cache_read or usage.cache_write)
