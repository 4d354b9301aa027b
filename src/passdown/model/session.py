"""The canonical session: what every agent's log is read into.

A reader yields events in file order, the first one a `SessionStart`, the last one a `SessionEnd`. Times are
milliseconds since the Unix epoch, UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct, field

Origin = Literal[
    "human",  # typed by a person and delivered to the model
    "queued",  # typed by a person while the agent was busy, never delivered
    "command",  # a slash command; `text` is its arguments when they hold a request
    "shell",  # a person's own shell command (`!cmd`)
    "plan",  # an agent's own plan handed over as the first prompt of a new session
    "subagent",  # the prompt an agent wrote for its subagent
    "hook",  # put in by a hook
    "injected",  # put in by the agent's program: environment, reminders, file bodies, skills
]
"""Who wrote a user-role message. Only `human` is a request; every other origin is data."""

Action = Literal["run", "edit", "write", "delete", "read", "search", "plan", "delegate", "ask", "web", "other"]
"""What a tool call does, whatever its agent calls the tool."""

Outcome = Literal["ok", "failed", "interrupted", "rejected", "timeout", "running", "unknown"]
"""How a tool call ended. `rejected`: a person said no. `running`: still in the background. `unknown`: not reported."""

Unread = Callable[[str], bool]
"""Says of a call, by its id, that nobody reads the text of its result if it went well: a reader may leave it out."""


PlanStatus = Literal["pending", "in_progress", "completed", "cancelled"]


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="kind"):
    """What all events share: when, where in the source, and whose.

    `offset` is the byte offset of the record in its file (the row's ordinal in a database), `line` its 1-based line
    (0 where the container has no lines). `agent_id` names the subagent, empty for the main agent. `active` is False
    for what the session rewound or reverted; `copied` is True for history that another session owns.
    """

    at: int | None = None
    offset: int = 0
    line: int = 0
    agent_id: str = ""
    active: bool = True
    copied: bool = False


class SessionStart(Event, frozen=True, kw_only=True, omit_defaults=True, tag="session_start"):
    """The session's own header. `parent_id` is the session it was forked, continued or spawned from."""

    session_id: str
    agent: str
    agent_version: str = ""
    cwd: str = ""
    branch: str = ""
    commit: str = ""
    parent_id: str = ""
    parent_kind: Literal["", "fork", "subagent", "continuation"] = ""
    originator: str = ""


class UserMessage(Event, frozen=True, kw_only=True, omit_defaults=True, tag="user_message"):
    """A message in the user's role, with who really wrote it. `images` counts attached images.

    `command` names the slash command that a person gave, where it stands for a prompt that somebody wrote; a message
    has none for commands that the agent's program carries out itself (`/clear`).
    """

    text: str
    origin: Origin = "human"
    images: int = 0
    command: str = ""


class AssistantMessage(Event, frozen=True, kw_only=True, omit_defaults=True, tag="assistant_message"):
    """Text the model said. `reasoning` is True for visible thinking rather than an answer."""

    text: str
    model: str = ""
    response_id: str = ""
    reasoning: bool = False


class ToolCall(Event, frozen=True, kw_only=True, omit_defaults=True, tag="tool_call"):
    """One tool call. `command` is the shell text when `action` is `run`; `paths` are as the agent wrote them."""

    call_id: str
    tool: str
    action: Action = "other"
    command: str = ""
    cwd: str = ""
    paths: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    response_id: str = ""


class ToolResult(Event, frozen=True, kw_only=True, omit_defaults=True, tag="tool_result"):
    """What came back for a call: outcome, exit code when the agent reported one, the text the model saw.

    `paths` are files the result itself says were changed. `reason` is a person's words when the call was rejected.
    """

    call_id: str
    outcome: Outcome
    exit_code: int | None = None
    text: str = ""
    duration_ms: int | None = None
    paths: tuple[str, ...] = ()
    reason: str = ""


class Usage(Event, frozen=True, kw_only=True, omit_defaults=True, tag="usage"):
    """Tokens of one API response, counted once. `input` is fresh input only: neither read from nor written to a cache.

    `reasoning` is part of `output`. `context` is the whole prompt of this call; `window` the model's limit when logged.
    """

    response_id: str = ""
    model: str = ""
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    context: int = 0
    window: int | None = None


class Compaction(Event, frozen=True, kw_only=True, omit_defaults=True, tag="compaction"):
    """The agent shortened its own context. `summary` is the harness's text; `opaque` when it is encrypted or absent.

    `micro` marks a mere clearing of old tool output, which leaves no summary.
    """

    trigger: Literal["", "auto", "manual"] = ""
    tokens_before: int | None = None
    tokens_after: int | None = None
    summary: str = ""
    opaque: bool = False
    micro: bool = False


class PlanItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of an agent's plan or todo list."""

    text: str
    status: PlanStatus = "pending"


class PlanUpdate(Event, frozen=True, kw_only=True, omit_defaults=True, tag="plan_update"):
    """The agent's whole plan as it now stands; `text` holds a free-form plan where there are no items."""

    items: tuple[PlanItem, ...] = ()
    text: str = ""


class ModelChange(Event, frozen=True, kw_only=True, omit_defaults=True, tag="model_change"):
    """From here on another model answers."""

    model: str
    previous: str = ""


class WorkspaceChange(Event, frozen=True, kw_only=True, omit_defaults=True, tag="workspace_change"):
    """The working directory, branch or commit the agent reports has changed; empty means not said."""

    cwd: str = ""
    branch: str = ""
    commit: str = ""


class SubagentStart(Event, frozen=True, kw_only=True, omit_defaults=True, tag="subagent_start"):
    """A subagent began. `child_id` is the id its own events or session carry, empty when the log does not say."""

    child_id: str = ""
    name: str = ""
    prompt: str = ""
    call_id: str = ""


class Interruption(Event, frozen=True, kw_only=True, omit_defaults=True, tag="interruption"):
    """A person (or a signal) stopped the agent, in the middle of an answer or of a tool call."""

    during_tool: bool = False
    reason: str = ""


class Title(Event, frozen=True, kw_only=True, omit_defaults=True, tag="title"):
    """The session's title as the agent or a person gave it. The last one counts."""

    title: str


class Unknown(Event, frozen=True, kw_only=True, omit_defaults=True, tag="unknown"):
    """A record this reader does not understand, or could not decode. Counted, never dropped in silence.

    `record` is the record's own type; `length` its size in bytes.
    """

    record: str = ""
    reason: Literal["unknown_type", "bad_json", "torn_line", "line_too_long", "bad_shape"] = "unknown_type"
    length: int = 0


class SessionEnd(Event, frozen=True, kw_only=True, omit_defaults=True, tag="session_end"):
    """The end of the log: how many physical records and bytes it held, and what was passed over, by record type.

    `ignored` counts records that are understood and hold nothing a session needs (progress ticks, snapshots).
    """

    records: int = 0
    bytes: int = 0
    ignored: dict[str, int] = field(default_factory=dict)


class TakenBackError(Exception):
    """A session took back events that were passed on already. Raised only by a reader that may leave things out."""


AnyEvent = (
    SessionStart
    | UserMessage
    | AssistantMessage
    | ToolCall
    | ToolResult
    | Usage
    | Compaction
    | PlanUpdate
    | ModelChange
    | WorkspaceChange
    | SubagentStart
    | Interruption
    | Title
    | Unknown
    | SessionEnd
)


class SessionRef(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a session lies and what its first and last bytes say. Made by discovery without reading the whole file.

    `inner` is the session's id inside a container that holds several (a database); empty for one file per session.
    `commit` and `remote` are the git commit and the URL of the remote its head names, `parent_kind` is as in
    `SessionStart`.
    """

    agent: str
    path: str
    session_id: str
    inner: str = ""
    bytes: int = 0
    started_at: int | None = None
    modified_at: int | None = None
    cwd: str = ""
    branch: str = ""
    title: str = ""
    parent_id: str = ""
    parent_kind: Literal["", "fork", "subagent", "continuation"] = ""
    commit: str = ""
    remote: str = ""


class Session(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session folded into counts: what `passdown sessions show` prints and the golden summaries hold.

    `records` counts physical records, `unknown` those not understood, by type or reason. Tokens follow `Usage`.
    Counts leave out copied history; `rewound` says how many events were taken back.
    """

    session_id: str
    agent: str
    agent_versions: tuple[str, ...] = ()
    title: str = ""
    cwds: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    parent_id: str = ""
    started_at: int | None = None
    ended_at: int | None = None
    human_messages: int = 0
    other_user_messages: dict[str, int] = field(default_factory=dict)
    assistant_messages: int = 0
    tool_calls: int = 0
    tool_calls_by_action: dict[str, int] = field(default_factory=dict)
    tool_results: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    failures: int = 0
    responses: int = 0
    tokens_input: int = 0
    tokens_cache_read: int = 0
    tokens_cache_write: int = 0
    tokens_output: int = 0
    tokens_reasoning: int = 0
    context_tokens: int = 0
    compactions: int = 0
    micro_compactions: int = 0
    plan_items: int = 0
    subagents: int = 0
    interruptions: int = 0
    rewound: int = 0
    copied: int = 0
    last_exit: int | None = None
    events: int = 0
    records: int = 0
    ignored: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
