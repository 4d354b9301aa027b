"""From Copilot's events to passdown's: one method a kind of event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from passdown.agents.copilot.plans import Todos, checklist
from passdown.agents.copilot.records import (
    Answer,
    Begun,
    Child,
    Compacted,
    Context,
    Decided,
    Ended,
    Entry,
    ModelChanged,
    Note,
    Notice,
    Said,
    Start,
    Stopped,
    Tokens,
    Truncated,
    UsageRecord,
)
from passdown.agents.copilot.tools import ACTIONS, STARTS, arguments_of, ending, paths_of
from passdown.io.jsonl import Line
from passdown.io.log import count, milliseconds, whole
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    Origin,
    PlanUpdate,
    SubagentStart,
    Title,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)

_OPEN = 512
"""Most calls that are remembered while they wait for their result."""
_PASSED_OVER = (
    "hook.", "mcp.", "mcp_app.", "permission.requested", "assistant.turn_", "assistant.intent", "assistant.idle",
    "assistant.fusion", "session.fusion", "session.canvas", "session.schedule", "session.mcp_", "session.auto_",
    "session.extensions", "session.managed_settings", "session_limits_exhausted.", "factory.", "elicitation.",
    "sampling.", "command.", "commands.", "external_tool.", "tool_search.", "user_input.", "auto_mode_switch.",
    "exit_plan_mode.completed", "model.call_", "tool.execution_p", "subagent.",
)  # fmt: skip
"""Beginnings of the types of events that hold nothing a session needs."""
_IGNORED = frozenset({
    "system.message", "capabilities.changed", "pending_messages.modified", "ui.ephemeral_query",
    "instruction_discovered",
    *(f"session.{name}" for name in (
        "info", "warning", "idle", "mode_changed", "mode_notice_delivered", "permissions_changed", "compaction_start",
        "workspace_file_changed", "usage_checkpoint", "usage_info", "shutdown", "snapshot_rewind", "plan_changed",
        "todos_changed", "tools_updated", "skills_loaded", "custom_agents_updated", "custom_notification",
        "background_tasks_changed", "binary_asset", "completion_receipt", "remote_steerable_changed",
        "session_limits_changed",
    )),
})  # fmt: skip
"""A rewind takes its events out of the log itself, so that its own record has nothing more to say."""


def is_passed_over(kind: str) -> bool:
    """Say whether events of this type are known to hold nothing a session needs."""
    return kind in _IGNORED or kind.startswith(_PASSED_OVER)


class Reader:
    """Turns entries into events, in file order, and counts those that hold nothing a session needs."""

    def __init__(self) -> None:
        self.ignored: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._key = ""
        self._chosen = ""  # the model that was chosen, for answers that do not name theirs
        self._answering = ""
        self._place = ("", "", "")
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}
        self._shells: dict[str, str] = {}
        self._refusals: dict[str, str] = {}
        self._counted: set[str] = set()
        self._records_usage = False
        self._thought = ""
        self._todos = Todos()

    def add(self, entry: Entry, line: Line) -> list[AnyEvent]:
        """Return the events of one entry."""
        envelope, data = entry
        kind = envelope.type
        self._events = []
        agent = envelope.agent_id or getattr(data, "parent_tool_call_id", None) or ""
        self._base = {
            "at": milliseconds(envelope.timestamp), "offset": line.offset, "line": line.number, "agent_id": agent[:128],
        }  # fmt: skip
        self._key = f"line-{line.number}"
        method = _METHODS.get(kind)
        if method is not None:
            method(self, data)
        elif is_passed_over(kind):
            self.ignored[kind] += 1
        else:
            reason: Any = "unknown_type" if kind else "bad_shape"
            self._events.append(Unknown(record=kind[:80], reason=reason, length=line.length, **self._base))
        return self._events

    def begin(self, start: Start) -> None:
        """Take note of where and with what model the session starts."""
        context = start.context or Context()
        self._place = (context.cwd or "", context.branch or "", context.head_commit or "")
        self._choose(start.selected_model)

    def _choose(self, model: str | None) -> None:
        if model and model != "auto":
            self._chosen = model

    def _resumed(self, start: Start) -> None:
        self._choose(start.selected_model)
        if start.context is not None:
            self._moved(start.context)

    def _moved(self, context: Context) -> None:
        place = (context.cwd or "", context.branch or "", context.head_commit or "")
        if place != self._place and any(place):
            self._place = place
            self._events.append(WorkspaceChange(cwd=place[0], branch=place[1], commit=place[2], **self._base))

    def _model(self, data: ModelChanged) -> None:
        self._choose(data.new_model)

    def _said(self, data: Said) -> None:
        images = sum(
            item.type == "image" or (item.mime_type or "").startswith("image/") for item in data.attachments or ()
        )
        origin: Origin = "human"
        source = data.source or ""
        if self._base["agent_id"] or source.startswith("agent-"):
            origin = "subagent"
        elif data.is_autopilot_continuation or source not in ("", "user"):
            origin = "injected"
        text = data.content or ("" if origin == "human" else data.transformed_content) or ""
        self._events.append(UserMessage(text=text, origin=origin, images=images, **self._base))

    def _put_in(self, data: Note) -> None:
        self._events.append(UserMessage(text=data.content or data.summary or "", origin="injected", **self._base))

    def _answer(self, data: Answer) -> None:
        main = not self._base["agent_id"]
        model = data.model or (self._chosen if main else "")
        response = data.api_call_id or data.request_id or data.message_id or self._key
        if main and model and model != self._answering:
            if self._answering:
                self._events.append(ModelChange(model=model, previous=self._answering, **self._base))
            self._answering = model
        if (thought := data.reasoning_text) and thought != self._thought:
            self._say(thought, model, response, reasoning=True)
        self._thought = ""
        if data.content:
            self._say(data.content, model, response, reasoning=False)
        for request in data.tool_requests or ():
            self._call(request.tool_call_id, request.name, request.arguments, response)
        if data.output_tokens is not None and not self._records_usage and response not in self._counted:
            self._counted.add(response)
            output = count(data.output_tokens)
            self._events.append(Usage(response_id=response, model=model, output=output, **self._base))

    def _say(self, text: str, model: str, response: str, *, reasoning: bool) -> None:
        self._events.append(
            AssistantMessage(text=text, model=model, response_id=response, reasoning=reasoning, **self._base)
        )

    def _reasoned(self, data: Answer) -> None:
        self._thought = data.content or ""
        if self._thought:
            self._say(self._thought, data.model or self._chosen, "", reasoning=True)

    def _call(self, call_id: str | None, name: str | None, arguments: Any, response: str) -> None:
        call_id, tool = call_id or self._key, name or ""
        if call_id in self._calls:
            return
        given = arguments_of(arguments)
        self._calls[call_id] = (tool, given)
        if len(self._calls) > _OPEN:
            del self._calls[next(iter(self._calls))]
        action = ACTIONS.get(tool, "other")
        command = given.get("command") if tool in STARTS else None
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command if isinstance(command, str) else "",
                paths=paths_of(tool, given), arguments=given, response_id=response, **self._base,
            )
        )  # fmt: skip

    def _begun(self, data: Begun) -> None:
        self._call(data.tool_call_id, data.tool_name, data.arguments, "")

    def _requested(self, data: Begun) -> None:
        """A person's own `!command`."""
        command = arguments_of(data.arguments).get("command")
        if isinstance(command, str):
            self._events.append(UserMessage(text=command, origin="shell", **self._base))
        self._call(data.tool_call_id, data.tool_name, data.arguments, "")

    def _ended(self, data: Ended) -> None:
        if not self._base["agent_id"]:
            self._choose(data.model)
        call_id = data.tool_call_id or self._key
        tool, arguments = self._calls.pop(call_id, ("", {}))
        end = ending(tool, data, self._refusals.pop(call_id, None))
        if end.shell:
            self._shells[end.shell] = call_id
        elif end.exit_code is not None:
            self._shells.pop(str(arguments.get("shellId", "")), None)
        paths = tuple(edit.path for edit in data.file_edits or () if edit.path)
        self._events.append(
            ToolResult(
                call_id=call_id, outcome=end.outcome, exit_code=end.exit_code, text=end.text, paths=paths[:500],
                reason=end.reason, **self._base,
            )
        )  # fmt: skip
        if end.outcome == "ok" and not self._base["agent_id"]:
            self._plan(tool, arguments)

    def _plan(self, tool: str, arguments: dict[str, Any]) -> None:
        query, todos = arguments.get("query"), arguments.get("todos")
        items = None
        if tool == "sql" and isinstance(query, str):
            items = self._todos.run(query)
        elif tool == "update_todo" and isinstance(todos, str):
            items = checklist(todos)
        if items is not None:
            self._events.append(PlanUpdate(items=items, **self._base))

    def _planned(self, data: Note) -> None:
        if text := data.plan_content or data.summary:
            self._events.append(PlanUpdate(text=text, **self._base))

    def _decided(self, data: Decided) -> None:
        decision = data.result
        if data.tool_call_id and decision is not None and decision.kind == "denied-interactively-by-user":
            self._refusals[data.tool_call_id] = (decision.feedback or "").strip()

    def _recorded(self, data: UsageRecord) -> None:
        if data.usage is not None:
            self._spent(data.usage)

    def _spent(self, tokens: Tokens) -> None:
        self._records_usage = True
        response = tokens.api_call_id or self._key
        if response not in self._counted:
            self._counted.add(response)
            self._usage(tokens, tokens.model or self._chosen, response)

    def _usage(self, tokens: Tokens, model: str, response: str) -> None:
        read, written = count(tokens.cache_read_tokens), count(tokens.cache_write_tokens)
        whole_input = count(tokens.input_tokens)
        self._events.append(
            Usage(
                response_id=response, model=model, input=max(0, whole_input - read - written), cache_read=read,
                cache_write=written, output=count(tokens.output_tokens), reasoning=count(tokens.reasoning_tokens),
                context=whole_input, window=whole(tokens.max_prompt_tokens) or None, **self._base,
            )
        )  # fmt: skip

    def _compacted(self, data: Compacted) -> None:
        spent = data.compaction_tokens_used
        if spent is not None and not self._records_usage:
            self._usage(spent, spent.model or self._chosen, data.request_id or self._key)
        if data.success is False:
            return
        trigger: Any = (
            data.trigger if data.trigger in ("auto", "manual") else "manual" if data.custom_instructions else ""
        )
        summary = data.summary_content or ""
        self._events.append(
            Compaction(
                trigger=trigger, tokens_before=whole(data.pre_compaction_tokens), summary=summary, opaque=not summary,
                tokens_after=whole(data.post_compaction_tokens), **self._base,
            )
        )  # fmt: skip

    def _truncated(self, data: Truncated) -> None:
        before, after = data.pre_truncation_tokens_in_messages, data.post_truncation_tokens_in_messages
        self._events.append(
            Compaction(
                trigger="auto", opaque=True, tokens_before=whole(before), tokens_after=whole(after), **self._base
            )
        )

    def _cleared(self, _: object) -> None:
        self._events.append(Compaction(trigger="manual", opaque=True, **self._base))

    def _child(self, data: Child) -> None:
        call_id = data.tool_call_id or ""
        _, arguments = self._calls.get(call_id, ("", {}))
        prompt, child = arguments.get("prompt"), self._base["agent_id"] or call_id
        # The event carries the child's own id: it is the parent's record all the same.
        self._events.append(
            SubagentStart(
                child_id=child, name=data.agent_name or "", prompt=prompt if isinstance(prompt, str) else "",
                call_id=call_id, **self._base | {"agent_id": ""},
            )
        )  # fmt: skip

    def _aborted(self, data: Stopped) -> None:
        reason = data.reason or ""
        by_hand = reason in ("user_initiated", "user_abort", "user abort")
        self._events.append(
            Interruption(during_tool=bool(self._calls), reason="" if by_hand else reason[:1000], **self._base)
        )

    def _failed(self, data: Stopped) -> None:
        self._events.append(Interruption(reason=f"error: {data.message or ''}"[:1000], **self._base))

    def _noticed(self, data: Notice) -> None:
        self._events.append(UserMessage(text=data.content or "", origin="injected", **self._base))
        kind = data.kind
        if kind is None or kind.type != "shell_completed":
            return
        call_id, code = self._shells.pop(str(kind.shell_id), ""), whole(kind.exit_code)
        if call_id and code is not None:
            outcome: Any = "failed" if code else "ok"
            self._events.append(ToolResult(call_id=call_id, outcome=outcome, exit_code=code, **self._base))

    def _named(self, data: Note) -> None:
        self._events.append(Title(title=(data.title or "").strip(), **self._base))

    def _done(self, data: Note) -> None:
        if data.summary:
            self._say(data.summary, self._answering, "", reasoning=False)


_METHODS: dict[str, Callable[[Reader, Any], None]] = {
    "session.start": Reader._resumed,
    "session.resume": Reader._resumed,
    "session.context_changed": Reader._moved,
    "session.model_change": Reader._model,
    "user.message": Reader._said,
    "skill.invoked": Reader._put_in,
    "session.handoff": Reader._put_in,
    "assistant.message": Reader._answer,
    "assistant.reasoning": Reader._reasoned,
    "tool.execution_start": Reader._begun,
    "tool.user_requested": Reader._requested,
    "tool.execution_complete": Reader._ended,
    "permission.completed": Reader._decided,
    "session.usage_record": Reader._recorded,
    "assistant.usage": Reader._spent,
    "session.compaction_complete": Reader._compacted,
    "session.truncation": Reader._truncated,
    "session.context_cleared": Reader._cleared,
    "subagent.started": Reader._child,
    "abort": Reader._aborted,
    "session.error": Reader._failed,
    "system.notification": Reader._noticed,
    "session.title_changed": Reader._named,
    "session.task_complete": Reader._done,
    "exit_plan_mode.requested": Reader._planned,
}
