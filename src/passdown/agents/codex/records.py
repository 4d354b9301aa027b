"""The rows of a Codex rollout, typed: what is not named here is skipped without being decoded.

Source: `codex-rs/protocol` and `codex-rs/rollout` of openai/codex, and rollouts written by 0.50 to 0.171.
"""

# Annotations are not left as text here: msgspec would compile each of them again to make its decoder.

from typing import Any

import msgspec
from msgspec import Struct, field

from passdown.agents.codex.events import EventMessage, Tokens
from passdown.agents.codex.header import Meta
from passdown.agents.codex.items import ResponseItem


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

IGNORED_ITEMS = frozenset({
    "EnteredReviewMode", "ExitedReviewMode", "HookPrompt", "ImageGeneration", "Reasoning", "Sleep",
})  # fmt: skip
"""Kinds of completed items that hold nothing a session needs, or repeat another row."""

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
