"""Who wrote a message in the user's or the developer's role."""

from __future__ import annotations

from passdown.agents.codex.items import Message
from passdown.model.pattern import lazy_pattern
from passdown.model.session import Origin

_INJECTED = (
    "<environment_context>", "# AGENTS.md instructions", "<user_instructions>", "<turn_aborted>", "<skill",
    "<user_action>", "<subagent_notification>", "<INSTRUCTIONS>", "<permissions instructions>", "<model_switch>",
    "<collaboration_mode>", "<skills_instructions>", "<apps_instructions>", "<plugins_instructions>",
    "<personality_spec>", "<realtime_conversation>", "<goal_context>", "<codex_internal_context",
    "<recommended_plugins>", "<multi_agent", "Warning: The maximum number of unified exec", "Warning: apply_patch was",
)  # fmt: skip
_CONTEXT = (
    "# Context from my IDE setup:", "# Files mentioned by the user:", "# Review findings:", "# Review comments:",
)  # fmt: skip
_REQUEST = "## My request for Codex:"
_CWD = lazy_pattern(r"<cwd>([^<\n]{1,4096})</cwd>|Current working directory: ([^\n]{1,4096})")


def parts_of(message: Message) -> list[str]:
    """Return the texts of a message, without the labels put around attached images."""
    if isinstance(message.content, str):
        return [message.content]
    found = [part.text for part in message.content or () if part.text]
    return found if len(found) < 2 else [text for text in found if not _is_label(text)]


def _is_label(text: str) -> bool:
    return text in ("</image>", "<image>") or (text.startswith("<image name=") and len(text) < 300)


def images_of(message: Message) -> int:
    """Count the images of a message."""
    content = message.content
    return sum("image" in part.type for part in content) if isinstance(content, list) else 0


def origin_of(message: Message, text: str) -> Origin | None:
    """Return who wrote the message, or None when it may be a person's prompt."""
    marks = message.marks
    kind = (
        next((kind for kind in marks.content_item_kinds if kind != "unknown"), "")
        if marks and marks.content_item_kinds
        else ""
    )
    if kind.startswith("hooks.") or text.startswith("<hook_prompt"):
        return "hook"
    if text.startswith("<user_shell_command>"):
        return "shell"
    if message.role != "user" or text.startswith(_INJECTED) or (kind and not kind.startswith("user.")):
        return "injected"
    return None


def request_of(text: str) -> str:
    """Return the person's own words, without the context an editor or the desktop app puts before them."""
    if text.lstrip("\n").startswith(_CONTEXT):
        _, found, request = text.partition(_REQUEST)
        if found:
            return request.strip()
    return text


def folder_of(text: str) -> str:
    """Return the working directory an `<environment_context>` names, or an empty text."""
    match = _CWD.search(text[: 64 << 10])
    return (match[1] or match[2]).strip() if match else ""
