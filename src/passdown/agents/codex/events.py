"""Events of a rollout, typed: what the program showed, among it what no response item tells."""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Struct, field

from passdown.agents.codex.items import Text


class Span(Struct, gc=False):
    """A duration as Rust writes it."""

    secs: int = 0
    nanos: int = 0


class UserSaid(Struct, gc=False, tag_field="type", tag="user_message"):
    """A prompt a person sent."""

    message: str = ""
    kind: str | None = None
    images: list[msgspec.Raw] | None = None
    local_images: list[msgspec.Raw] | None = None


class AgentSaid(Struct, gc=False, tag_field="type", tag="agent_message"):
    """A copy of the assistant message that follows it."""

    message: str = ""


class Tokens(Struct, gc=False, frozen=True):
    """Token counts. `cached` and `cache_write` are parts of `input`, `reasoning` is part of `output`."""

    input: int = field(default=0, name="input_tokens")
    cached: int = field(default=0, name="cached_input_tokens")
    cache_write: int = field(default=0, name="cache_write_input_tokens")
    output: int = field(default=0, name="output_tokens")
    reasoning: int = field(default=0, name="reasoning_output_tokens")


class TokenInfo(Struct, gc=False):
    """The running total and the last response; `prompt` and `completion` in the oldest files."""

    total: Tokens | None = field(default=None, name="total_token_usage")
    last: Tokens | None = field(default=None, name="last_token_usage")
    window: int | None = field(default=None, name="model_context_window")
    model: str | None = None
    prompt: int | None = None
    completion: int | None = None


class TokenCount(Struct, gc=False, tag_field="type", tag="token_count"):
    """Written after each response, and again, unchanged, at other moments."""

    info: TokenInfo | None = None


class TurnStarted(Struct, gc=False, tag_field="type", tag="task_started"):
    """A turn begins."""

    turn_id: str | None = None
    window: int | None = field(default=None, name="model_context_window")


class TurnStartedNew(TurnStarted, gc=False, tag="turn_started"):
    """The same, under its newer name."""


class TurnDone(Struct, gc=False, tag_field="type", tag="task_complete"):
    """A turn ends."""


class TurnDoneNew(TurnDone, gc=False, tag="turn_complete"):
    """The same, under its newer name."""


class TurnAborted(Struct, gc=False, tag_field="type", tag="turn_aborted"):
    """A turn was stopped: `interrupted`, `replaced`, `review_ended`, `budget_limited`."""

    reason: str | None = None


class TurnUsage(Struct, gc=False, tag_field="type", tag="turn.completed"):
    """A turn's usage, as event streams of 0.50 wrote it."""

    usage: Tokens | None = None


class ExecEnd(Struct, gc=False, tag_field="type", tag="exec_command_end"):
    """How a command ended, in numbers (0.118 to 0.125; no longer written)."""

    call_id: str = ""
    exit_code: int | None = None
    duration: Span | str | None = None
    status: str | None = None


class PatchEnd(Struct, gc=False, tag_field="type", tag="patch_apply_end"):
    """How a patch ended, with the files it changed; the diffs are skipped."""

    call_id: str = ""
    success: bool | None = None
    status: str | None = None
    changes: dict[str, msgspec.Raw] | None = None


class McpOk(Struct, gc=False):
    """An answer of an MCP server, which may say that it is an error."""

    is_error: bool | None = field(default=None, name="isError")


class McpResult(Struct, gc=False):
    """Either `Ok` or `Err`, as Rust writes a result."""

    ok: McpOk | None = field(default=None, name="Ok")
    err: Any = field(default=None, name="Err")


class McpEnd(Struct, gc=False, tag_field="type", tag="mcp_tool_call_end"):
    """How a call of an MCP tool ended."""

    call_id: str = ""
    duration: Span | str | None = None
    result: McpResult | None = None


class RolledBack(Struct, gc=False, tag_field="type", tag="thread_rolled_back"):
    """The last `num_turns` prompts and what followed them were taken back."""

    num_turns: int = 0


class Compacted(Struct, gc=False, tag_field="type", tag="context_compacted"):
    """A compaction happened; its `compacted` row says what came of it."""


class Named(Struct, gc=False, tag_field="type", tag="thread_name_updated"):
    """The session got a name."""

    name: str | None = field(default=None, name="thread_name")


class SpawnEnd(Struct, gc=False, tag_field="type", tag="collab_agent_spawn_end"):
    """A subagent was started (0.118 to 0.125)."""

    call_id: str = ""
    child: str | None = field(default=None, name="new_thread_id")
    nickname: str | None = field(default=None, name="new_agent_nickname")
    prompt: str | None = None


class AgentActivity(Struct, gc=False, tag_field="type", tag="sub_agent_activity"):
    """A subagent was started, written to or stopped; `event_id` is the id of the call that did it."""

    kind: str = ""
    event_id: str | None = None
    child: str | None = field(default=None, name="agent_thread_id")
    path: str | None = field(default=None, name="agent_path")


class ReviewStarted(Struct, gc=False, tag_field="type", tag="entered_review_mode"):
    """A person asked for a review with a slash command."""

    hint: str | None = field(default=None, name="user_facing_hint")
    prompt: str | None = None


class Item(Struct, gc=False):
    """Any item of `item_completed`: the union of the fields that are used, because each kind is small."""

    type: str = ""
    id: str = ""
    content: list[Text] | None = None
    text: str | None = None
    command: list[str] | None = None
    cwd: str | None = None
    source: str | None = None
    status: str | None = None
    aggregated_output: str | None = None
    exit_code: int | None = None
    duration: Span | str | None = None
    changes: dict[str, msgspec.Raw] | None = None
    stdout: str | None = None
    stderr: str | None = None
    server: str | None = None
    tool: str | None = None
    arguments: Any = None
    result: Any = None
    error: Any = None
    kind: str | None = None
    query: str | None = None
    path: str | None = None
    prompt: str | None = None
    agent_thread_id: str | None = None
    agent_path: str | None = None
    agent_thread: str | None = field(default=None, name="agentThreadId")
    agent_place: str | None = field(default=None, name="agentPath")
    receivers: list[str] | None = field(default=None, name="receiver_thread_ids")
    receivers_new: list[str] | None = field(default=None, name="receiverThreadIds")


class ItemCompleted(Struct, gc=False, tag_field="type", tag="item_completed"):
    """An item of a turn is complete (all kinds in paginated history, plans only before)."""

    item: Item


EventMessage = (
    UserSaid
    | AgentSaid
    | TokenCount
    | TurnStarted
    | TurnStartedNew
    | TurnDone
    | TurnDoneNew
    | TurnAborted
    | TurnUsage
    | ExecEnd
    | PatchEnd
    | McpEnd
    | RolledBack
    | Compacted
    | Named
    | SpawnEnd
    | AgentActivity
    | ReviewStarted
    | ItemCompleted
)
