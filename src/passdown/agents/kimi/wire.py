"""Kimi CLI's logs: the messages of its wire (`wire.jsonl`), and the rows of a context (`context.jsonl`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from passdown.agents.kimi.course import Course
from passdown.agents.kimi.records import Row, WireMessage, identifier, texts
from passdown.io.log import Number, whole
from passdown.model.session import PlanUpdate

_IGNORED = frozenset({
    "TurnEnd", "CompactionBegin", "HookTriggered", "HookResolved", "MCPLoadingBegin", "MCPLoadingEnd", "Notification",
    "ToolCallRequest", "QuestionRequest", "QuestionResponse", "BtwBegin", "BtwEnd", "HookRequest", "MCPStatusSnapshot",
})  # fmt: skip
_DEEPEST = 8


class Wire:
    """Turns Kimi CLI's messages and rows into events."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._step = 0
        self._asked: dict[str, str] = {}
        self._counted: set[str] = set()
        self._children: set[str] = set()
        self._pending: tuple[str, str, str, dict[str, Any]] | None = None

    def add(self, message: WireMessage) -> bool:
        """Add one message of the wire; False when it is of no known kind."""
        payload = message.payload if isinstance(message.payload, dict) else {}
        return self._message(message.type, payload, 0)

    def finish(self) -> None:
        """Add a call whose arguments were still coming."""
        self._call_now()

    def _message(self, kind: str, payload: dict[str, Any], depth: int) -> bool:
        if kind != "ToolCallPart":
            self._call_now()
        method = _METHODS.get(kind)
        if kind == "SubagentEvent" and depth < _DEEPEST:
            return self._inside(payload, depth)
        if method is not None:
            method(self, payload)
        elif kind in _IGNORED:
            self._course.ignored[kind] += 1
        else:
            return False
        return True

    def _inside(self, payload: dict[str, Any], depth: int) -> bool:
        call = identifier(payload.get("parent_tool_call_id")) or identifier(payload.get("task_tool_call_id"))
        child = identifier(payload.get("agent_id")) or call or "subagent"
        event = payload.get("event")
        event = event if isinstance(event, dict) else {}
        kind, inner = event.get("type"), event.get("payload")
        if child not in self._children and len(self._children) < 10_000:
            self._children.add(child)
            name = payload.get("subagent_type")
            self._course.begin_child(call, child, name if isinstance(name, str) else "")
        base = self._course.base
        self._course.base = base | {"agent_id": child}
        known = self._message(
            kind if isinstance(kind, str) else "", inner if isinstance(inner, dict) else {}, depth + 1
        )
        self._call_now()
        self._course.base = base
        return known

    def _turn(self, payload: dict[str, Any]) -> None:
        content = payload.get("user_input")
        if self._course.base.get("agent_id"):
            self._course.add_user(content, "subagent")
        else:
            self._course.add_typed(content)

    def _begin(self, _: object) -> None:
        self._step += 1
        self._course.go_on()

    def _response(self) -> str:
        return f"step-{self._step}" if self._step else ""

    def _part(self, payload: dict[str, Any]) -> None:
        self._course.add_part(payload, self._response())

    def _call(self, payload: dict[str, Any]) -> None:
        function = payload.get("function")
        function = function if isinstance(function, dict) else {}
        name, given = function.get("name"), function.get("arguments")
        self._pending = (
            identifier(payload.get("id")), name if isinstance(name, str) else "",
            given if isinstance(given, str) else "", dict(self._course.base),
        )  # fmt: skip

    def _more(self, payload: dict[str, Any]) -> None:
        part = payload.get("arguments_part")
        if self._pending is not None and isinstance(part, str):
            call_id, name, given, base = self._pending
            self._pending = (call_id, name, given + part, base)

    def _call_now(self) -> None:
        if self._pending is not None:
            call_id, name, given, base = self._pending
            self._pending = None
            here, self._course.base = self._course.base, base
            self._course.add_call(call_id, name, given, self._response())
            self._course.base = here

    def _result(self, payload: dict[str, Any]) -> None:
        value = payload.get("return_value", payload.get("result"))
        value = value if isinstance(value, dict) else {"output": value}
        said = value.get("message")
        error = value.get("is_error") is True
        self._course.add_result(
            identifier(payload.get("tool_call_id")), texts(value.get("output")), error=error,
            status=said if isinstance(said, str) and error else "",
        )  # fmt: skip

    def _status(self, payload: dict[str, Any]) -> None:
        spent, message_id = payload.get("token_usage"), identifier(payload.get("message_id"))
        response = message_id or self._response() or self._course.key
        owner = f"{self._course.base.get('agent_id', '')} {response}"
        if not isinstance(spent, dict) or owner in self._counted:
            return
        self._counted.add(owner)
        names = ("input_other", "output", "input_cache_read", "input_cache_creation")
        window = _number(payload.get("max_context_tokens"))
        numbers = tuple(_number(spent.get(name)) for name in names)
        self._course.add_usage("", response, numbers, whole(window) or None)

    def _interrupted(self, _: object) -> None:
        if not self._course.base.get("agent_id"):
            self._course.stop()

    def _compacted(self, _: object) -> None:
        if not self._course.base.get("agent_id"):
            self._course.compact("")

    def _request(self, payload: dict[str, Any]) -> None:
        asked, call = identifier(payload.get("id")), identifier(payload.get("tool_call_id"))
        if asked and call and len(self._asked) < 10_000:
            self._asked[asked] = call
        self._course.ignored["ApprovalRequest"] += 1

    def _decided(self, payload: dict[str, Any]) -> None:
        call = self._asked.pop(identifier(payload.get("request_id")), "")
        said = payload.get("feedback")
        if call and payload.get("response") == "reject":
            self._course.refusals[call] = said.strip() if isinstance(said, str) else ""
        self._course.ignored["ApprovalResponse"] += 1

    def _plan(self, payload: dict[str, Any]) -> None:
        text = payload.get("content")
        if isinstance(text, str) and text:
            self._course.events.append(PlanUpdate(text=text, **self._course.base))

    def row(self, row: Row) -> bool:
        """Add one row of a context; False when its role is not known."""
        text, course = texts(row.content), self._course
        if row.role == "user":
            if text.lstrip().startswith(("<system", "<notification", "<git-context")):
                course.add_user(row.content, "injected")
            else:
                course.add_typed(row.content)
        elif row.role == "assistant":
            for part in row.content if isinstance(row.content, list) else [{"text": row.content}]:
                course.add_part(part, course.key)
            for call in (row.tool_calls or ())[:1000]:
                if isinstance(call, dict):
                    self._call(call)
                    self._call_now()
        elif row.role == "tool":
            course.add_result(identifier(row.tool_call_id), text, error=text.startswith("<system>ERROR"))
        elif row.role.startswith("_") or row.role == "system":
            course.ignored[row.role[:60]] += 1
        else:
            return False
        return True


def _number(value: Any) -> Number:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


_METHODS: dict[str, Callable[[Wire, dict[str, Any]], None]] = {
    "TurnBegin": Wire._turn,
    "SteerInput": Wire._turn,
    "StepBegin": Wire._begin,
    "StepInterrupted": Wire._interrupted,
    "ContentPart": Wire._part,
    "ToolCall": Wire._call,
    "ToolCallPart": Wire._more,
    "ToolResult": Wire._result,
    "StatusUpdate": Wire._status,
    "CompactionEnd": Wire._compacted,
    "ApprovalRequest": Wire._request,
    "ApprovalResponse": Wire._decided,
    "ApprovalRequestResolved": Wire._decided,
    "PlanDisplay": Wire._plan,
}

KINDS = frozenset(_METHODS) | _IGNORED | {"SubagentEvent"}
"""The messages of the wire that are known."""
