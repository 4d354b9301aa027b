"""The course of a Kimi session: what both programs' logs come to, as passdown's events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.kimi.records import images, texts
from passdown.agents.kimi.tools import ACTIONS, DELEGATES, arguments_of, ending, paths_of, todos
from passdown.io.log import Number, count
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
_COMMAND = lazy_pattern(r"/([a-zA-Z][\w:-]{0,60})(?:\s+(.*))?\Z", 16)


def command_of(text: str) -> str | None:
    """Return the arguments of a slash command, None when the text is none (a path such as `/usr/bin` is not)."""
    match = _COMMAND.match(text.strip()[:20_000])
    return None if match is None else (match[2] or "").strip()


class Course:
    """What has happened so far. `add_*` append to `events`, which the reader takes after each record."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []
        self.base: dict[str, Any] = {}
        self.key = ""
        self.ignored: Counter[str] = Counter()
        self.model = ""
        self.cwd = ""
        self.refusals: dict[str, str] = {}
        self._answering = ""
        self._calls: dict[str, tuple[str, dict[str, Any], str]] = {}
        self._plan: tuple[PlanItem, ...] | None = None
        self._tasks: dict[str, str] = {}
        self._stopped = False

    def add_user(self, content: Any, origin: Origin, text: str | None = None) -> None:
        """Add a message in the user's role."""
        said = texts(content) if text is None else text
        self.events.append(UserMessage(text=said, origin=origin, images=images(content), **self.base))
        self._stopped = False

    def add_typed(self, content: Any) -> None:
        """Add what a person typed: a request, or a slash command."""
        arguments = command_of(texts(content))
        if arguments is None:
            self.add_user(content, "human")
        else:
            self.add_user(content, "command", arguments or texts(content).strip())

    def add_part(self, part: Any, response: str) -> None:
        """Add a part of an answer: text, or thinking."""
        if not isinstance(part, dict):
            return
        thinking = part.get("type") in ("think", "thinking")
        text = part.get("think", part.get("thinking")) if thinking else part.get("text")
        if isinstance(text, str) and text:
            self._answer()
            self.events.append(
                AssistantMessage(
                    text=text, model=self._model(), response_id=response, reasoning=thinking, **self.base
                )
            )  # fmt: skip

    def _model(self) -> str:
        return "" if self.base.get("agent_id") else self.model

    def _answer(self) -> None:
        model = self._model()
        if model and model != self._answering:
            if self._answering:
                self.events.append(ModelChange(model=model, previous=self._answering, **self.base))
            self._answering = model

    def add_call(self, call_id: str, tool: str, arguments: Any, response: str, display: Any = None) -> None:
        """Add a tool call."""
        call_id, given = call_id or self.key, arguments_of(arguments)
        display = display if isinstance(display, dict) else {}
        plan = display.get("plan") if tool == "ExitPlanMode" else None
        self._calls[call_id] = (tool, given, plan if isinstance(plan, str) else "")
        if len(self._calls) > _OPEN:
            del self._calls[next(iter(self._calls))]
        action = ACTIONS.get(tool, "other")
        command = given.get("command") if action == "run" else None
        folder = given.get("cwd", display.get("cwd")) if action == "run" else None
        self._answer()
        self.events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command if isinstance(command, str) else "",
                cwd=folder if isinstance(folder, str) else "", paths=() if action == "run" else paths_of(given),
                arguments=given, response_id=response, **self.base,
            )
        )  # fmt: skip

    def begin_child(self, call_id: str, child_id: str = "", name: str = "") -> None:
        """Note that a call began a subagent."""
        tool, given, _ = self._calls.get(call_id, ("", {}, ""))
        if child_id or tool in DELEGATES:
            prompt, kind = given.get("prompt"), given.get("subagent_type", given.get("subagent_name"))
            self.events.append(
                SubagentStart(
                    child_id=child_id, name=name or (kind if isinstance(kind, str) else ""), call_id=call_id,
                    prompt=prompt if isinstance(prompt, str) else "", **self.base | {"agent_id": ""},
                )
            )  # fmt: skip

    def add_result(self, call_id: str, text: str, *, error: bool, status: str = "") -> None:
        """Add what came back for a call; `status` is what the program says of it besides its output."""
        call_id = call_id or self.key
        tool, given, plan = self._calls.pop(call_id, ("", {}, ""))
        end = ending(
            tool, f"{text}\n{status}" if status else text, error=error, refusal=self.refusals.pop(call_id, None)
        )
        if end.task:
            self._tasks[end.task] = call_id
        self.events.append(
            ToolResult(
                call_id=call_id, outcome=end.outcome, exit_code=end.exit_code, text=text or status, reason=end.reason,
                **self.base,
            )
        )  # fmt: skip
        if end.outcome == "ok" and not self.base.get("agent_id"):
            if tool in ("TodoList", "SetTodoList") and (items := todos(given.get("todos"))) is not None:
                self.add_plan(items)
            if plan:
                self.events.append(PlanUpdate(text=plan, **self.base))

    def end_task(self, task: str, status: str, code: int | None) -> None:
        """Add how a background task ended."""
        call_id = self._tasks.pop(task, "")
        if not call_id:
            return
        outcome: Any = {"completed": "ok", "timed_out": "timeout", "killed": "interrupted"}.get(status, "failed")
        if outcome == "ok" and code:
            outcome = "failed"
        self.events.append(ToolResult(call_id=call_id, outcome=outcome, exit_code=code, **self.base))

    def add_plan(self, items: tuple[PlanItem, ...]) -> None:
        """Add the whole todo list, where it changed."""
        if items != self._plan:
            self._plan = items
            self.events.append(PlanUpdate(items=items, **self.base))

    def add_usage(self, model: str, response: str, numbers: tuple[Number, ...], window: int | None = None) -> None:
        """Add the tokens of one response: fresh input, output, read from the cache, written to it."""
        fresh, output, read, written = (count(number) for number in numbers)
        self.events.append(
            Usage(
                response_id=response, model=model, input=fresh, cache_read=read, cache_write=written, output=output,
                context=fresh + read + written, window=window, **self.base,
            )
        )  # fmt: skip

    def move(self, cwd: str | None) -> None:
        """Note the folder the session works in."""
        if cwd and cwd != self.cwd:
            self.cwd = cwd
            self.events.append(WorkspaceChange(cwd=cwd, **self.base))

    def stop(self, reason: str = "") -> None:
        """Note that the agent was stopped, once a turn."""
        if not self._stopped:
            self._stopped = True
            self.events.append(Interruption(during_tool=bool(self._calls), reason=reason[:1000], **self.base))

    def go_on(self) -> None:
        """Note that the agent works again."""
        self._stopped = False

    def compact(self, summary: str, **values: Any) -> None:
        """Note that the context was made shorter."""
        self.events.append(Compaction(summary=summary, opaque=not summary, **values, **self.base))
