"""What the agent and its subagents said and did: text, calls, results, tokens, plans, background work."""

from __future__ import annotations

from typing import Any, NamedTuple

from passdown.agents.claude_code.calls import ACTIONS, EXIT_PLAN, PLAN_TOOLS, command_of, paths_of
from passdown.agents.claude_code.plans import TaskTable
from passdown.agents.claude_code.records import Block, Message, Row, Twin, text_of, whole
from passdown.agents.claude_code.results import Ending, ending_of
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    ModelChange,
    Outcome,
    PlanItem,
    PlanUpdate,
    SubagentStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)

_ENDED: dict[str, Outcome] = {
    "completed": "ok",
    "failed": "failed",
    "error": "failed",
    "killed": "interrupted",
    "stopped": "interrupted",
    "cancelled": "interrupted",
}
"""How a background task's status reads as an outcome; any other status means that it goes on."""

_NO_TEXT = "(no content)"
_WAITING = 1000
"""Subagents' calls kept until a row of theirs is seen; no session runs as many at once."""


class _Delegation(NamedTuple):
    """A subagent's call that no row of the subagent has been seen of."""

    name: str
    prompt: str
    where: dict[str, Any]


class Speaker:
    """Reads what models wrote. Keeps the calls under way, so that a result knows what it belongs to."""

    def __init__(self, out: list[AnyEvent]) -> None:
        self.out = out
        self.model = ""
        self.tools: dict[str, str] = {}
        self.plans: dict[str, TaskTable] = {}
        self.usage: dict[str, tuple[tuple[str, str], Usage]] = {}
        self.counted: set[int] = set()
        self.delegated: dict[str, _Delegation] = {}
        self.background: dict[str, str] = {}
        self.side: dict[int, str] = {}

    # --- whose row it is -----------------------------------------------------------------------------------------

    def agent_of(self, row: Row) -> str:
        """Return the subagent that a sidechain's row belongs to."""
        if row.agent_id:
            return row.agent_id[:128]
        agent = self.side.get(hash(row.parent_uuid), "") if row.parent_uuid else ""
        if not agent:
            # versions before 2 give a subagent's rows no name: the call with the same prompt names them
            content = row.message.content if row.message is not None else None
            prompt = content if isinstance(content, str) else "".join(block.text or "" for block in content or ())
            agent = self._call_with(prompt) or f"side-{(row.uuid or '')[:8]}"
        if row.uuid:
            self.side[hash(row.uuid)] = agent
        return agent

    def _call_with(self, prompt: str) -> str:
        for call_id, delegation in self.delegated.items():
            if delegation.prompt == prompt:
                return call_id
        return ""

    def begin(self, agent: str, prompt: str) -> None:
        """Note that a subagent's first message was read."""
        call_id = agent if agent in self.delegated else self._call_with(prompt)
        if call_id:
            self._start(call_id, agent)

    def started(self, call_id: str | None, agent: str) -> None:
        """Note that a row of the subagent of this call was read."""
        if call_id in self.delegated:
            self._start(call_id, agent)

    def _start(self, call_id: str, child: str) -> None:
        delegation = self.delegated.pop(call_id)
        self.out.append(
            SubagentStart(
                child_id=child, name=delegation.name, prompt=delegation.prompt, call_id=call_id, **delegation.where
            )
        )

    # --- responses -----------------------------------------------------------------------------------------------

    def speak(self, row: Row, where: dict[str, Any]) -> None:
        """Read an assistant row: its blocks, and the tokens of the response it is a part of."""
        message = row.message
        if message is None:
            self.out.append(Unknown(record="assistant", reason="bad_shape", **where))
            return
        agent, model = where.get("agent_id", ""), message.model or ""
        if message.usage is not None:
            self._count(agent, row, message, where)
        if not agent and model and model != self.model:
            if self.model:
                self.out.append(ModelChange(model=model, previous=self.model, **where))
            self.model = model
        if isinstance(message.content, str):
            self._say(message.content, message, where, reasoning=False)
            return
        for block in message.content or ():
            if block.type == "text":
                self._say(block.text or "", message, where, reasoning=False)
            elif block.type == "thinking":
                self._say(block.thinking or "", message, where, reasoning=True)
            elif block.type == "tool_use":
                self._call(block, row, message, where)

    def _say(self, text: str, message: Message, where: dict[str, Any], *, reasoning: bool) -> None:
        if text and text != _NO_TEXT and not text.isspace():
            self.out.append(
                AssistantMessage(
                    text=text, model=message.model or "", response_id=message.id or "", reasoning=reasoning, **where
                )
            )

    def _count(self, agent: str, row: Row, message: Message, where: dict[str, Any]) -> None:
        """Keep the fullest row of a response: the first ones are written while it still streams."""
        key = (message.id or "", row.request_id or "") if message.id or row.request_id else ("", row.uuid or "")
        held = self.usage.get(agent)
        if held is not None and held[0] != key:
            self.flush(agent)
            held = None
        tokens = message.usage
        assert tokens is not None
        output = tokens.output_tokens or 0
        if (held is not None and held[1].output >= output) or hash(key) in self.counted:
            return
        fresh = tokens.input_tokens or 0
        read, write = tokens.cache_read_input_tokens or 0, tokens.cache_creation_input_tokens or 0
        usage = Usage(
            response_id=message.id or "",
            model=message.model or "",
            input=fresh,
            cache_read=read,
            cache_write=write,
            output=output,
            context=fresh + read + write,
            **where,
        )
        self.usage[agent] = (key, usage)

    def flush(self, agent: str) -> None:
        """Tell the tokens of the agent's last response, which is over."""
        held = self.usage.pop(agent, None)
        if held is not None:
            self.counted.add(hash(held[0]))
            self.out.append(held[1])

    def close(self) -> None:
        """Tell what the end of a file leaves open."""
        for agent in list(self.usage):
            self.flush(agent)
        for call_id in list(self.delegated):
            self._start(call_id, "")

    # --- calls and results ---------------------------------------------------------------------------------------

    def _call(self, block: Block, row: Row, message: Message, where: dict[str, Any]) -> None:
        tool, call_id = block.name or "", block.id or ""
        arguments: dict[str, Any] = block.input if isinstance(block.input, dict) else {}
        action = ACTIONS.get(tool, "other")
        self.tools[call_id] = tool
        self.out.append(
            ToolCall(
                call_id=call_id,
                tool=tool,
                action=action,
                command=command_of(arguments) if action == "run" else "",
                cwd=row.cwd or "",
                paths=paths_of(arguments),
                arguments=arguments,
                response_id=message.id or "",
                **where,
            )
        )
        if action == "delegate":
            name, prompt = arguments.get("subagent_type"), arguments.get("prompt")
            self.delegated[call_id] = _Delegation(
                name if isinstance(name, str) else "", prompt if isinstance(prompt, str) else "", where
            )
            if len(self.delegated) > _WAITING:
                self._start(next(iter(self.delegated)), "")
        elif tool in PLAN_TOOLS:
            self._plan(self._table(where).call(tool, call_id, arguments), where)
        elif tool in EXIT_PLAN and isinstance(plan := arguments.get("plan"), str) and plan:
            self.tools[call_id] = ""
            self.out.append(PlanUpdate(text=plan, **where))

    def _table(self, where: dict[str, Any]) -> TaskTable:
        return self.plans.setdefault(where.get("agent_id", ""), TaskTable())

    def _plan(self, items: tuple[PlanItem, ...] | None, where: dict[str, Any]) -> None:
        if items is not None:
            self.out.append(PlanUpdate(items=items, **where))

    def hear(self, row: Row, block: Block, where: dict[str, Any]) -> None:
        """Read a tool's result."""
        call_id, text = block.tool_use_id or "", text_of(block.content)
        tool = self.tools.pop(call_id, "")
        twin = row.tool_use_result if isinstance(row.tool_use_result, Twin) else None
        action = ACTIONS.get(tool, "other")
        ending = ending_of(
            text, twin, error=block.is_error is True, shell=action == "run", denied=bool(row.tool_denial_kind)
        )
        path = twin.file_path if twin is not None and ending.outcome == "ok" and action in ("edit", "write") else None
        self.out.append(
            ToolResult(
                call_id=call_id,
                outcome=ending.outcome,
                exit_code=ending.exit_code,
                text=text,
                duration_ms=whole(twin.total_duration_ms) if twin is not None else None,
                paths=(path,) if isinstance(path, str) and path else (),
                reason=ending.reason,
                **where,
            )
        )
        if call_id in self.delegated:
            self._delegated(call_id, twin, ending)
        elif tool in PLAN_TOOLS:
            self._plan(self._table(where).result(call_id, text, twin, good=ending.outcome == "ok"), where)
        if twin is not None:
            self._twin(call_id, tool, twin, ending, text, where)

    def _delegated(self, call_id: str, twin: Twin | None, ending: Ending) -> None:
        child = twin.agent_id if twin is not None and isinstance(twin.agent_id, str) else ""
        if child or ending.outcome not in ("rejected", "failed"):
            self._start(call_id, child[:128])
        else:
            del self.delegated[call_id]

    def _twin(self, call_id: str, tool: str, twin: Twin, ending: Ending, text: str, where: dict[str, Any]) -> None:
        """Read what the structured twin says beyond the result's own end: background work, a plan."""
        if ending.outcome == "running":
            task = twin.background_task_id or twin.agent_id
            if isinstance(task, str):
                self.background[task] = call_id
        elif isinstance(twin.shell_id, str):
            self.settle(twin.shell_id, twin.status, whole(twin.exit_code), text, where)
        elif isinstance(twin.task, dict):
            task = twin.task
            self.settle(task.get("task_id"), task.get("status"), whole(task.get("exitCode")), text, where)
        elif tool in EXIT_PLAN and isinstance(twin.plan, str) and twin.plan:
            self.out.append(PlanUpdate(text=twin.plan, **where))

    def settle(self, task: object, status: object, exit_code: int | None, text: str, where: dict[str, Any]) -> None:
        """Tell how work in the background ended, as a second result of the call that began it."""
        outcome = _ENDED.get(str(status))
        if outcome is None or not isinstance(task, str) or task not in self.background:
            return
        if exit_code:
            outcome = "failed" if outcome == "ok" else outcome
        self.out.append(
            ToolResult(call_id=self.background.pop(task), outcome=outcome, exit_code=exit_code, text=text, **where)
        )
