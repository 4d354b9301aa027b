"""The rows of a Codex rollout, typed: what is not named here is skipped without being decoded.

Source: `codex-rs/protocol` and `codex-rs/rollout` of openai/codex, and rollouts written by 0.50 to 0.171.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field


class Text(Struct, gc=False):
    """One part of a message: text, or an image (its data is skipped)."""

    type: str = ""
    text: str | None = None


class Marks(Struct, gc=False):
    """Where the parts of a message come from (`user.text`, `hooks.additional_context`, …), told since about 0.150."""

    content_item_kinds: list[str] | None = None


class Span(Struct, gc=False):
    """A duration as Rust writes it."""

    secs: int = 0
    nanos: int = 0


# --- response items ------------------------------------------------------------------------------------------------


class Message(Struct, gc=False, tag_field="type", tag="message"):
    """A message of any role. `content` is a list of parts, or plain text in hand-made files."""

    role: str = ""
    content: list[Text] | str | None = None
    marks: Marks | None = field(default=None, name="internal_chat_message_metadata_passthrough")


class Reasoning(Struct, gc=False, tag_field="type", tag="reasoning"):
    """Thinking: its visible summary, seldom its text; the encrypted form is skipped."""

    summary: list[Text] | None = None
    content: list[Text] | None = None


class FunctionCall(Struct, gc=False, tag_field="type", tag="function_call"):
    """A call whose arguments are a JSON text."""

    name: str = ""
    call_id: str = ""
    arguments: Any = None
    namespace: str | None = None


class CustomCall(Struct, gc=False, tag_field="type", tag="custom_tool_call"):
    """A call whose input is free text: a patch, or JavaScript in code mode."""

    name: str = ""
    call_id: str = ""
    input: Any = None
    namespace: str | None = None


class FunctionOutput(Struct, gc=False, tag_field="type", tag="function_call_output"):
    """What a call gave back: text, a list of parts, or an object."""

    call_id: str = ""
    output: Any = None


class CustomOutput(Struct, gc=False, tag_field="type", tag="custom_tool_call_output"):
    """What a custom call gave back."""

    call_id: str = ""
    output: Any = None


class ShellAction(Struct, gc=False):
    """What a `local_shell_call` runs."""

    command: list[str] | None = None
    working_directory: str | None = None


class ShellCall(Struct, gc=False, tag_field="type", tag="local_shell_call"):
    """A shell call in the form the Responses API has for it."""

    call_id: str | None = None
    id: str | None = None
    action: ShellAction | None = None


class WebAction(Struct, gc=False):
    """A search, or a page that was opened."""

    type: str = ""
    query: str | None = None
    url: str | None = None


class WebSearch(Struct, gc=False, tag_field="type", tag="web_search_call"):
    """A search the provider ran; there is no output row."""

    id: str | None = None
    status: str | None = None
    action: WebAction | None = None


class ImageCall(Struct, gc=False, tag_field="type", tag="image_generation_call"):
    """A picture the provider made; there is no output row."""

    id: str | None = None
    status: str | None = None


class ToolSearch(Struct, gc=False, tag_field="type", tag="tool_search_call"):
    """A look-up of tools that are loaded on demand."""

    call_id: str | None = None
    arguments: Any = None


class ToolSearchOutput(Struct, gc=False, tag_field="type", tag="tool_search_output"):
    """The answer to `tool_search_call`; the schemas are skipped."""

    call_id: str | None = None
    status: str | None = None


class AgentLetter(Struct, gc=False, tag_field="type", tag="agent_message"):
    """A message between agents; its text may be encrypted."""

    author: str | None = None
    content: list[Text] | None = None


class OpaqueCompaction(Struct, gc=False, tag_field="type", tag="compaction"):
    """A summary only the provider can read."""


class ContextCompaction(Struct, gc=False, tag_field="type", tag="context_compaction"):
    """The same, under its other name."""


class AdditionalTools(Struct, gc=False, tag_field="type", tag="additional_tools"):
    """Tool schemas."""


class GhostSnapshot(Struct, gc=False, tag_field="type", tag="ghost_snapshot"):
    """A commit made for undo."""


ResponseItem = (
    Message
    | Reasoning
    | FunctionCall
    | CustomCall
    | FunctionOutput
    | CustomOutput
    | ShellCall
    | WebSearch
    | ImageCall
    | ToolSearch
    | ToolSearchOutput
    | AgentLetter
    | OpaqueCompaction
    | ContextCompaction
    | AdditionalTools
    | GhostSnapshot
)


# --- events ----------------------------------------------------------------------------------------------------------


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


class McpResult(Struct, gc=False):
    """Either `Ok` or `Err`, as Rust writes a result."""

    ok: McpOk | None = field(default=None, name="Ok")
    err: Any = field(default=None, name="Err")


class McpOk(Struct, gc=False):
    """An answer of an MCP server, which may say that it is an error."""

    is_error: bool | None = field(default=None, name="isError")


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


# --- rows ------------------------------------------------------------------------------------------------------------


class Git(Struct, gc=False):
    """What git said when the session began."""

    commit_hash: str | None = None
    branch: str | None = None
    repository_url: str | None = None


class Meta(Struct, gc=False):
    """The session's header; also the oldest files' first row, which has no envelope."""

    id: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: Any = None
    git: Git | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    history_mode: str | None = None


class Turn(Struct, gc=False):
    """What holds for one turn."""

    turn_id: str | None = None
    cwd: str | None = None
    model: str | None = None


class Summary(Struct, gc=False):
    """A compaction's own summary; the replaced history, which may hold megabytes of images, is skipped."""

    message: str | None = None


class UsageRecord(Struct, gc=False):
    """The usage of one response, and the thread's total with it."""

    response_id: str | None = None
    usage: Tokens | None = None
    total: Tokens | None = field(default=None, name="thread_token_usage")


class World(Struct, gc=False):
    """What the model was told about its surroundings; all of it is skipped."""


class MetaRow(Struct, gc=False, tag_field="type", tag="session_meta"):
    """`session_meta`."""

    payload: Meta
    timestamp: Any = None


class TurnRow(Struct, gc=False, tag_field="type", tag="turn_context"):
    """`turn_context`."""

    payload: Turn
    timestamp: Any = None


class ItemRow(Struct, gc=False, tag_field="type", tag="response_item"):
    """`response_item`."""

    payload: ResponseItem
    timestamp: Any = None


class EventRow(Struct, gc=False, tag_field="type", tag="event_msg"):
    """`event_msg`."""

    payload: EventMessage
    timestamp: Any = None


class CompactedRow(Struct, gc=False, tag_field="type", tag="compacted"):
    """`compacted`."""

    payload: Summary
    timestamp: Any = None


class UsageRow(Struct, gc=False, tag_field="type", tag="token_usage_record"):
    """`token_usage_record`."""

    payload: UsageRecord
    timestamp: Any = None


class WorldRow(Struct, gc=False, tag_field="type", tag="world_state"):
    """`world_state`."""

    payload: World
    timestamp: Any = None


Row = MetaRow | TurnRow | ItemRow | EventRow | CompactedRow | UsageRow | WorldRow

ROWS = msgspec.json.Decoder(Row)

IGNORED_ROWS = frozenset({"inter_agent_communication", "inter_agent_communication_metadata", "state"})
"""Row types that are understood and hold nothing a session needs."""

IGNORED_EVENTS = frozenset({
    "account/rateLimits/updated", "agent_message_content_delta", "agent_message_delta", "agent_reasoning",
    "agent_reasoning_delta", "agent_reasoning_raw_content", "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break", "apply_patch_approval_request", "background_event", "codex/event/raw_item",
    "collab_agent_interaction_begin", "collab_agent_interaction_end", "collab_agent_spawn_begin",
    "collab_close_begin", "collab_close_end", "collab_resume_begin", "collab_resume_end", "collab_waiting_begin",
    "collab_waiting_end", "conversation_path", "deprecation_notice", "dynamic_tool_call_request",
    "dynamic_tool_call_response", "elicitation_request", "error", "exec_approval_request", "exec_command_begin",
    "exec_command_output_delta", "exited_review_mode", "guardian_assessment", "guardian_warning", "hook_completed",
    "hook_started", "image_generation_begin", "image_generation_end", "item_started", "mcp_startup_complete",
    "mcp_startup_update", "mcp_tool_call_begin", "model_reroute", "model_verification", "patch_apply_begin",
    "patch_apply_updated", "plan_delta", "plan_update", "raw_response_item", "realtime_conversation_closed",
    "realtime_conversation_started", "reasoning_content_delta", "reasoning_raw_content_delta", "request_permissions",
    "request_user_input", "safety_buffering", "session_configured", "shutdown_complete", "skills_update_available",
    "stream_error", "terminal_interaction", "thread_goal_updated", "thread_settings_applied", "turn_diff",
    "turn_moderation_metadata", "undo_completed", "undo_started", "view_image_tool_call", "warning",
    "web_search_begin", "web_search_end",
})  # fmt: skip
"""Event types that are understood and hold nothing a session needs, or repeat another row."""
