"""One session on its way through the stages: each event reaches those that care about its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec import structs

from passdown.evidence.asked import answers_in
from passdown.evidence.identity import is_own, is_own_tool
from passdown.evidence.output import one_line
from passdown.evidence.runs import Finished, SessionRuns
from passdown.evidence.stages import LATEST, Stages
from passdown.evidence.tests import is_relevant
from passdown.evidence.touches import CHANGES, Edited
from passdown.evidence.tried import MAX_WORDS
from passdown.model.evidence import Answer, Rejection, SessionUse, Source
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Compaction,
    Interruption,
    ModelChange,
    PlanUpdate,
    SessionEnd,
    SessionRef,
    SessionStart,
    Title,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    UserMessage,
    WorkspaceChange,
)
from passdown.sessions.canary import LOOKS, Canary
from passdown.trajectories.tools import ends_run

MAX_MODELS = 64
MAX_CALLS = 512
MAX_ASKING = 64
_NEVER = 1 << 62

_ENDED = ("failed", "timeout", "unknown")
"""How a command ended that was really run; an edit that failed is still to be made."""
_CUT_SHORT = frozenset({"rejected", "interrupted"})


class Reading:
    """One session on its way through the stages."""

    def __init__(self, stages: Stages, ref: SessionRef, number: int) -> None:
        self.all = stages
        self.ref = ref
        self.number = number
        self.session_id = ref.session_id
        self.cwd = ref.cwd
        self.title = ref.title
        self.parent_id = ref.parent_id
        self.runs = SessionRuns(ref.session_id, stages.places)
        self.said = ""
        self.events = 0
        self.canary = Canary(ref.agent)
        self.compactions = 0
        self.first: int | None = None
        self.last: int | None = None
        self._earliest, self._latest = 1, 0
        self._since, self._places, self._words = stages.since, stages.places, stages.words
        self.after = _NEVER
        self.models: set[str] = set()
        self.calls: dict[str, str] = {}
        self.latest_call = ""
        self.asking: dict[str, dict[str, Any]] = {}
        self.just_refused = False
        self.just_stopped = False
        stages.places.learn(ref.cwd)

    def _source(self, event: AnyEvent) -> Source:
        return Source(kind="session", path=self.session_id, line=event.line)

    def take(self, event: AnyEvent) -> None:
        """Hand one event to the stages."""
        look, handler = _STEPS.get(type(event), _NO_STEP)
        if look is not None:
            look(self.canary, event)
        if handler is None and isinstance(event, (SessionEnd, Unknown)):
            return
        if event.copied and handler is not Reading._start:
            return
        at, since = event.at, self._since
        if since is not None and at is not None and (at <= since or event.offset < self.after):
            event = self._on_time(event, at, since)
            at = event.at
        if at is not None:
            latest = self._latest
            if 0 < latest <= at < LATEST:
                self.last = self._latest = at
            elif not self._earliest <= at <= latest:
                self._widen(at)
        if handler is not None:
            handler(self, event)
        elif self.all.counts(at):
            self.events += 1

    def _widen(self, at: int) -> None:
        if 0 < at < LATEST:
            self.first, self.last = min(at, self.first or at), max(at, self.last or at)
            self._earliest, self._latest = self.first, self.last

    def _on_time(self, event: AnyEvent, at: int, since: int) -> AnyEvent:
        """Return an event of after the base with a time of after it, though the clock went back since."""
        if at > since:
            if event.offset < self.after and not event.agent_id:
                self.after = event.offset
        elif event.offset > self.after and not event.agent_id:
            return structs.replace(event, at=self.last)
        return event

    def _used(self, event: AnyEvent) -> None:
        self.events += 1
        self.all.seen_at(event.at)

    def _start(self, event: SessionStart) -> None:
        self.session_id = self.session_id or event.session_id
        self.runs = SessionRuns(self.session_id, self.all.places)
        self.parent_id = self.parent_id or event.parent_id
        self._move(event)

    def _move(self, event: SessionStart | WorkspaceChange) -> None:
        if event.cwd and not event.agent_id:
            self.cwd = event.cwd[:4096]
            self.all.places.learn(self.cwd)

    def _user(self, event: UserMessage) -> None:
        self.just_refused = self.just_stopped = False
        if self.all.counts(event.at) and self.all.words.user(event, self._source(event)):
            self._used(event)

    def _assistant(self, event: AssistantMessage) -> None:
        self._see_model(event.model)
        if not event.reasoning:
            self.said = f"{self.said} {event.text[-800:]}"[-800:]
        if self.all.counts(event.at):
            self.all.words.assistant(event, self._source(event))
            self.events += 1

    def _call(self, event: ToolCall) -> None:
        self.just_refused = False
        action, call_id = event.action, event.call_id
        own = is_own(event.command, self._places) if action == "run" else is_own_tool(event.tool)
        if not event.agent_id:
            last = ends_run(event.tool, event.command)
            self._words.acted(own=own, last=last, call_id=call_id)
            if last:
                self._handed_in(event)
        if own:
            return
        what = event.command if action == "run" else " ".join((event.tool, *event.paths[:2]))
        self.latest_call = self.calls[call_id] = what[:800]
        if len(self.calls) > MAX_CALLS:
            del self.calls[next(iter(self.calls))]
        if action == "ask" and len(self.asking) < MAX_ASKING:
            self.asking[call_id] = event.arguments
        if action in CHANGES:
            self.all.touches.call(event, self.cwd, self._source(event))
        for given_up in self.runs.call(event, self.cwd, self.said):
            self._add_run(given_up)

    def _handed_in(self, event: ToolCall) -> None:
        said = event.arguments.get("message") or event.arguments.get("summary")
        if isinstance(said, str):
            self.all.words.assistant(AssistantMessage(text=said, at=event.at), self._source(event))

    def _add_run(self, finished: Finished) -> None:
        at, since = finished.run.at, self._since
        if since is None or at is None or at > since:
            self.events += 1
            self.all.add_run(finished, self.number)

    def _result(self, event: ToolResult) -> None:
        self.said = ""
        call_id, outcome = event.call_id, event.outcome
        what = self.calls.pop(call_id, "")
        if outcome == "ok" or (outcome in _ENDED and self.runs.awaited(call_id) is not None):
            self._words.ended(call_id)
        elif outcome in _CUT_SHORT and what.strip() and self.all.counts(event.at):
            self._refused(event, what)
        if self.asking and call_id in self.asking:
            self._answered(event, self.asking.pop(call_id))
        edited = self.all.touches.result(event)
        if edited is not None:
            self._edited(edited)
            return
        finished = self.runs.result(event)
        if finished is not None:
            self._add_run(finished)

    def _answered(self, event: ToolResult, asked: dict[str, Any]) -> None:
        if event.outcome not in {"ok", "unknown"} or not event.active or not self.all.counts(event.at):
            return
        for question, answer in answers_in(asked, event.text):
            self.all.words.answer(Answer(question=question, answer=answer, at=event.at, source=self._source(event)))
            self._used(event)

    def _refused(self, event: ToolResult, what: str) -> None:
        kind: Literal["rejected", "interrupted"] = "rejected" if event.outcome == "rejected" else "interrupted"
        if kind == "interrupted" and "tool call errored" in event.text[:200]:
            return
        reason = event.reason.strip()[:600]
        self.all.words.rejection(
            Rejection(what=one_line(what, 200), kind=kind, reason=reason, at=event.at, source=self._source(event)),
            again=self.just_stopped,
        )
        self.just_stopped = False
        self._used(event)
        self.just_refused = True

    def _edited(self, edited: Edited) -> None:
        if not self.all.counts(edited.at) or not edited.paths:
            return
        self.events += 1
        what = one_line(f"{edited.action} {', '.join(edited.paths[:2])}", MAX_WORDS) if edited.changed else ""
        clock = self.all.chains.doings.note(what)
        if edited.changed and edited.active:
            self.all.seen_at(edited.at)
            if any(is_relevant(path) for path in edited.paths):
                self.all.tests.changed(clock, edited.at)

    def _see_model(self, model: str) -> None:
        if model and model not in self.models and len(self.models) < MAX_MODELS:
            self.models.add(model)

    def _usage(self, event: Usage) -> None:
        self._see_model(event.model)

    def _compaction(self, event: Compaction) -> None:
        self.compactions += not event.micro
        if self.all.counts(event.at):
            self.all.words.compaction(event, self._source(event))
            self._used(event)

    def _plan(self, event: PlanUpdate) -> None:
        if self.all.counts(event.at):
            self.all.plan.update(event, self._source(event))
            self._used(event)

    def _model(self, event: ModelChange) -> None:
        self._see_model(event.model)

    def _interruption(self, event: Interruption) -> None:
        if not self.all.counts(event.at) or self.just_refused:
            self.just_refused = False
            return
        if event.reason.startswith("error"):  # a program's failure, as readers mark it: no person said stop
            return
        what = one_line(self.latest_call, 200) if event.during_tool else ""
        self.all.words.rejection(
            Rejection(
                what=what or "the agent's answer",
                kind="interrupted",
                reason=event.reason.strip()[:600],
                at=event.at,
                source=self._source(event),
            )
        )
        self._used(event)
        self.just_stopped = not event.during_tool and not event.reason

    def _name(self, event: Title) -> None:
        self.title = event.title[:300]

    def leaves_unread(self, call_id: str) -> bool:
        """Say whether the text that a call gives back is of no use here if the call went well."""
        identity = self.runs.awaited(call_id)
        return identity is not None and not identity.masking and not self.all.tests.watches(identity)

    def finish(self) -> SessionUse:
        """Close the session and say what it gave."""
        for finished in self.runs.finish():
            self._add_run(finished)
        for edited in self.all.touches.end_session():
            self._edited(edited)
        self.all.words.end_session()
        self.all.findings += self.canary.findings(self.ref.agent, self.session_id)
        return SessionUse(
            agent=self.ref.agent,
            session_id=self.session_id,
            title=self.title,
            events=self.events,
            unknown=self.canary.unknown,
            records=self.canary.records,
            compactions=self.compactions,
            started_at=self.first,
            ended_at=self.last,
            parent_id=self.parent_id,
            models=len(self.models),
            misread=self.canary.misread,
            unread=self.canary.nothing,
        )


_HANDLERS: dict[type, Callable[[Reading, Any], None]] = {
    SessionStart: Reading._start,
    WorkspaceChange: Reading._move,
    UserMessage: Reading._user,
    AssistantMessage: Reading._assistant,
    ToolCall: Reading._call,
    ToolResult: Reading._result,
    Usage: Reading._usage,
    Compaction: Reading._compaction,
    PlanUpdate: Reading._plan,
    ModelChange: Reading._model,
    Interruption: Reading._interruption,
    Title: Reading._name,
}
_STEPS: dict[type, tuple[Callable[[Canary, Any], None] | None, Callable[[Reading, Any], None] | None]] = {
    kind: (LOOKS.get(kind), _HANDLERS.get(kind)) for kind in {**LOOKS, **_HANDLERS}
}
"""What is done with an event of each type, in one look-up: they are many."""
_NO_STEP = (None, None)
