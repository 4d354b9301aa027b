"""From an assistant message's record and parts to events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from passdown.agents.opencode.records import MessageInfo, Metadata, Part, State, Tokens, count, safe_id, whole
from passdown.agents.opencode.tools import (
    action_of,
    arguments_of,
    changed_paths,
    ending,
    metadata_of,
    paths_of,
    plan_of,
)
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanItem,
    PlanUpdate,
    SubagentStart,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)

IGNORED = frozenset({"step-start", "snapshot", "patch", "agent", "retry", "file"})
"""Parts of an answer that hold nothing a session needs."""


class Answers:
    """The model's side of the conversation: answers, calls, usage, compactions, interruptions."""

    def __init__(self, cwd: str, ignored: Counter[str]) -> None:
        self.plan: tuple[PlanItem, ...] = ()
        self.shell_follows = False
        self._ignored = ignored
        self._cwd = cwd
        self._model = ""
        self._info = MessageInfo()
        self._base: dict[str, Any] = {}
        self._shell = False
        self._summary: list[str] | None = None
        self._steps = 0
        self._cut_tool = False
        self._trigger: Any = None
        self._pruned: list[int] = []
        self._next_prune = 0

    def open(self, info: MessageInfo, base: dict[str, Any]) -> list[AnyEvent]:
        """Begin an answer."""
        self._info, self._base = info, base
        self._shell, self.shell_follows = self.shell_follows, False
        self._steps, self._cut_tool = 0, False
        is_summary = bytes(info.summary) == b"true" or "compaction" in (info.mode, info.agent)
        self._summary = [] if is_summary else None
        if self._trigger is not None and not is_summary:
            self._drop_compaction()
        cwd = info.path.cwd if info.path is not None else None
        if cwd and cwd != self._cwd and base["active"]:
            self._cwd = cwd
            return [WorkspaceChange(cwd=cwd, **base)]
        return []

    def leave(self) -> None:
        """Note that the next message is not an answer."""
        self.shell_follows = False
        self._info = MessageInfo()

    def compaction_asked(self, *, auto: bool) -> None:
        """Note that the next answer is to be the summary of a compaction."""
        self._trigger = "auto" if auto else "manual"

    def _drop_compaction(self) -> None:
        # Asked for, but nothing came of it: the context is what it was.
        self._trigger = None
        self._ignored["user/compaction"] += 1

    def part(self, part: Part, base: dict[str, Any], length: int) -> list[AnyEvent]:
        """Return the events of one part."""
        kind = part.type
        if kind == "tool" and part.state is not None:
            return self._answering(base) + self._tool(part, part.state, base)
        if kind in ("text", "reasoning"):
            return self._answering(base) + self._text(part, base)
        if kind == "step-finish":
            return self._answering(base) + self._usage(part.tokens, part.id or "", base)
        if kind in IGNORED:
            self._ignored[kind] += 1
            return []
        reason: Any = "bad_shape" if kind in ("", "tool") else "unknown_type"
        return [Unknown(record=f"part/{kind}"[:80], reason=reason, length=length, **base)]

    def _answering(self, base: dict[str, Any]) -> list[AnyEvent]:
        """Note the model that answers: a message whose request never came back has none."""
        model = self._info.model_id or ""
        if self._shell or not model or model == self._model or not base["active"]:
            return []
        previous, self._model = self._model, model
        return [ModelChange(model=model, previous=previous, **self._base)] if previous else []

    def _text(self, part: Part, base: dict[str, Any]) -> list[AnyEvent]:
        reasoning = part.type == "reasoning"
        if not part.text:
            self._ignored[f"{part.type}/empty"] += 1
            return []
        if self._summary is not None and not reasoning:
            self._summary.append(part.text)
            return []
        at = (whole(part.time.start) if part.time else None) or base["at"]
        return [
            AssistantMessage(
                text=part.text,
                model=self._info.model_id or "",
                response_id=self._info.id or "",
                reasoning=reasoning,
                **(base | {"at": at}),
            )
        ]

    def _tool(self, part: Part, state: State, base: dict[str, Any]) -> list[AnyEvent]:
        metadata = metadata_of(state)
        time = state.time
        began = (whole(time.start) if time is not None else None) or base["at"]
        base = base | {"at": began}
        events = self._call(part, state, metadata, base)
        closed = self._info.error is not None or bool(self._info.time and self._info.time.completed)
        result = ending(part.tool or "", state, metadata, closed=closed)
        if result is None:
            return events
        self._cut_tool = self._cut_tool or result.outcome == "interrupted"
        ended = whole(time.end) if time is not None else None
        duration = ended - began if ended is not None and began is not None and ended >= began else None
        base["at"] = ended or began
        events.append(
            ToolResult(
                call_id=part.call_id or part.id or "",
                outcome=result.outcome,
                exit_code=result.exit_code,
                reason=result.reason,
                text=(state.error if state.status == "error" else state.output) or "",
                duration_ms=duration,
                paths=changed_paths(metadata),
                **base,
            )
        )
        if time is not None and (pruned := whole(time.compacted)):
            self._pruned.append(pruned)
            self._next_prune = min(pruned, self._next_prune or pruned)
        if part.tool == "todowrite" and result.outcome == "ok" and metadata.todos is not None:
            self.plan = plan_of(metadata.todos)
            events.append(PlanUpdate(items=self.plan, **base))
        return events

    def _call(self, part: Part, state: State, metadata: Metadata, base: dict[str, Any]) -> list[AnyEvent]:
        arguments = arguments_of(state)
        tool, call_id = part.tool or "", part.call_id or part.id or ""
        action = action_of(tool, arguments)
        command = _text_at(arguments, "command") if action == "run" else ""
        events: list[AnyEvent] = []
        if self._shell:
            events.append(UserMessage(text=command, origin="shell", **base))
        events.append(
            ToolCall(
                call_id=call_id,
                tool=tool,
                action=action,
                command=command,
                cwd=_text_at(arguments, "workdir"),
                paths=paths_of(arguments),
                arguments=arguments,
                response_id=self._info.id or "",
                **base,
            )
        )
        if action == "delegate":
            events.append(
                SubagentStart(
                    child_id=safe_id(metadata.session_id),
                    name=_text_at(arguments, "subagent_type"),
                    prompt=_text_at(arguments, "prompt"),
                    call_id=call_id,
                    **base,
                )
            )
        return events

    def prunes_before(self, moment: int | None, base: dict[str, Any]) -> list[AnyEvent]:
        """Return the clearing of old tool output that fell before `moment` (None: all there was), as one event."""
        if not self._pruned or (moment is not None and self._next_prune > moment):
            return []
        due = [at for at in self._pruned if moment is None or at <= moment]
        self._pruned = [at for at in self._pruned if moment is not None and at > moment]
        self._next_prune = min(self._pruned, default=0)
        return [Compaction(micro=True, trigger="auto", **(base | {"at": min(due)}))]

    def _usage(self, tokens: Tokens | None, step: str, base: dict[str, Any]) -> list[AnyEvent]:
        if tokens is None:
            return []
        self._steps += 1
        info = self._info
        read = count(tokens.cache.read) if tokens.cache else 0
        written = count(tokens.cache.write) if tokens.cache else 0
        fresh, output, reasoning = count(tokens.input), count(tokens.output), count(tokens.reasoning)
        if reasoning and count(tokens.total) == fresh + read + written + output + reasoning:
            # Newer releases count reasoning apart from the output, older ones within it: the total tells which.
            output += reasoning
        completed = whole(info.time.completed) if info.time else None
        return [
            Usage(
                response_id=(info.id or "") if self._steps == 1 else step,
                model=info.model_id or "",
                input=fresh,
                cache_read=read,
                cache_write=written,
                output=output,
                reasoning=reasoning,
                context=fresh + read + written,
                **(base | {"at": completed or base["at"]}),
            )
        ]

    def close(self) -> list[AnyEvent]:
        """End an answer: its tokens when no step told them, a compaction's summary, an interruption."""
        info, base = self._info, self._base
        events: list[AnyEvent] = []
        if not self._steps and _spent(info.tokens):
            events += self._answering(base) + self._usage(info.tokens, "", base)
        if self._summary is not None:
            summary = "\n".join(self._summary)
            if summary or info.error is None:
                events.append(Compaction(trigger=self._trigger or "", summary=summary, opaque=not summary, **base))
                self._trigger = None
            elif self._trigger is not None:
                self._drop_compaction()
            self._summary = None
        if info.error is not None:
            events.append(self._interruption(base))
        self._info = MessageInfo()
        return events

    def _interruption(self, base: dict[str, Any]) -> Interruption:
        error = self._info.error
        assert error is not None
        if error.name == "MessageAbortedError":
            return Interruption(during_tool=self._cut_tool, **base)
        said = error.data.message if error.data is not None else None
        return Interruption(reason=f"error: {error.name or ''} {said or ''}".strip()[:1000], **base)


def _text_at(arguments: dict[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""


def _spent(tokens: Tokens | None) -> bool:
    if tokens is None:
        return False
    cache = tokens.cache
    return bool(tokens.input or tokens.output or tokens.reasoning or (cache and (cache.read or cache.write)))
