"""What an ATIF document holds, read leniently, and what passdown itself keeps in its `extra` fields."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from passdown.model.session import (
    Action,
    Compaction,
    Interruption,
    ModelChange,
    Origin,
    Outcome,
    PlanUpdate,
    SubagentStart,
    Title,
    UserMessage,
    WorkspaceChange,
)

OWN = "passdown"
"""The key in `extra` under which passdown keeps what ATIF has no field for."""
VERSION = "ATIF-v1.8"
NO_VERSION = "unknown"
NO_SUMMARY = "The context was shortened; no summary is recorded."

SideEvent = PlanUpdate | WorkspaceChange | Title | ModelChange | SubagentStart | Interruption | Compaction | UserMessage
"""Events that are no step of their own: they stand behind the step after which they happened."""


class Step(Struct, gc=False):
    """One step. Nothing is required of it, for not all that is called ATIF obeys it."""

    timestamp: Any = None
    source: Any = None
    model_name: Any = None
    message: Any = None
    reasoning_content: Any = None
    tool_calls: Any = None
    observation: Any = None
    metrics: Any = None
    is_copied_context: Any = None
    llm_call_count: Any = None
    extra: Any = None


class Document(Struct, gc=False):
    """A trajectory."""

    schema_version: Any = None
    session_id: Any = None
    trajectory_id: Any = None
    agent: Any = None
    steps: Raw = Raw()
    continued_trajectory_ref: Any = None
    extra: Any = None
    subagent_trajectories: Raw = Raw()


class RootExtra(Struct, gc=False, omit_defaults=True):
    """What passdown keeps of a session that ATIF has no field for."""

    cwd: str = ""
    branch: str = ""
    commit: str = ""
    parent_id: str = ""
    parent_kind: Literal["", "fork", "subagent", "continuation"] = ""
    at: int | None = None
    agent_id: str = ""
    events: list[SideEvent] = field(default_factory=list)


class StepExtra(Struct, gc=False, omit_defaults=True):
    """What passdown keeps of a step: whose words it holds, when its parts were said, what happened behind it."""

    origin: Origin | None = None
    command: str = ""
    images: int = 0
    at: int | None = None
    reasoning_at: int | None = None
    message_at: int | None = None
    response_id: str = ""
    events: list[SideEvent] = field(default_factory=list)


class CallExtra(Struct, gc=False, omit_defaults=True):
    """What passdown keeps of a tool call."""

    action: Action = "other"
    command: str = ""
    cwd: str = ""
    paths: tuple[str, ...] = ()
    response_id: str | None = None
    at: int | None = None


class ResultExtra(Struct, gc=False, omit_defaults=True):
    """What passdown keeps of a tool's result."""

    outcome: Outcome = "unknown"
    exit_code: int | None = None
    duration_ms: int | None = None
    paths: tuple[str, ...] = ()
    reason: str = ""
    at: int | None = None


class MetricsExtra(Struct, gc=False, omit_defaults=True):
    """What passdown keeps of an answer's tokens."""

    response_id: str | None = None
    model: str = ""
    context: int | None = None
    window: int | None = None
    at: int | None = None


DOCUMENT = msgspec.json.Decoder(Document)
STEP = msgspec.json.Decoder(Step)


Kept = TypeVar("Kept")


def own_in(extra: Any, kind: type[Kept]) -> Kept | None:
    """Return what passdown keeps in an `extra`, None where there is nothing, or nothing that it would write."""
    kept = extra.get(OWN) if isinstance(extra, dict) else None
    if not isinstance(kept, dict):
        return None
    try:
        return msgspec.convert(kept, type=kind)
    except (msgspec.ValidationError, RecursionError):
        return None
