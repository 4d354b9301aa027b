"""From Qwen's records to events: one method a kind of record."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.genai.parts import FunctionCall, Part
from passdown.agents.genai.prompts import SUMMARY, pieces_of
from passdown.agents.genai.tools import ACTIONS, arguments_of, ending, paths_of, said, todos_of
from passdown.agents.qwen.records import Payload, Record, Tokens, display_of, payload_of, text_of
from passdown.io.log import count, milliseconds, whole
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
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
_CONTEXT = lazy_pattern(r"(?s)<qwen:([a-z-]{1,60}-context)[^>]{0,80}>((?:(?!</?qwen:).)*+)</qwen:\1>")
_PROGRAM = frozenset({"notification", "cron", "background_task_completed", "goal_runtime"})
_SUBAGENT = frozenset({"agent_bootstrap", "agent_launch_prompt", "agent_retry"})
_IGNORED = frozenset({
    "ui_telemetry", "attribution_snapshot", "at_command", "session_notes", "file_history_snapshot", "rewind",
    "parent_session", "session_source", "session_execution_engine", "omni_recall", "session_model",
    "session_approval_mode", "agent_bootstrap", "agent_launch_prompt", "agent_retry", "agent_session_ready",
    "user_text_elements", "session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot",
    "branch_checkpoint", "goal_state", "goal_runtime", "goal_turn_end", "realtime_message", "turn_result", "cron",
    "notification", "background_task_completed", "managed_session_header_v1", "managed_session_event_v1",
    "managed_session_commit_v1",
})  # fmt: skip
"""System records that hold nothing a session needs. `ui_telemetry` repeats what answers and results say."""


class Reader:
    """Turns records into events, in file order, and counts those that hold nothing a session needs."""

    def __init__(self, place: tuple[str, str]) -> None:
        self.ignored: Counter[str] = Counter()
        self._events: list[AnyEvent] = []
        self._base: dict[str, Any] = {}
        self._key = ""
        self._place = place
        self._model = ""
        self._counted: set[str] = set()
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}

    def add(self, record: Record, place: dict[str, Any], length: int) -> list[AnyEvent]:
        """Return the events of one record."""
        self._events = []
        aside = record.agent_id if record.is_sidechain or record.agent_id else None
        self._base = place | {
            "at": milliseconds(record.timestamp), "agent_id": (aside or "")[:128],
            "copied": record.forked_from is not None,
        }  # fmt: skip
        self._key = record.uuid or f"line-{place['line']}"
        kind = record.type
        if kind in ("user", "assistant", "tool_result") and not self._base["agent_id"]:
            self._moved(record)
        if kind == "user":
            self._user(record)
        elif kind == "assistant":
            self._answer(record)
        elif kind == "tool_result":
            self._results(record)
        elif kind == "system":
            self._system(record, length)
        else:
            self._unknown(kind, length)
        return self._events

    def _unknown(self, kind: str, length: int) -> None:
        reason: Any = "unknown_type" if kind else "bad_shape"
        self._events.append(Unknown(record=kind[:80], reason=reason, length=length, **self._base))

    def _moved(self, record: Record) -> None:
        place = (record.cwd or self._place[0], record.git_branch or self._place[1])
        if place != self._place:
            self._place = place
            self._events.append(WorkspaceChange(cwd=place[0], branch=place[1], **self._base))

    def _user(self, record: Record) -> None:
        payload, parts = payload_of(record), (record.message.parts if record.message is not None else None) or []
        images = sum(part.attached for part in parts)
        shown = _CONTEXT.sub("", payload.display_text or "")
        hooked = [match[2].strip() for part in parts if part.text for match in _CONTEXT.finditer(part.text)]
        bare = [Part(text=_CONTEXT.sub("", part.text).strip()) for part in parts if part.text]
        origin = self._writer(record)
        if origin is not None:
            pieces = [(shown or "".join(part.text or "" for part in bare), origin)]
        else:
            pieces = [(piece.text, piece.origin) for piece in pieces_of(bare, shown)]
        for text, who in pieces:
            self._events.append(UserMessage(text=text, origin=who, images=images, **self._base))
            images = 0
        for text in dict.fromkeys(hooked):
            self._events.append(UserMessage(text=text, origin="hook", **self._base))

    def _writer(self, record: Record) -> Origin | None:
        """Return who wrote a user record where that is not a person, None where the text has to tell."""
        if self._base["agent_id"] or record.subtype in _SUBAGENT:
            return "subagent"
        if record.subtype in _PROGRAM or record.provenance not in (None, "real_user"):
            return "injected"
        return None

    def _answer(self, record: Record) -> None:
        main, model = not self._base["agent_id"], record.model or ""
        if main and model and model != self._model and self._base["active"] and not self._base["copied"]:
            if self._model:
                self._events.append(ModelChange(model=model, previous=self._model, **self._base))
            self._model = model
        for thought in (True, False):
            if text := text_of(record.message, thought=thought):
                self._events.append(
                    AssistantMessage(text=text, model=model, response_id=self._key, reasoning=thought, **self._base)
                )
        for part in (record.message.parts if record.message is not None else None) or ():
            if part.function_call is not None:
                self._call(part.function_call)
        if record.usage_metadata is not None and self._key not in self._counted:
            self._spent(record.usage_metadata, model, whole(record.context_window_size))

    def _spent(self, tokens: Tokens, model: str, window: int | None) -> None:
        prompt, answer = count(tokens.prompt_token_count), count(tokens.candidates_token_count)
        if not prompt and not answer:
            return
        self._counted.add(self._key)
        thoughts, read = count(tokens.thoughts_token_count), count(tokens.cached_content_token_count)
        if count(tokens.total_token_count) == prompt + answer + thoughts:
            answer += thoughts  # some providers count thoughts within the answer, some beside it
        self._events.append(
            Usage(
                response_id=self._key, model=model, input=max(0, prompt - read), cache_read=read, output=answer,
                reasoning=thoughts, context=prompt, window=window or None, **self._base,
            )
        )  # fmt: skip

    def _call(self, call: FunctionCall) -> None:
        call_id, tool, arguments = call.id or f"{self._key}:{call.name}", call.name or "", arguments_of(call.args)
        self._calls[call_id] = (tool, arguments)
        if len(self._calls) > _OPEN:
            del self._calls[next(iter(self._calls))]
        action = ACTIONS.get(tool, "other")
        command = arguments.get("command") if action == "run" else None
        folder = arguments.get("directory") if action == "run" else None
        self._events.append(
            ToolCall(
                call_id=call_id, tool=tool, action=action, command=command if isinstance(command, str) else "",
                cwd=folder if isinstance(folder, str) else "", paths=() if command else paths_of(arguments),
                arguments=arguments, response_id=self._key, **self._base,
            )
        )  # fmt: skip
        if action == "delegate":
            prompt, name = arguments.get("prompt"), arguments.get("subagent_type") or tool
            self._events.append(
                SubagentStart(
                    name=str(name)[:200], prompt=prompt if isinstance(prompt, str) else "", call_id=call_id,
                    **self._base,
                )
            )  # fmt: skip

    def _results(self, record: Record) -> None:
        told = record.tool_call_result
        parts = (record.message.parts if record.message is not None else None) or []
        responses = [part.function_response for part in parts if part.function_response is not None]
        status = (told.status if told is not None else None) or ""
        if not responses and told is not None:
            self._result(told.call_id or self._key, "", status, "", error=status == "error", code=None)
        for response in responses:
            text, error = said(response.response)
            call_id = response.id or (told.call_id if told is not None else None) or f"{self._key}:{response.name}"
            code = whole(display_of(told).exit_code) if len(responses) == 1 else None
            self._result(call_id, response.name or "", status, text, error=error, code=code)

    def _result(self, call_id: str, name: str, status: str, text: str, *, error: bool, code: int | None) -> None:
        tool, arguments = self._calls.pop(call_id, (name, {}))
        outcome, found, reason = ending(tool or name, status, text, error=error)
        exit_code = found if code is None else code
        if exit_code is not None and outcome in ("ok", "failed"):
            outcome = "failed" if exit_code else "ok"
        self._events.append(
            ToolResult(call_id=call_id, outcome=outcome, exit_code=exit_code, text=text, reason=reason, **self._base)
        )
        if tool in ("todo_write", "write_todos") and outcome == "ok" and not self._base["agent_id"]:
            items = todos_of(arguments)
            if items is not None:
                self._events.append(PlanUpdate(items=items, **self._base))

    def _system(self, record: Record, length: int) -> None:
        kind = record.subtype or ""
        if kind == "slash_command":
            payload = payload_of(record)
            if payload.raw_command and payload.phase != "result":
                self._events.append(UserMessage(text=payload.raw_command, origin="command", **self._base))
            else:
                self.ignored[kind] += 1
        elif kind == "custom_title":
            self._events.append(Title(title=(payload_of(record).custom_title or "").strip(), **self._base))
        elif kind == "chat_compression":
            self._compressed(payload_of(record))
        elif kind == "mid_turn_user_message":
            self._user(record)
        elif kind in _IGNORED:
            self.ignored[kind] += 1
        else:
            self._unknown(f"system/{kind}", length)

    def _compressed(self, payload: Payload) -> None:
        texts = [text_of(content) for content in (payload.compressed_history or ())[:4]]
        summary = next((text for text in texts if text.lstrip().startswith(SUMMARY)), texts[0] if texts else "")
        info = payload.info
        self._events.append(
            Compaction(
                tokens_before=whole(info.original_token_count) if info is not None else None,
                tokens_after=whole(info.new_token_count) if info is not None else None,
                summary=summary, opaque=not summary, **self._base,
            )
        )  # fmt: skip
