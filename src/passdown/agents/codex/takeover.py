"""Start Codex with a brief: as its prompt in a terminal; `exec` reads standard input beside the prompt."""

from __future__ import annotations

from passdown.agents.first_message import FirstMessage, Start


def start(message: FirstMessage, extra: tuple[str, ...]) -> Start:
    """Return the words after `codex`. The two dashes keep options that take several words from taking the prompt."""
    if {"exec", "e"} & set(extra[:1]):
        return Start((*extra, "--", message.words("on standard input")), "stdin", message.file)
    text, road = message.argument()
    return Start((*extra, "--", text), road)
