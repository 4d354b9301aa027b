"""Group the canonical events of a session into the steps of a trajectory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from passdown.data.actions.canonical import Canonicalizer, workspace_root
from passdown.data.records import Action, Outcome, Provenance, Step, Trajectory
from passdown.data.requests import first_request
from passdown.model.pattern import lazy_pattern
from passdown.model.session import (
    AnyEvent,
    AssistantMessage,
    Event,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    WorkspaceChange,
)  # fmt: skip

_ENCODE = msgspec.json.Encoder(order="deterministic")
_REMINDERS = lazy_pattern(r"(?s)(?:\s*<system-reminder>(?:(?!<system-reminder>).)*</system-reminder>)+\s*\Z")
_WHERE = {"offset": 0, "line": 0}


class _Open:
    """A step that still takes events."""

    def __init__(self, role: Literal["user", "agent"]) -> None:
        self.role: Literal["user", "agent"] = role
        self.events: list[AnyEvent] = []
        self.response = ""
        self.answered = False


class Steps:
    """Takes events in file order and gives steps.

    A result goes to the step of its call, unless the agent has gone on since: then nobody knew it yet when that step
    ended, and it belongs to the step in which it came.
    """

    def __init__(self) -> None:
        self.steps: list[_Open] = []
        self.calls: dict[str, int] = {}
        self.left_out = {"subagent": 0, "rewound": 0, "copied": 0, "reminder": 0}
        self._latest = -1
        self._early: list[AnyEvent] = []

    def take(self, event: AnyEvent) -> None:
        """Put one event where it belongs; events of subagents, and rewound or copied ones, are counted and left out."""
        if isinstance(event, SessionEnd):
            return
        if reason := "subagent" if event.agent_id else "rewound" if not event.active else "copied" * event.copied:
            self.left_out[reason] += 1
            return
        if isinstance(event, AssistantMessage | ToolCall):
            step = self._agent_step(event)
            if isinstance(event, ToolCall):
                self.calls[event.call_id] = self._latest
        elif isinstance(event, ToolResult):
            event = self._without_reminders(event)
            at = self.calls.get(event.call_id, -1)
            step = self.steps[at] if at >= 0 and at == self._latest else self._last()
            step.answered = True
        elif isinstance(event, UserMessage):
            step = self._user_step()
        elif isinstance(event, Usage) and self._is_of_the_next(event):
            self._early.append(event)
            return
        else:
            step = self._last()
        step.events.append(event)

    def _without_reminders(self, event: ToolResult) -> ToolResult:
        """Take off what the harness glued to the end of a result: the environment did not say it."""
        said = event.text and "</system-reminder>" in event.text[-40:] and _REMINDERS.search(event.text)
        if not said:
            return event
        self.left_out["reminder"] += 1
        return msgspec.structs.replace(event, text=event.text[: said.start()])

    def finish(self) -> list[_Open]:
        """Return the steps."""
        if self._early:
            self._last().events += self._early
            self._early = []
        return self.steps

    def _is_of_the_next(self, event: Usage) -> bool:
        """Say whether tokens are written down before the response that they are of."""
        last = self._last()
        if event.response_id and last.response:
            return event.response_id != last.response
        return last.answered or last.role == "user"

    def _last(self) -> _Open:
        return self.steps[-1] if self.steps else self._begin("user")

    def _begin(self, role: Literal["user", "agent"]) -> _Open:
        step = _Open(role)
        self.steps.append(step)
        if role == "agent":
            self._latest = len(self.steps) - 1
            step.events += self._early
            self._early = []
        return step

    def _user_step(self) -> _Open:
        last = self._last()
        return last if last.role == "user" else self._begin("user")

    def _agent_step(self, event: AssistantMessage | ToolCall) -> _Open:
        last = self._last()
        same = bool(event.response_id) and event.response_id == last.response
        if last.role != "agent" or (not same and (last.answered or bool(event.response_id and last.response))):
            last = self._begin("agent")
        last.response = event.response_id or last.response
        return last


def assemble(
    events: Iterable[AnyEvent],
    provenance: Provenance,
    *,
    trajectory_id: str = "",
    instance_id: str = "",
    repo: str = "",
    base_commit: str = "",
    task_text: str = "",
    tools: str = "",
    outcome: Outcome | None = None,
    predecessor: Literal["agent", "human"] = "agent",
    extras: str = "",
) -> Trajectory:
    """Make a trajectory of a session's events, with the canonical actions of every call.

    Without `trajectory_id` it is made from the source and the content. Without `task_text` it is the first human
    request. Nothing is judged here: an empty session gives a trajectory without steps.
    """
    grouped = Steps()
    for event in events:
        grouped.take(event)
    opened = grouped.finish()
    start = next((e for step in opened for e in step.events if isinstance(e, SessionStart)), None)
    root = workspace_root(event for step in opened for event in step.events)
    canonicalizer = Canonicalizer(root, start.agent if start else "")
    steps = tuple(
        Step(idx=idx, role=step.role, events=tuple(step.events), actions=_actions(step.events, canonicalizer))
        for idx, step in enumerate(opened)
    )
    content = content_hash(steps)
    return Trajectory(
        trajectory_id=trajectory_id or _name_of(provenance.source, content),
        provenance=provenance, steps=steps, instance_id=instance_id, repo=repo,
        base_commit=base_commit or (start.commit if start else ""), task_text=task_text or first_request(steps),
        scaffold=f"{start.agent} {start.agent_version}".strip() if start else "", model=_first_model(steps), root=root,
        predecessor=predecessor, tools=tools, outcome=outcome or Outcome(), content_hash=content, extras=extras,
    )  # fmt: skip


def with_events(trajectory: Trajectory, events: Sequence[tuple[AnyEvent, ...]]) -> Trajectory:
    """Return the trajectory with other events in its steps: actions and hash are made of those, and an id of the hash.

    Where the work was done stays the same, as do steps in which nothing differs.
    """
    start = next((event for step in events for event in step if isinstance(event, SessionStart)), None)
    canonicalizer = Canonicalizer(trajectory.root, start.agent if start else "")
    steps = tuple(
        msgspec.structs.replace(step, events=told, actions=_actions(told, canonicalizer))
        for step, told in zip(trajectory.steps, events, strict=True)
    )
    content = content_hash(steps)
    source = trajectory.provenance.source
    was_named_so = trajectory.trajectory_id == _name_of(source, trajectory.content_hash)
    return msgspec.structs.replace(
        trajectory, steps=steps, content_hash=content,
        trajectory_id=_name_of(source, content) if was_named_so else trajectory.trajectory_id,
    )  # fmt: skip


def _name_of(source: str, content: str) -> str:
    return f"{source}-{content[:16]}"


def _actions(events: Sequence[AnyEvent], canonicalizer: Canonicalizer) -> tuple[Action, ...]:
    results: dict[str, list[ToolResult]] = {}
    for event in events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call_id, []).append(event)
    found: list[Action] = []
    for event in events:
        if isinstance(event, WorkspaceChange):
            canonicalizer.moved(event.cwd)
        elif isinstance(event, ToolCall):
            answers = results.get(event.call_id)
            answer = (answers.pop(0) if len(answers) > 1 else answers[0]) if answers else None
            found.extend(canonicalizer.actions(event, answer))
    return tuple(found)


def content_hash(steps: tuple[Step, ...]) -> str:
    """Return the sha256 of what was said and done: the events without their place in a file and without times."""
    digest = hashlib.sha256()
    for step in steps:
        for event in step.events:
            if not isinstance(event, SessionStart):
                digest.update(_ENCODE.encode(_placeless(event)))
    return digest.hexdigest()


def _placeless(event: Event) -> Event:
    return msgspec.structs.replace(event, at=None, **_WHERE)


def _first_model(steps: tuple[Step, ...]) -> str:
    return next((e.model for step in steps for e in step.events if isinstance(e, AssistantMessage) and e.model), "")
