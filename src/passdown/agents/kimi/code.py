"""Kimi Code's records: one method a kind. A prompt stands there twice, as typed and as it got to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from passdown.agents.kimi.course import Course
from passdown.agents.kimi.records import (
    Appended,
    Approval,
    Compacted,
    Config,
    Ended,
    Looped,
    Message,
    Prompt,
    Source,
    Spent,
    Step,
    Stored,
    Task,
    UsageRecord,
    identifier,
    texts,
)
from passdown.agents.kimi.tools import todos
from passdown.io.log import Number, whole
from passdown.model.session import Origin

IGNORED = frozenset({
    "metadata", "forked", "goal.create", "goal.update", "goal.clear", "tools.set_active_tools",
    "tools.reset_active_tools", "tools.register_user_tool", "tools.unregister_user_tool", "permission.set_mode",
    "plan_mode.enter", "plan_mode.exit", "plan_mode.cancel", "plan.revision", "full_compaction.cancel",
    "full_compaction.complete", "context.undo", "context.update_token_count", "interruptionReminder.recorded",
    "skill.activate", "plugin.session_start", "task.started", "task.waitDelivered", "turn.started",
})  # fmt: skip
"""Records that are understood and hold nothing a session needs. What is undone is known before they are read."""
_FAMILIES = (
    "llm.", "token_counting.", "cron.", "file_history.", "mcp.", "prompt.", "interaction.", "runtime.", "swarm_mode.",
    "tower_mode.", "turn.step.", "staleGuard.", "subagent.", "session.", "warning",
)  # fmt: skip
_PUT_IN = {"skill_activation": "command", "plugin_command": "command", "hook_result": "hook"}


def is_passed_over(kind: str) -> bool:
    """Say whether records of this kind are known to hold nothing a session needs."""
    return kind in IGNORED or kind.startswith(_FAMILIES)


class Code:
    """Turns Kimi Code's records into events."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._typed: list[tuple[str, Any, dict[str, Any]]] = []
        self._spent: tuple[str, tuple[Number, ...], dict[str, Any]] | None = None
        self._recorded: tuple[Number, ...] | None = None
        self._trigger = ""

    def add(self, kind: str, data: Any) -> bool:
        """Add one record; False when it is of no known kind or shape."""
        method = _METHODS.get(kind)
        if method is not None:
            return method(self, data) is not False
        if is_passed_over(kind):
            self._course.ignored[kind] += 1
            return True
        return False

    def finish(self) -> None:
        """Add what was typed and never got to the model, and the last response's tokens."""
        self._flush()
        for text, content, base in self._typed:
            self._course.base = base
            self._course.add_user(content, "queued", text)

    def _prompt(self, data: Prompt) -> None:
        kind = data.origin.kind if data.origin is not None else "user"
        if kind == "user":
            self._typed.append((texts(data.input), data.input, dict(self._course.base)))
            del self._typed[:-50]
        self._course.go_on()

    def _append(self, data: Appended) -> bool:
        message = data.message
        if message.role == "user":
            self._user(message)
        elif message.role == "assistant":
            self._assistant(message)
        elif message.role == "tool":
            error = message.is_error is True or texts(message.content).startswith("<system>ERROR")
            self._course.add_result(identifier(message.tool_call_id), texts(message.content), error=error)
        return message.role in ("user", "assistant", "tool", "system")

    def _user(self, message: Message) -> None:
        text = texts(message.content)
        origin, said = _origin(message.origin, text)
        if origin == "human":
            found = next((at for at, typed in enumerate(self._typed) if typed[0] == text), None)
            if found is not None:
                del self._typed[found]
        self._course.add_user(message.content, origin, said)

    def _assistant(self, message: Message) -> None:
        for part in message.content if isinstance(message.content, list) else [{"text": message.content}]:
            self._course.add_part(part, self._course.key)
        for call in (message.tool_calls or ())[:1000]:
            function = call.get("function")
            function = function if isinstance(function, dict) else call
            name = function.get("name")
            given = function.get("arguments", function.get("args"))
            tool = name if isinstance(name, str) else ""
            self._course.add_call(identifier(call.get("id")), tool, given, self._course.key)

    def _loop(self, data: Looped) -> bool:
        step, course = data.event, self._course
        response = identifier(step.step_uuid) or identifier(step.uuid)
        if step.type == "content.part":
            course.add_part(step.part, response)
        elif step.type == "tool.call":
            call_id = identifier(step.tool_call_id) or identifier(step.uuid)
            course.add_call(call_id, step.name or "", step.args, response, step.display)
            course.begin_child(call_id)
        elif step.type == "tool.result":
            self._result(step)
        elif step.type == "step.end":
            self._flush()
            if step.usage is not None and _numbers(step.usage) != self._recorded:
                self._spent = (response, _numbers(step.usage), dict(course.base))
            self._recorded = None
        elif step.type == "step.begin":
            self._flush()
            self._recorded = None
            course.go_on()
        else:
            return False
        return True

    def _result(self, step: Step) -> None:
        result = step.result if isinstance(step.result, dict) else {"output": step.result}
        status = result.get("message")
        self._course.add_result(
            identifier(step.tool_call_id), texts(result.get("output")), error=result.get("isError") is True,
            status=status if isinstance(status, str) else "",
        )  # fmt: skip

    def _flush(self) -> None:
        """Add the tokens that the end of a step told and no record repeated."""
        if self._spent is not None:
            response, numbers, base = self._spent
            self._spent = None
            here, self._course.base = self._course.base, base
            self._course.add_usage(self._course.model, response, numbers)
            self._course.base = here

    def _record(self, data: UsageRecord) -> None:
        if data.usage is None:
            return
        numbers = _numbers(data.usage)
        response = ""
        if self._spent is not None and self._spent[1] == numbers:
            response, self._spent = self._spent[0], None
        else:
            self._flush()
            self._recorded = numbers
        self._course.add_usage(data.model or self._course.model, response or self._course.key, numbers)

    def _config(self, data: Config) -> None:
        course = self._course
        course.model = data.model_alias or course.model
        told = data.environment_disclosure if isinstance(data.environment_disclosure, dict) else {}
        cwd = data.cwd or told.get("cwd")
        course.move(cwd if isinstance(cwd, str) else None)

    def _request(self, data: Config) -> None:
        self._course.model = data.model_alias or data.model or self._course.model
        self._course.ignored["llm.request"] += 1

    def _compacting(self, data: Compacted) -> None:
        self._trigger = data.source if data.source in ("auto", "manual") else ""

    def _compacted(self, data: Compacted) -> None:
        summary = data.summary if data.summary is not None else data.context_summary
        text = texts(summary.get("content")) if isinstance(summary, dict) else texts(summary)
        before, after = whole(data.tokens_before), whole(data.tokens_after)
        self._course.compact(text, trigger=self._trigger, tokens_before=before, tokens_after=after)
        self._trigger = ""

    def _micro(self, _: object) -> None:
        self._course.compact("", micro=True)

    def _cleared(self, _: object) -> None:
        self._course.compact("", trigger="manual")

    def _approved(self, data: Approval) -> None:
        result = data.result if isinstance(data.result, dict) else {}
        call_id, said = identifier(data.tool_call_id), result.get("feedback")
        if call_id and result.get("decision") == "rejected":
            self._course.refusals[call_id] = said.strip() if isinstance(said, str) else ""
        self._course.ignored["permission.record_approval_result"] += 1

    def _stored(self, data: Stored) -> None:
        items = todos(data.value) if data.key == "todo" else None
        if items is not None:
            self._course.add_plan(items)

    def _ended(self, data: Ended) -> None:
        if data.reason in ("failed", "error"):
            error = data.error
            said = error.get("message") if isinstance(error, dict) else error
            self._course.stop(f"error: {said if isinstance(said, str) else ''}")
        elif data.reason in ("cancelled", "user_cancelled", "aborted"):
            self._course.stop()

    def _cancelled(self, _: object) -> None:
        self._course.stop()

    def _task(self, data: Task) -> None:
        info = data.info if isinstance(data.info, dict) else {}
        code = info.get("exitCode")
        number = whole(code) if isinstance(code, (int, float)) and not isinstance(code, bool) else None
        self._course.end_task(str(info.get("taskId")), str(info.get("status")), number)


def _numbers(spent: Spent) -> tuple[Number, ...]:
    return spent.input_other, spent.output, spent.input_cache_read, spent.input_cache_creation


def _origin(source: Source | None, text: str) -> tuple[Origin, str]:
    """Return who wrote a message in the user's role, and what counts of its text."""
    if source is None or source.kind == "user":
        return (
            "injected" if source is None and text.lstrip().startswith(("<system", "<git-context")) else "human"
        ), text
    if source.kind == "shell_command":
        return ("shell" if source.phase == "input" else "injected"), text
    if source.kind == "system_trigger":
        return ("subagent" if source.name == "subagent" else "injected"), text
    origin: Any = _PUT_IN.get(source.kind, "injected")
    if origin == "command":
        if source.trigger != "user-slash":
            return "injected", text
        arguments = source.skill_args or source.command_args
        return "command", arguments or f"/{source.skill_name or source.command_name or ''}"
    return origin, text


def anchors(data: Any) -> bool:
    """Say whether a record is a message that an undo counts: one that a person sent."""
    if not isinstance(data, Appended) or data.message.role != "user":
        return False
    event = _origin(data.message.origin, texts(data.message.content))[0]
    return event in ("human", "command", "shell")


_METHODS: dict[str, Callable[[Code, Any], bool | None]] = {
    "turn.prompt": Code._prompt,
    "turn.steer": Code._prompt,
    "turn.cancel": Code._cancelled,
    "turn.step.interrupted": Code._ended,
    "prompt.aborted": Code._cancelled,
    "turn.ended": Code._ended,
    "context.append_message": Code._append,
    "context.append_loop_event": Code._loop,
    "context.apply_compaction": Code._compacted,
    "context.clear": Code._cleared,
    "micro_compaction.apply": Code._micro,
    "full_compaction.begin": Code._compacting,
    "config.update": Code._config,
    "profile.bind": Code._config,
    "llm.request": Code._request,
    "usage.record": Code._record,
    "permission.record_approval_result": Code._approved,
    "tools.update_store": Code._stored,
    "task.terminated": Code._task,
}
