"""Rows of tool calls, their results, plans and subagents."""

from __future__ import annotations

from typing import Any

from passdown.agents.codex import events as ev
from passdown.agents.codex import items as it
from passdown.agents.codex.calls import Called, read_call
from passdown.agents.codex.outputs import read_output
from passdown.agents.codex.state import Events, State
from passdown.model.session import AnyEvent, Outcome, PlanItem, PlanStatus, PlanUpdate, ToolResult

_PLAN: dict[str, PlanStatus] = {
    "pending": "pending", "in_progress": "in_progress", "completed": "completed", "cancelled": "cancelled",
}  # fmt: skip


def function_call(state: State, item: it.FunctionCall) -> Events:
    """A call with JSON arguments."""
    return _called(state, item.call_id, read_call(item.name, item.namespace, item.arguments))


def custom_call(state: State, item: it.CustomCall) -> Events:
    """A call with free text: a patch, or a script in code mode."""
    return _called(state, item.call_id, read_call(item.name, item.namespace, item.input))


def shell_call(state: State, item: it.ShellCall) -> Events:
    """A shell call in its own form."""
    action = item.action or it.ShellAction()
    arguments = {"command": action.command, "workdir": action.working_directory or ""}
    return _called(state, item.call_id or item.id or "", read_call("local_shell_call", None, arguments))


def tool_search(state: State, item: it.ToolSearch) -> Events:
    """A look-up of tools."""
    return _called(state, item.call_id or "", read_call("tool_search", None, item.arguments))


def _called(state: State, call_id: str, called: Called) -> list[AnyEvent]:
    events = state.went_on()
    events.append(state.tools.call(state.place, call_id, called))
    if called.action == "plan":
        if (plan := _plan(called.arguments.get("plan"))) is not None:
            events.append(PlanUpdate(items=plan, **state.place.stamp()))
    elif called.tool == "spawn_agent":
        state.subagents.called(call_id, called)
    return events


def _plan(steps: Any) -> tuple[PlanItem, ...] | None:
    if not isinstance(steps, list):
        return None
    items = tuple(
        PlanItem(text=step["step"], status=_PLAN.get(str(step.get("status")), "pending"))
        for step in steps[:1000]
        if isinstance(step, dict) and isinstance(step.get("step"), str)
    )
    return items if items or not steps else None


def output(state: State, item: it.FunctionOutput | it.CustomOutput) -> Events:
    """What a call gave back."""
    events = state.went_on()
    place, tools, call_id = state.place, state.tools, item.call_id
    called = tools.open.pop(call_id, None)
    ended = read_output(item.output, called.action if called else "other")
    result, ended = tools.result(place, call_id, called, ended)
    if called is not None and called.tool == "exec" and not state.paginated and not tools.itemized:
        source = called.arguments.get("input")
        events += tools.scripted(place, call_id, source if isinstance(source, str) else "", ended)
    events.append(result)
    if state.subagents.asked and (start := state.subagents.answered(place.stamp(), call_id, ended)):
        events.append(start)
    if result.outcome == "interrupted":
        state.stopped_tool = True
    return events


def tool_search_output(state: State, item: it.ToolSearchOutput) -> Events:
    """The tools that were found."""
    return _served(state, state.went_on(), item.call_id or "", item.status)


def web_search(state: State, item: it.WebSearch) -> Events:
    """A search the provider ran: the call row is the result too."""
    action = item.action or it.WebAction()
    arguments = {key: value for key, value in (("query", action.query), ("url", action.url)) if value}
    call_id = item.id or f"line:{state.place.line}"
    return _served(
        state, _called(state, call_id, Called("web_search", "web", arguments=arguments)), call_id, item.status
    )


def image_call(state: State, item: it.ImageCall) -> Events:
    """A picture the provider made."""
    call_id = item.id or f"line:{state.place.line}"
    return _served(state, _called(state, call_id, Called("image_generation", "other")), call_id, item.status)


def _served(state: State, events: list[AnyEvent], call_id: str, status: str | None) -> Events:
    state.tools.open.pop(call_id, None)
    outcome: Outcome = "failed" if status == "failed" else "ok"
    return [*events, ToolResult(call_id=call_id, outcome=outcome, **state.place.stamp())]


def exec_end(state: State, event: ev.ExecEnd) -> Events:
    """How a command ended."""
    state.ignored["event_msg/exec_command_end"] += 1
    state.tools.exec_end(state.place, event)
    return ()


def patch_end(state: State, event: ev.PatchEnd) -> Events:
    """How a patch ended."""
    state.ignored["event_msg/patch_apply_end"] += 1
    state.tools.patch_end(state.place, event)
    return ()


def mcp_end(state: State, event: ev.McpEnd) -> Events:
    """How a call of an MCP tool ended."""
    state.ignored["event_msg/mcp_tool_call_end"] += 1
    state.tools.mcp_end(state.place, event)
    return ()


def spawned(state: State, event: ev.SpawnEnd) -> Events:
    """A subagent was started."""
    if not event.child:
        return ()
    name, prompt = event.nickname or "", event.prompt or ""
    start = state.subagents.started(state.place.stamp(), event.child, name, prompt, event.call_id)
    return [start] if start else ()


def activity(state: State, event: ev.AgentActivity) -> Events:
    """A subagent was started, written to or stopped."""
    if event.kind != "started" or not event.child:
        state.ignored["event_msg/sub_agent_activity"] += 1
        return ()
    start = state.subagents.started(state.place.stamp(), event.child, event.path or "", "", event.event_id or "")
    return [start] if start else ()


def item_tool(state: State, item: ev.Item) -> Events:
    """A tool's item: how a call ended, or a call that a script made."""
    return state.tools.item(state.place, item)


def item_plan(state: State, item: ev.Item) -> Events:
    """A plan in prose."""
    return [PlanUpdate(text=item.text, **state.place.stamp())] if item.text else ()


def item_spawn(state: State, item: ev.Item) -> Events:
    """Subagents that were started."""
    children = item.receivers or item.receivers_new or []
    if item.type == "SubAgentActivity":
        child = item.agent_thread_id or item.agent_thread
        children = [child] if child and item.kind == "started" else []
    elif (item.tool or "").lower().replace("_", "") != "spawnagent":
        children = []
    name, prompt = item.agent_path or item.agent_place or "", item.prompt or ""
    starts = [state.subagents.started(state.place.stamp(), child, name, prompt, item.id) for child in children[:100]]
    return [start for start in starts if start]
