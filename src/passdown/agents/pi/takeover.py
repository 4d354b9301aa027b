"""Start Pi with a brief: it puts the files named with an @ before the first message."""

from __future__ import annotations

from passdown.agents.first_message import FirstMessage, Start


def start(message: FirstMessage, extra: tuple[str, ...]) -> Start:
    """Return the words after `pi`."""
    return Start((*extra, f"@{message.file}", message.words("in the file above")), "file")
