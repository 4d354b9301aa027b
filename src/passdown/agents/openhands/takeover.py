"""Start OpenHands with a brief: it begins a conversation with what stands in a file, with `--headless` as well."""

from __future__ import annotations

from passdown.agents.first_message import FirstMessage, Start


def start(message: FirstMessage, extra: tuple[str, ...]) -> Start:
    """Return the words after `openhands`."""
    return Start((*extra, "--file", message.whole), "file")
