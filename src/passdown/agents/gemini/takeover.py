"""Start Gemini CLI with a brief: as the prompt that opens a conversation, or with `-p` as the only one."""

from __future__ import annotations

from passdown.agents.first_message import FirstMessage, Start, with_option


def start(message: FirstMessage, extra: tuple[str, ...]) -> Start:
    """Return the words after `gemini`. A bare `-p` among the user's gets the message as its value."""
    return with_option(extra, message, "-i", ("-p", "--prompt"))
