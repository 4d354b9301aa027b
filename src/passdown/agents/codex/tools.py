"""Calls and their results: joined by call id, and counted once however often Codex writes them down.

A command's end may be written as numbers (`exec_command_end`, `patch_apply_end`, `mcp_tool_call_end`, items of
`item_completed`) before the output the model saw; the numbers win. In code mode the model calls `exec` with a script,
and the commands and patches the script ran have no call of their own: they are made from their items.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from passdown.agents.codex.calls import Called, changes_call, command_text, read_call, scripted_commands
from passdown.agents.codex.events import ExecEnd, Item, McpEnd, PatchEnd, Span
from passdown.agents.codex.outputs import STATUS, Ended, outcome_of, text_of
from passdown.agents.codex.place import Place
from passdown.model.session import Action, AnyEvent, ToolCall, ToolResult

_KNOWN = 8192
_OPEN = 4096
_NO_PATHS: tuple[str, ...] = ()


class Proof(Struct, frozen=True, gc=False):
    """What an event row says about the end of a call."""

    exit_code: int | None = None
    ok: bool | None = None
    duration_ms: int | None = None
    paths: tuple[str, ...] = ()
    status: str = ""


class Tools:
    """The calls under way."""

    def __init__(self) -> None:
        self.open: dict[str, Called] = {}
        self.itemized = False
        self._known: set[str] = set()
        self._before: set[str] = set()
        self._proofs: dict[str, Proof] = {}
        self._running: dict[str, tuple[str, Called]] = {}
        self._late: dict[str, tuple[dict[str, Any], Proof]] = {}

    def call(self, place: Place, call_id: str, called: Called) -> ToolCall:
        """Take a call and return its event."""
        if called.tool == "write_stdin":
            _, base = self._running.get(str(called.arguments.get("session_id")), ("", called))
            called = replace(called, command=base.command, cwd=base.cwd)
        self._known.add(call_id)
        if len(self._known) > _KNOWN:
            self._known, self._before = set(), self._known
        self.open[call_id] = called
        if len(self.open) > _OPEN:
            del self.open[next(iter(self.open))]
        return ToolCall(
            call_id=call_id,
            tool=called.tool,
            action=called.action,
            command=called.command,
            cwd=called.cwd,
            paths=called.paths,
            arguments=called.arguments,
            at=place.at(),
            offset=place.offset,
            line=place.line,
            active=place.active,
            copied=place.copied,
        )

    def result(self, place: Place, call_id: str, called: Called | None, ended: Ended) -> tuple[ToolResult, Ended]:
        """Take what the output says of a call that is no longer open; return its event, and how it really ended."""
        duration, paths = ended.duration_ms, _NO_PATHS
        if called is not None and called.action == "run":
            self._follow(call_id, called, ended)
        if self._proofs and (proof := self._proofs.pop(call_id, None)):
            ended, paths = _settled(ended, proof), proof.paths
            duration = duration if proof.duration_ms is None else proof.duration_ms
        event = ToolResult(
            call_id=call_id,
            outcome=ended.outcome,
            exit_code=ended.exit_code,
            text=ended.text,
            duration_ms=duration,
            paths=paths,
            reason=ended.reason,
            at=place.at(),
            offset=place.offset,
            line=place.line,
            active=place.active,
            copied=place.copied,
        )
        return event, ended

    def confirms(self, call_id: str, ended: Ended) -> bool:
        """Say whether a call ended as its output says, as far as there is any other word of it."""
        proof = self._proofs.get(call_id)
        return proof is None or _settled(ended, proof).outcome == ended.outcome

    def _follow(self, call_id: str, called: Called, ended: Ended) -> None:
        if called.tool == "write_stdin":
            session = str(called.arguments.get("session_id"))
            if ended.outcome != "running" and session in self._running:
                self._late.pop(self._running.pop(session)[0], None)
        elif ended.process:
            self._running[ended.process] = (call_id, called)
            if len(self._running) > _OPEN:
                del self._running[next(iter(self._running))]

    def prove(self, place: Place, call_id: str, proof: Proof) -> bool:
        """Take how a call ended. Returns False when no such call is known."""
        if call_id in self.open:
            self._proofs[call_id] = proof
            return True
        if any(call_id == started for started, _ in self._running.values()):
            self._late[call_id] = (place.stamp(), proof)
        return call_id in self._known or call_id in self._before

    def exec_end(self, place: Place, end: ExecEnd) -> None:
        """Take `exec_command_end`."""
        self.prove(place, end.call_id, Proof(end.exit_code, None, milliseconds(end.duration), (), end.status or ""))

    def patch_end(self, place: Place, end: PatchEnd) -> None:
        """Take `patch_apply_end`."""
        paths = tuple(list(end.changes or ())[:500])
        self.prove(place, end.call_id, Proof(None, end.success, None, paths, end.status or ""))

    def mcp_end(self, place: Place, end: McpEnd) -> None:
        """Take `mcp_tool_call_end`."""
        answer = end.result
        ok = None if answer is None else answer.ok is not None and not answer.ok.is_error
        self.prove(place, end.call_id, Proof(None, ok, milliseconds(end.duration)))

    def item(self, place: Place, item: Item) -> list[AnyEvent]:
        """Take an item of a tool: proof for a call the model made, or a call that a script made."""
        proof = _item_proof(item)
        if self.prove(place, item.id, proof):
            return []
        if item.source in ("user_shell", "userShell", "unified_exec_interaction", "unifiedExecInteraction"):
            return []
        self.itemized = True
        called = _item_call(item)
        event = self.call(place, item.id, called)
        del self.open[item.id]
        ended = _settled(Ended("unknown" if called.action == "run" else "ok", text=_item_text(item)), proof)
        result = ToolResult(
            call_id=item.id,
            outcome=ended.outcome,
            exit_code=ended.exit_code,
            text=ended.text,
            duration_ms=proof.duration_ms,
            paths=proof.paths,
            **place.stamp(),
        )
        return [event, result]

    def scripted(self, place: Place, call_id: str, source: str, ended: Ended) -> list[AnyEvent]:
        """Return the calls a script made where the log has no items: its literal commands, with a result for one."""
        commands = scripted_commands(source)
        events: list[AnyEvent] = []
        for number, command in enumerate(commands, 1):
            inner = f"{call_id}/{number}"
            events.append(self.call(place, inner, Called("exec_command", "run", command)))
            del self.open[inner]
            code = _code_in(ended.text) if len(commands) == 1 else None
            outcome = ended.outcome if ended.outcome in ("interrupted", "running") else outcome_of(code)
            events.append(ToolResult(call_id=inner, outcome=outcome, exit_code=code, **place.stamp()))
        return events

    def flush(self) -> list[AnyEvent]:
        """Return the results of commands that ended in the background without the model looking again."""
        events: list[AnyEvent] = []
        for call_id, (stamp, proof) in self._late.items():
            ended = _settled(Ended("unknown"), proof)
            events.append(ToolResult(call_id=call_id, outcome=ended.outcome, exit_code=ended.exit_code, **stamp))
        self._late.clear()
        return events

    def begin_turn(self) -> None:
        """A new turn: what the last one left open gets no result any more."""
        self.open.clear()
        self._proofs.clear()


def _settled(ended: Ended, proof: Proof) -> Ended:
    if status := STATUS.get(proof.status):
        return replace(ended, outcome=status, exit_code=None)
    if ended.outcome in ("running", "interrupted", "rejected", "timeout"):
        return ended
    if proof.exit_code is not None:
        return replace(ended, outcome=outcome_of(proof.exit_code), exit_code=proof.exit_code)
    if proof.ok is not None:
        return replace(ended, outcome="ok" if proof.ok else "failed")
    return replace(ended, outcome="failed") if proof.status == "failed" else ended


def milliseconds(duration: Span | str | None) -> int | None:
    """Return a duration in milliseconds."""
    if not isinstance(duration, Span):
        return None
    return min(max(duration.secs * 1000 + duration.nanos // 1_000_000, 0), 1 << 50)


def _item_proof(item: Item) -> Proof:
    ok: bool | None = None
    if item.type in ("FileChange", "McpToolCall", "DynamicToolCall"):
        ok = item.status != "failed" and not item.error
        if isinstance(item.result, dict) and item.result.get("isError") is True:
            ok = False
    paths = tuple(list(item.changes or ())[:500])
    return Proof(item.exit_code, ok, milliseconds(item.duration), paths, item.status or "")


def _item_call(item: Item) -> Called:
    if item.type == "CommandExecution":
        folder = item.cwd or ""
        called = read_call("exec_command", None, {"cmd": command_text(item.command)})
        return replace(called, cwd=folder.removeprefix("file://"))
    if item.type == "FileChange":
        return changes_call("apply_patch", item.changes or {}, {})
    if item.type in ("McpToolCall", "DynamicToolCall"):
        return read_call(item.tool or "", item.server, item.arguments)
    if item.type == "ImageView":
        return Called("view_image", "read", "", "", (item.path,) if item.path else ())
    action: Action = "web" if item.type == "WebSearch" or item.query is not None else "other"
    return Called(item.kind or "web_search", action, arguments={"query": item.query or ""})


def _item_text(item: Item) -> str:
    if item.aggregated_output is not None:
        return item.aggregated_output
    if item.result is not None:
        return text_of(item.result)[0]
    return (item.stdout or "") + (item.stderr or "")


class _Code(Struct):
    exit_code: int | None = None


def _code_in(text: str) -> int | None:
    """Return the exit code of a command's result that a script printed whole."""
    start = text.find('{"')
    try:
        return msgspec.json.decode(text[start:].strip(), type=_Code).exit_code if start >= 0 else None
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
